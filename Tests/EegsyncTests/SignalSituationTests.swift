import Bluetooth
import Foundation
import Headsets
import Storage
import Testing

@testable import eegsync

/// What people are told about their signals.
struct SignalSituationTests {
    /// Checks of the channels of `left`, which end with the newest row.
    private func store(_ database: RecordedDatabase, lastN: Int64 = 2499, battery: Double = 81, _ found: [SignalCondition?])
        throws -> AcquisitionStore
    {
        let recording = try database.record()
        let store = try database.acquisitionStore()
        var batch = WriteBatch(number: 9)
        for (index, condition) in found.enumerated() {
            guard let condition else { continue }
            let isNoisy = condition == .lineNoise
            for (first, last, verdict) in [(Int64(0), Int64(499), SignalCondition.good), (500, lastN, condition)] {
                batch.changes.append(
                    .signalCheck(
                        SignalCheckRecord(
                            stream: StreamID(rawValue: 1), channel: index + 1, firstN: first, lastN: last, condition: verdict,
                            sampleCount: 500, railedFraction: verdict == .railed ? 0.75 : 0, peakToPeak: 40,
                            line50Hz: isNoisy && index != 2 ? 34 : 1, line60Hz: isNoisy && index == 2 ? 12 : nil)))
            }
        }
        let headset = try #require(try store.headset(named: "left"))
        batch.changes += [
            .connectionEvent(ConnectionEventRecord(headset: headset, at: HostClock.now, state: "streaming", detail: nil)),
            .statusReport(
                StatusReportRecord(
                    headset: headset, at: HostClock.now,
                    status: HeadsetStatus(condition: .streaming, batteryPercent: battery), outcome: "polled")),
        ]
        try store.commit(batch)
        #expect(recording.rawValue == 1)
        return store
    }

    private func sentence(lastN: Int64 = 2499, battery: Double = 81, _ found: [SignalCondition?]) throws -> String? {
        let store = try store(RecordedDatabase(), lastN: lastN, battery: battery, found)
        return SignalSituation(try #require(try store.headsets(at: HostClock.now).first)).sentence
    }

    @Test("Nothing is said where all is well, or nothing is known")
    func well() throws {
        #expect(try sentence([.good, .good, .good, .good]) == nil)
        #expect(try sentence([]) == nil)
    }

    @Test("The worst comes first, and channels are named together")
    func troubles() throws {
        #expect(try sentence([.flat, .good, .good, .good]) == "TP9 is flat")
        #expect(try sentence([.flat, .railed, .flat, .flat]) == "AF7 is railed; TP9, AF8 and TP10 are flat")
        #expect(
            try sentence([.lineNoise, .lineNoise, .lineNoise, .good])
                == "line noise of 50 Hz is high on TP9 and AF7; line noise of 60 Hz is high on AF8")
        #expect(try sentence([.noContact, nil, nil, .poorContact]) == "no contact with the skin; contact is poor")
        #expect(try sentence(battery: 12, [.good]) == "the battery is low (12 %)")
    }

    @Test("A stream that stands still while others flow is told, whether or not it ever flowed")
    func silentStreams() throws {
        let store = try store(RecordedDatabase(), [])
        var activity = try #require(try store.headsets(at: HostClock.now).first)
        var motion = try #require(activity.streams.first)
        (motion.name, motion.samplingFrequency) = ("accelerometer", 50)
        let last = try #require(motion.lastSample)
        func sentence(after seconds: Int, of rows: Int64) -> String? {
            motion.lastSample = last
            motion.lastSample?.time = last.time + .seconds(seconds)
            motion.rows = rows
            activity.streams = [activity.streams[0], motion]
            return SignalSituation(activity).sentence
        }
        #expect(sentence(after: 9, of: 900) == nil)
        #expect(sentence(after: 11, of: 900) == "nothing comes of eeg")
        activity.streams[0].lastSample = nil
        activity.streams[0].rows = 0
        #expect(sentence(after: 0, of: 499) == nil, "it has just begun")
        #expect(sentence(after: 0, of: 501) == "nothing comes of eeg")
        // Its channels have other names now.
        (motion.name, motion.id) = ("eeg_2", StreamID(rawValue: 2))
        #expect(sentence(after: 60, of: 5000) == nil)
    }

    @Test("A check of long ago tells nothing about now")
    func old() throws {
        // 250 Hz: the newest row is 8 s later than the first check, and 40 s later than the second.
        #expect(try sentence(lastN: 2499 - 250 * 7, [.flat]) == "TP9 is flat")
        let database = try RecordedDatabase()
        let store = try store(database, [.flat])
        var batch = WriteBatch(number: 10)
        batch.changes += [
            .ledger(
                .open(
                    stream: StreamID(rawValue: 1), firstN: 2500, channel: 0, count: 10_000, cause: .linkLost,
                    noticed: HostClock.now))
        ]
        batch.samples = [SampleRows(stream: StreamID(rawValue: 1), channelCount: 4, firstN: 12_500, values: [1, 2, 3, 4])]
        try store.commit(batch)
        #expect(SignalSituation(try #require(try store.headsets(at: HostClock.now).first)).sentence == nil)
    }

    @Test("The facts for programs have the latest check of each channel")
    func facts() throws {
        let database = try RecordedDatabase()
        let facts = try StatusFacts(
            store: try store(database, [.lineNoise, .good]), configuration: nil, now: HostClock.now)
        let signals = try #require(facts.headsets.first?.streams.first?.signals)
        #expect(signals.map(\.channel) == ["TP9", "AF7"])
        #expect(signals.map(\.condition) == ["lineNoise", "good"])
        #expect(signals[0].line50Hz == 34)
        #expect(signals[0].ageSeconds == 0)
    }

    @Test("A stream goes on in a later one of its name with a number")
    func names() {
        #expect(StreamName("eeg_7").continues("eeg") && StreamName("eeg_12").continues("eeg_7"))
        #expect(!StreamName("eeg").continues("eeg_7") && !StreamName("eeg").continues("eeg"))
        #expect(!StreamName("optics_7").continues("eeg") && StreamName("a_b_7").continues("a_b"))
    }
}
