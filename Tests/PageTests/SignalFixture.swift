import Bluetooth
import Foundation
import Headsets

@testable import Storage

/// A recording to draw: two channels at 250 Hz, a sawtooth and its negative, with one spike of one sample and a gap.
struct SignalFixture {
    static let start = MonotonicTime(nanoseconds: 50_000_000_000)
    /// UTC of the first sample.
    static let startUnix: Int64 = 1_790_000_000_000_000_000
    static let spike: Int64 = 123_457
    static let spikeValue: Int32 = 30_000
    static let gap: Range<Int64> = 200_000..<210_000
    static let count: Int64 = 300_000
    static let period: Int64 = 4_000_000

    let store: AcquisitionStore
    let recording: RecordingID
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-page-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let boot = HostBoot(uuid: "0a0b0c0d-0000-4000-8000-000000000001")
        store = try AcquisitionStore.inMemory(hostBoot: boot)
        try store.control.noteClockOffset(
            ClockOffsetRecord(
                at: Self.start, offsetNanoseconds: Self.startUnix - Self.start.nanoseconds, stepNanoseconds: 0,
                isSynchronised: true, suspended: .zero))
        recording = try store.control.startRecording(headset: "left", model: "buffered-eeg", at: Self.start)
        let stream = StreamID(rawValue: 1)
        let channels = ["TP9", "AF7"].map { ChannelDescription(name: $0, scale: 0.5, rawMinimum: -32_768, rawMaximum: 32_767) }
        var batch = WriteBatch(number: 1)
        batch.changes += [
            .stream(
                NewStream(
                    id: stream, recording: recording, position: 0,
                    description: StreamDescription(
                        name: "eeg", samplingFrequency: 250, counterModulus: 65_536, channels: channels))),
            .recording(.started(recording, at: Self.start)),
            .epoch(EpochRecord(stream: stream, number: 0, bootIdentifier: 7, firstN: 0, firstIndex: 0, began: Self.start)),
            .ledger(
                .open(
                    stream: stream, firstN: Self.gap.lowerBound, channel: 0, count: Int64(Self.gap.count), cause: .linkLost,
                    noticed: Self.start)),
            .segment(
                SegmentRecord(
                    stream: stream, firstN: 0, lastN: Self.count - 1, epoch: 0, referenceN: 0, referenceTime: Self.start,
                    periodNanoseconds: Double(Self.period), residualNanoseconds: 1e6, observationCount: 100)),
        ]
        batch.samples = [Self.rows(0..<Self.gap.lowerBound), Self.rows(Self.gap.upperBound..<Self.count)]
        try store.commit(batch)
    }

    func remove() { try? FileManager.default.removeItem(at: directory) }

    var stream: SignalStream {
        get throws { try store.signalStreams(of: recording)[0] }
    }

    func timeline() throws -> StreamTimelineSegments { try store.timeSegments(of: StreamID(rawValue: 1)) }

    /// Some of the gap arrives after all, with a value that nothing else has.
    func recover(_ range: Range<Int64>, value: Int32, batch number: UInt64 = 2) throws {
        var batch = WriteBatch(number: number)
        batch.samples = [
            SampleRows(
                stream: StreamID(rawValue: 1), channelCount: 2, firstN: range.lowerBound,
                values: range.flatMap { _ in [value, -value] })
        ]
        batch.changes += [
            .ledger(.recover(stream: StreamID(rawValue: 1), firstN: Self.gap.lowerBound, channel: 0, count: Int64(range.count)))
        ]
        try store.commit(batch)
    }

    static func value(_ n: Int64) -> Int32 { n == spike ? spikeValue : Int32(n % 1000) }

    private static func rows(_ range: Range<Int64>) -> SampleRows {
        SampleRows(
            stream: StreamID(rawValue: 1), channelCount: 2, firstN: range.lowerBound,
            values: range.flatMap { [value($0), -value($0)] })
    }

    /// UTC of a sample.
    static func time(_ n: Int64) -> Int64 { startUnix + n * period }
}

typealias StreamTimelineSegments = [TimeSegment]
