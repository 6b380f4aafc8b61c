import Bluetooth
import Headsets
import Storage

/// One database of weeks: recordings of 24 hours of 8 channels at 250 Hz, a gigabyte each, and a last one of an hour; all have
/// ended. A segment of the time map each minute, and an arrival each second.
struct ManyDays {
    var days: Int

    private static let rate: Int64 = 250
    /// 2026-03-01T00:00:00Z
    private static let unixStart: Int64 = 1_772_323_200_000_000_000
    private static let channels = ["TP9", "AF7", "AF8", "TP10", "C3", "C4", "O1", "O2"].map {
        ChannelDescription(name: $0, scale: 0.0223517, rawMinimum: -8_388_608, rawMaximum: 8_388_607)
    }
    /// The values of a minute, of 24 bits; the same each minute.
    private static let values = (0..<60 * rate * 8).map { Int32(truncatingIfNeeded: ($0 &* 104_729) % 8_000_000) }

    func run(path: String) throws -> Cost {
        let store = try AcquisitionStore(path: path, hostBoot: HostBoot(uuid: "benchmark"))
        let cost = try Cost.measure {
            try (0...days).reduce(0) { rows, day in try rows + record(Int64(day), hours: day < days ? 24 : 1, into: store) }
        }
        try store.close()
        return cost
    }

    /// Writes one recording. Returns how many rows it has.
    private func record(_ day: Int64, hours: Int64, into store: AcquisitionStore) throws -> Int64 {
        let start = MonotonicTime(nanoseconds: 100_000_000_000 + day * 90_000_000_000_000)
        let stream = StreamID(rawValue: try store.nextStreamID())
        let recording = try store.control.startRecording(headset: "benchmark", model: "cyton", at: start)
        var first = WriteBatch(number: 1)
        first.changes = [
            .stream(
                NewStream(
                    id: stream, recording: recording, position: 0,
                    description: StreamDescription(
                        name: "eeg", samplingFrequency: Double(Self.rate), counterModulus: 256, channels: Self.channels))),
            .recording(.started(recording, at: start)),
            .epoch(EpochRecord(stream: stream, number: 0, bootIdentifier: nil, firstN: 0, firstIndex: 0, began: start)),
        ]
        if day == 0 {
            first.changes.append(
                .clockOffset(
                    ClockOffsetRecord(
                        at: start, offsetNanoseconds: Self.unixStart - start.nanoseconds, stepNanoseconds: 0,
                        isSynchronised: true)))
        }
        try store.commit(first)
        for minute in 0..<hours * 60 { try store.commit(batch(minute, stream, start)) }
        let end = start + .seconds(hours * 3600)
        try store.control.stopRecording(recording, at: end)
        var last = WriteBatch(number: 2)
        last.changes = [.recording(.stopped(recording, at: end))]
        try store.commit(last)
        return hours * 3600 * Self.rate
    }

    private func batch(_ minute: Int64, _ stream: StreamID, _ start: MonotonicTime) -> WriteBatch {
        var batch = WriteBatch(number: UInt64(minute) + 2)
        let first = minute * 60 * Self.rate
        let reference = start + .seconds(minute * 60)
        batch.samples = [
            SampleRows(stream: stream, channelCount: 8, firstN: first, values: Self.values, missingChannels: [])
        ]
        batch.changes = [
            .segment(
                SegmentRecord(
                    stream: stream, firstN: first, lastN: first + 60 * Self.rate - 1, epoch: 0, referenceN: first,
                    referenceTime: reference, periodNanoseconds: 4_000_000, residualNanoseconds: 1e6, observationCount: 60,
                    uncertaintyNanoseconds: 1e6))
        ]
        batch.changes += (1...60 as ClosedRange<Int64>).map { second in
            let sent: Int64 = second * Self.rate - 1
            return .arrival(
                ArrivalRecord(
                    stream: stream, n: first + sent, at: reference + .nanoseconds(sent * 4_000_000 + 5_000_000),
                    deviceTicks: nil))
        }
        return batch
    }
}
