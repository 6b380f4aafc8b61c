import Bluetooth
import Foundation
import Headsets
import Storage
import Testing

@testable import eegsync

/// What people are told about times that are bad, and about rates that are not as declared.
@Suite struct TimeSituationTests {
    /// The headset of a recorded database, with one stream as a test wants it.
    private static func activity(
        frequency: Double = 250, rate: Double? = nil, uncertainty: Double? = 0.003, residual: Double? = 0.002,
        loss: LossDetection = .counter, lost: Double = 0
    ) throws -> HeadsetActivity {
        let database = try RecordedDatabase()
        try database.record()
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        var activity = try #require(try store.headsets(at: HostClock.now).first)
        activity.streams[0].samplingFrequency = frequency
        activity.streams[0].rowsPerSecond = rate ?? frequency
        activity.streams[0].lossDetection = loss.rawValue
        activity.streams[0].lostFraction = lost
        activity.streams[0].times = StreamTimes(
            periodNanoseconds: 1e9 / (rate ?? frequency), residualNanoseconds: residual.map { $0 * 1e9 },
            uncertaintyNanoseconds: uncertainty.map { $0 * 1e9 })
        return activity
    }

    private static func warnings(_ activity: HeadsetActivity, after seconds: Double? = 90) -> [TimeSituation.Warning] {
        TimeSituation(activity, streamingSeconds: seconds).warnings
    }

    @Test("Nothing is said where all is well, on a link that is young, and of streams that are slow")
    func well() throws {
        #expect(Self.warnings(try Self.activity()).isEmpty)
        #expect(Self.warnings(try Self.activity(uncertainty: nil, residual: nil)).isEmpty, "an earlier version did not say")
        let fresh = try Self.activity(rate: 200, uncertainty: 0.1, residual: 2)
        #expect(Self.warnings(fresh, after: 20).isEmpty)
        #expect(Self.warnings(fresh, after: nil).isEmpty, "it does not stream")
        // One sample a second: a second off is less than two periods, and a minute shows no rate.
        let slow = try Self.activity(frequency: 1, rate: 0.96, uncertainty: 1.2, residual: 0.4, loss: .nothing)
        #expect(Self.warnings(slow).isEmpty)
        #expect(Self.warnings(slow, after: 600).map(\.kind) == [.rate])
        var still = try Self.activity(uncertainty: 0.1)
        still.streams[0].rowsPerSecond = 0
        #expect(Self.warnings(still).isEmpty)
    }

    @Test("Times that are uncertain by more than 20 ms and two periods are told")
    func uncertainty() throws {
        let found = Self.warnings(try Self.activity(uncertainty: 0.045))
        #expect(found.map(\.kind) == [.uncertainty])
        #expect(found.first?.sentence == "times of eeg are right within 45 ms only, as its packets come unevenly")
        #expect(Self.warnings(try Self.activity(frequency: 32, uncertainty: 0.045)).isEmpty)
    }

    @Test("Packets whose usual lateness is beyond belief are told")
    func lateness() throws {
        let found = Self.warnings(try Self.activity(residual: 15))
        #expect(found.map(\.kind) == [.lateness])
        #expect(found.first?.sentence.contains("15.0 s") == true, "\(found)")
    }

    @Test("A rate that is not the declared one is told, and what it may mean by what detects losses")
    func rate() throws {
        #expect(Self.warnings(try Self.activity(rate: 246)).isEmpty)
        let counted = try #require(Self.warnings(try Self.activity(rate: 243)).first)
        #expect(counted.sentence == "eeg comes at 243 Hz, not at the declared 250 Hz: what the headset declares is wrong")
        let blind = try #require(Self.warnings(try Self.activity(rate: 243, loss: .nothing)).first)
        #expect(
            blind.sentence == "eeg comes at 243 Hz, not at the declared 250 Hz: either that is wrong, or 2.8 % of the samples "
                + "are lost and nothing detects it")
        let fast = try #require(Self.warnings(try Self.activity(frequency: 32, rate: 64.2, loss: .nothing)).first)
        #expect(fast.sentence.hasSuffix("what the headset declares is wrong"), "nothing that is lost makes a stream faster")
    }

    @Test("A stream that loses samples all the time is told")
    func loss() throws {
        #expect(Self.warnings(try Self.activity(lost: 0.01)).isEmpty)
        let found = Self.warnings(try Self.activity(lost: 0.034))
        #expect(found.map(\.kind) == [.loss])
        #expect(found.first?.sentence == "eeg has lost 3.4 % of its samples of the last ten minutes on the way")
        #expect(found.first?.remedy.hasSuffix("eegsync gaps 1") == true)
    }

    @Test("Losses are counted by the ledger of the last ten minutes, and a lost channel as the part of a row that it is")
    func lostFraction() throws {
        let database = try RecordedDatabase()
        try database.record()
        let store = try database.acquisitionStore()
        #expect(try store.headsets(at: HostClock.now).first?.streams.first?.lostFraction == 0, "an outage is none")
        var batch = WriteBatch(number: 2)
        batch.changes += [
            .ledger(
                .open(
                    stream: StreamID(rawValue: 1), firstN: 2500, channel: 0, count: 3000, cause: .packetLost,
                    noticed: HostClock.now))
        ]
        try store.commit(batch)
        #expect(try store.headsets(at: HostClock.now).first?.streams.first?.lostFraction == 0.02)
        #expect(try store.headsets(at: HostClock.now).first?.streams.first?.lossDetection == "counter")
    }

    @Test("eegsync status says it below the headset, and in its JSON")
    func status() throws {
        let database = try RecordedDatabase()
        try database.record()
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        var facts = try StatusFacts(store: store, configuration: nil, now: HostClock.now)
        #expect(facts.headsets[0].timeWarnings.isEmpty)
        #expect(facts.headsets[0].streams[0].measuredFrequency == 250)
        facts.headsets[0].timeWarnings = Self.warnings(try Self.activity(uncertainty: 0.045))
        let lines = facts.lines(style: .plain, columns: 80)
        let index = try #require(lines.firstIndex { $0.contains("times of eeg are right within 45 ms only") })
        #expect(lines[(index + 1)...].contains { $0.hasPrefix("  you can: bring it closer") }, "\(lines)")
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let json = String(decoding: try encoder.encode(facts), as: UTF8.self)
        #expect(json.contains("\"time_warnings\":[{") && json.contains("\"kind\":\"uncertainty\""), "\(json)")
    }

    @Test("eegsync doctor says the same, and names headsets in quarantine")
    func doctor() throws {
        var facts = DiagnosisTests.healthy
        facts.headsets = [HostFacts.Headset(name: "idle"), HostFacts.Headset(name: "left", timeWarnings: [])]
        let fine = Diagnosis.findings(of: facts).filter { $0.check == "times" }
        #expect(fine.map(\.verdict) == [.ok])
        facts.headsets[1].timeWarnings = Self.warnings(try Self.activity(uncertainty: 0.045))
        facts.headsets[0].quarantine = HostFacts.Quarantine(
            sentence: "is quarantined: it describes nonsense", remedy: "systemctl reload eegsync")
        let found = Diagnosis.findings(of: facts).filter { $0.verdict != .ok }
        #expect(found.map(\.verdict) == [.problem, .warning])
        #expect(found.first?.sentence == "idle is quarantined: it describes nonsense")
        #expect(found.last?.sentence == "left: times of eeg are right within 45 ms only, as its packets come unevenly")
        #expect(found.allSatisfy { $0.remedy?.isEmpty == false })
    }
}
