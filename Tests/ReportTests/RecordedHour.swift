import Bluetooth
import Foundation
import Headsets
import Storage

@testable import Report

/// A recording of 4,000 s of two channels at 64 Hz, made of formulas: what a report of it must show is known.
struct RecordedHour {
    /// 2026-03-01T10:00:00Z.
    static let start: Int64 = 1_772_359_200_000_000_000
    static let frequency = 64.0
    static let seconds: Int64 = 4000
    /// Samples that are missing because the link was lost: from 1,000 s to 1,100 s.
    static let gap: Range<Int64> = 64_000..<70_400
    static let boottime = MonotonicTime(nanoseconds: 500_000_000_000)

    var headset = "anna"
    var subject: String? = "S01"
    var mark = "eyes closed"
    /// The amplitude of the sine of 10 Hz of the first channel, in microvolts; the second one has 6 Hz and 5 µV.
    var amplitude = 20.0
    /// Whether the headset is away at the end.
    var isAway = false

    static func at(_ seconds: Double) -> MonotonicTime { boottime + .nanoseconds(Int64(seconds * 1e9)) }
    static func unix(_ seconds: Double) -> Int64 { start + Int64(seconds * 1e9) }

    private static let scale = 0.01
    private static let stream = StreamID(rawValue: 1)

    private func value(_ n: Int64, _ channel: Int) -> Int32 {
        let (hertz, amplitude) = channel == 0 ? (10.0, amplitude) : (6.0, 5.0)
        return Int32((amplitude / Self.scale * sin(2 * Double.pi * hertz * Double(n) / Self.frequency)).rounded())
    }

    private func rows(_ range: Range<Int64>) -> SampleRows {
        SampleRows(
            stream: Self.stream, channelCount: 2, firstN: range.lowerBound,
            values: range.flatMap { n in (0..<2).map { value(n, $0) } })
    }

    /// The document of a report that is written half an hour after the end.
    func document(audit: AuditLines = Self.sound) throws -> ReportDocument {
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "11111111-1111-4111-8111-111111111111"))
        let recording = try record(into: store)
        let context = ReportContext(
            version: "1.2.3", now: Self.unix(5800), clock: ReportClock(zone: .gmt),
            stateWords: ["streaming": "recording", "searching": "looking for the headset"])
        return try ReportReading(store: store, recording: recording, context: context).document(audit: audit)
    }

    static let sound = AuditLines(
        holds: true, statements: [.init(evidence: "arithmetic", result: "holds", detail: "rows + missing")], findings: [])

    private func record(into store: AcquisitionStore) throws -> RecordingID {
        let recording = try store.control.startRecording(
            headset: headset, model: "buffered-eeg", label: nil, subject: subject, task: nil, at: Self.boottime)
        let identifier = try store.headset(named: headset) ?? HeadsetID(rawValue: 1)
        var batch = WriteBatch(number: 1)
        batch.changes = facts(recording) + course(identifier)
        batch.samples = [rows(0..<Self.gap.lowerBound), rows(Self.gap.upperBound..<Self.seconds * 64)]
        batch.changes += [
            .ledger(
                .open(
                    stream: Self.stream, firstN: Self.gap.lowerBound, channel: 0, count: Int64(Self.gap.count),
                    cause: .linkLost, noticed: Self.at(1001), certainty: .counted)),
            .ledger(
                .open(
                    stream: Self.stream, firstN: 128_000, channel: 2, count: 32, cause: .packetLost, noticed: Self.at(2001),
                    certainty: .counted)),
            // All of it arrived after all.
            .ledger(
                .open(
                    stream: Self.stream, firstN: 160_000, channel: 0, count: 640, cause: .silence, noticed: Self.at(2510),
                    certainty: .counted)),
            .ledger(.recover(stream: Self.stream, firstN: 160_000, channel: 0, count: 640)),
            .annotation(
                AnnotationRecord(
                    recording: recording, onset: Self.at(3000), durationSeconds: nil, description: mark, source: "operator")),
        ]
        if isAway {
            batch.changes.append(
                .ledger(
                    .open(
                        stream: Self.stream, firstN: Self.seconds * 64, channel: 0, count: nil, cause: .silence,
                        noticed: Self.at(4001))))
        }
        try store.commit(batch)
        return recording
    }

    private func facts(_ recording: RecordingID) -> [Change] {
        [
            .clockOffset(
                ClockOffsetRecord(
                    at: Self.boottime, offsetNanoseconds: Self.start - Self.boottime.nanoseconds, stepNanoseconds: 0,
                    isSynchronised: true)),
            .recording(.started(recording, at: Self.boottime)),
            .stream(
                NewStream(
                    id: Self.stream, recording: recording, position: 0,
                    description: StreamDescription(
                        name: "eeg", samplingFrequency: Self.frequency, counterModulus: 65_536,
                        channels: ["TP9", "AF7"].map {
                            ChannelDescription(name: $0, scale: Self.scale, rawMinimum: -8192, rawMaximum: 8191)
                        }))),
            .epoch(
                EpochRecord(
                    stream: Self.stream, number: 0, bootIdentifier: 7, firstN: 0, firstIndex: 0, began: Self.boottime)),
            // 100 millionths faster than nominal.
            .segment(
                SegmentRecord(
                    stream: Self.stream, firstN: 0, lastN: Self.seconds * 64 - 1, epoch: 0, referenceN: 0,
                    referenceTime: Self.boottime, periodNanoseconds: 1e9 / Self.frequency / 1.0001, residualNanoseconds: 2e6,
                    observationCount: 3900, uncertaintyNanoseconds: 3e6)),
        ]
    }

    /// What was seen of the headset: its connection, its battery, its signals, and when packets came.
    private func course(_ headset: HeadsetID) -> [Change] {
        var changes: [Change] = []
        for (seconds, state) in [(0.0, "streaming"), (1000, "searching"), (1100, "streaming")] {
            changes.append(
                .connectionEvent(ConnectionEventRecord(headset: headset, at: Self.at(seconds), state: state)))
        }
        for step in 0..<4 {
            changes.append(
                .statusReport(
                    StatusReportRecord(
                        headset: headset, at: Self.at(Double(step) * 1000 + 1),
                        status: HeadsetStatus(condition: .streaming, batteryPercent: 90 - Double(step) * 10),
                        outcome: "streaming")))
        }
        for second in stride(from: Int64(10), to: Self.seconds, by: 10) {
            for channel in 1...2 {
                changes.append(
                    .signalCheck(
                        SignalCheckRecord(
                            stream: Self.stream, channel: channel, firstN: (second - 10) * 64, lastN: second * 64 - 1,
                            condition: channel == 2 && second > 3000 ? .flat : .good, sampleCount: 640, railedFraction: 0,
                            peakToPeak: 4000, line50Hz: 1.5, line60Hz: 0.5)))
            }
            // Four milliseconds after its sample.
            let n = second * 64
            let taken = Double(n) / Self.frequency / 1.0001
            changes.append(.arrival(ArrivalRecord(stream: Self.stream, n: n, at: Self.at(taken + 0.004), deviceTicks: nil)))
        }
        return changes
    }
}
