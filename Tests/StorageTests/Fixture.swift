import Bluetooth
import Foundation
import Headsets
import Testing

@testable import Storage

/// A directory of its own for one test, removed when the test lets it go.
final class TemporaryDirectory: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

/// A prepared recording: one EEG stream of four channels at 256 Hz, one accelerometer of three at 52 Hz.
///
/// Boottime 100 s is 2026-03-01T10:00:00Z. EEG rows 0 ... 2559 (10 s), but 512 ... 767 (1 s) are a gap of which the last 100
/// were recovered, and channel 2 is missing in 1000 ... 1011. The accelerometer has rows 0 ... 519.
enum Fixture {
    static let boot = HostBoot(uuid: "11111111-1111-4111-8111-111111111111")
    static let secondBoot = HostBoot(uuid: "22222222-2222-4222-8222-222222222222")
    static let eeg = StreamID(rawValue: 1)
    static let accelerometer = StreamID(rawValue: 2)
    /// 2026-03-01T10:00:00Z
    static let startUnixNanoseconds: Int64 = 1_772_359_200_000_000_000
    static let start = MonotonicTime(nanoseconds: 100_000_000_000)
    static var offset: ClockOffsetRecord {
        ClockOffsetRecord(
            at: start, offsetNanoseconds: startUnixNanoseconds - start.nanoseconds, stepNanoseconds: 0, isSynchronised: true)
    }

    static func channels(_ names: [String], type: String = "EEG", unit: String = "uV") -> [ChannelDescription] {
        names.map {
            ChannelDescription(name: $0, type: type, unit: unit, scale: 0.5, offset: 1, rawMinimum: -2048, rawMaximum: 2047)
        }
    }

    static func eegDescription(_ names: [String] = ["TP9", "AF7", "AF8", "TP10"], bank: Int = 0) -> StreamDescription {
        StreamDescription(
            name: "eeg", bank: bank, samplingFrequency: 256, counterModulus: 65536, channels: channels(names))
    }

    static let accelerometerDescription = StreamDescription(
        name: "accelerometer", samplingFrequency: 52, counterModulus: 65536,
        channels: channels(["X", "Y", "Z"], type: "ACCEL", unit: "g"))

    /// Channel c of row n is (n + 100 c) modulo 1000, c from 1.
    static func rows(_ stream: StreamID, _ range: Range<Int64>, channels: Int, missing: UInt8 = 0) -> SampleRows {
        let values = range.flatMap { n in (1...channels).map { Int32((n + Int64(100 * $0)) % 1000) } }
        return SampleRows(
            stream: stream, channelCount: channels, firstN: range.lowerBound, values: values,
            missingChannels: missing == 0 ? [] : Array(repeating: missing, count: range.count))
    }

    static func segment(
        _ stream: StreamID, _ range: ClosedRange<Int64>, frequency: Double, reference: MonotonicTime = start, epoch: Int = 0,
        referenceN: Int64 = 0
    ) -> SegmentRecord {
        SegmentRecord(
            stream: stream, firstN: range.lowerBound, lastN: range.upperBound, epoch: epoch, referenceN: referenceN,
            referenceTime: reference, periodNanoseconds: 1e9 / frequency, residualNanoseconds: 1e6, observationCount: 100)
    }

    static func epoch(_ stream: StreamID, number: Int = 0, firstN: Int64 = 0) -> EpochRecord {
        EpochRecord(
            stream: stream, number: number, bootIdentifier: 7, firstN: firstN, firstIndex: firstN, began: start)
    }

    static func check(
        _ channel: Int, _ range: ClosedRange<Int64>, _ condition: SignalCondition, line: Double? = 1
    ) -> SignalCheckRecord {
        SignalCheckRecord(
            stream: eeg, channel: channel, firstN: range.lowerBound, lastN: range.upperBound, condition: condition,
            sampleCount: range.count, railedFraction: 0, peakToPeak: 3, line50Hz: line, line60Hz: nil)
    }

    /// The batch that a new recording begins with: both streams, their first epochs, the clock.
    static func firstBatch(_ recording: RecordingID) -> WriteBatch {
        var batch = WriteBatch(number: 1)
        batch.changes += [
            .stream(NewStream(id: eeg, recording: recording, position: 0, description: eegDescription())),
            .stream(NewStream(id: accelerometer, recording: recording, position: 1, description: accelerometerDescription)),
            .recording(.started(recording, at: start)),
            .epoch(epoch(eeg)), .epoch(epoch(accelerometer)),
            .clockOffset(offset),
        ]
        return batch
    }

    /// The whole prepared recording.
    @discardableResult
    static func record(into store: AcquisitionStore) throws -> RecordingID {
        let recording = try store.control.startRecording(
            headset: "muse-1", model: "buffered-eeg", label: "baseline", subject: "S01", task: "rest", at: start)
        var batch = firstBatch(recording)
        batch.samples = [
            rows(eeg, 0..<512, channels: 4), rows(eeg, 768..<1000, channels: 4),
            rows(eeg, 1000..<1012, channels: 4, missing: 0b10), rows(eeg, 1012..<2560, channels: 4),
            rows(accelerometer, 0..<520, channels: 3),
        ]
        batch.changes += [
            .ledger(.open(stream: eeg, firstN: 512, channel: 0, count: nil, cause: .linkLost, noticed: start + .seconds(2))),
            .ledger(.close(stream: eeg, firstN: 512, channel: 0, count: 256)),
            .ledger(.open(stream: eeg, firstN: 1000, channel: 2, count: 12, cause: .packetLost, noticed: start + .seconds(4))),
            .segment(segment(eeg, 0...2559, frequency: 256)), .segment(segment(accelerometer, 0...519, frequency: 52)),
            .annotation(
                AnnotationRecord(
                    recording: recording, onset: start + .seconds(5), durationSeconds: 1, description: "eyes closed",
                    source: "operator")),
            .signalCheck(check(1, 0...2559, .good)), .signalCheck(check(2, 0...2047, .good)),
            .signalCheck(check(2, 2048...2559, .lineNoise, line: 31.5)), .signalCheck(check(4, 0...511, .flat)),
            .signalCheck(check(4, 512...1023, .flat)),
        ]
        try store.commit(batch)
        // What is there already stays.
        var repeated = WriteBatch(number: 3)
        repeated.changes += [.signalCheck(check(1, 0...99, .railed))]
        try store.commit(repeated)
        var drained = WriteBatch(number: 2)
        drained.samples = [rows(eeg, 668..<768, channels: 4)]
        drained.changes += [.ledger(.recover(stream: eeg, firstN: 512, channel: 0, count: 100))]
        try store.commit(drained)
        return recording
    }
}
