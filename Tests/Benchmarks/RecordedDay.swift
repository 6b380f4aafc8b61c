import Bluetooth
import Headsets
import Storage

/// A recording of some hours of 8 channels at 250 Hz that begins at 2026-03-01T00:00:00Z, for the queries of the page
/// QueryingTheDatabase: a segment of the time map and a change of the connection a minute, 2,000 gaps, 200 annotations, and
/// signal checks.
struct RecordedDay {
    var hours: Int

    private static let rate: Int64 = 250
    private static let stream = StreamID(rawValue: 1)
    private static let start = MonotonicTime(nanoseconds: 100_000_000_000)
    /// 2026-03-01T00:00:00Z
    private static let unixStart: Int64 = 1_772_323_200_000_000_000
    private static let gapLength: Int64 = 25
    private static let channels = ["TP9", "AF7", "AF8", "TP10", "C3", "C4", "O1", "O2"]

    private var rowCount: Int64 { Int64(hours) * 3600 * Self.rate }
    private var gapDistance: Int64 { rowCount / 2000 }

    func run(path: String) throws -> Cost {
        let store = try AcquisitionStore(path: path, hostBoot: HostBoot(uuid: "benchmark"))
        let recording = try store.control.startRecording(headset: "benchmark", model: "cyton", at: Self.start)
        let cost = try Cost.measure {
            try store.commit(first(recording))
            for minute in 0..<Int64(hours) * 60 { try store.commit(batch(minute)) }
            return rowCount
        }
        try store.close()
        return cost
    }

    private func first(_ recording: RecordingID) -> WriteBatch {
        var batch = WriteBatch(number: 1)
        batch.changes += [
            .stream(
                NewStream(
                    id: Self.stream, recording: recording, position: 0,
                    description: StreamDescription(
                        name: "eeg", samplingFrequency: Double(Self.rate), counterModulus: 256,
                        channels: Self.channels.map {
                            ChannelDescription(name: $0, scale: 0.0223517, rawMinimum: -8_388_608, rawMaximum: 8_388_607)
                        }))),
            .recording(.started(recording, at: Self.start)),
            .epoch(
                EpochRecord(stream: Self.stream, number: 0, bootIdentifier: nil, firstN: 0, firstIndex: 0, began: Self.start)),
            .clockOffset(
                ClockOffsetRecord(
                    at: Self.start, offsetNanoseconds: Self.unixStart - Self.start.nanoseconds, stepNanoseconds: 0,
                    isSynchronised: true)),
        ]
        let length = Int64(hours) * 3_600_000_000_000
        batch.changes +=
            (0..<200).map {
                .annotation(
                    AnnotationRecord(
                        recording: recording, onset: time(length / 200 * $0 + length / 400), durationSeconds: 1,
                        description: "stimulus", source: "operator"))
            }
        return batch
    }

    private func time(_ nanoseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: Self.start.nanoseconds + nanoseconds)
    }

    private func batch(_ minute: Int64) -> WriteBatch {
        var batch = WriteBatch(number: UInt64(minute) + 2)
        let range = minute * 60 * Self.rate..<(minute + 1) * 60 * Self.rate
        var next = range.lowerBound
        var gap = (next + gapDistance - 1) / gapDistance * gapDistance + 5000
        while gap + Self.gapLength < range.upperBound {
            batch.samples.append(rows(next..<gap))
            batch.changes.append(
                .ledger(
                    .open(
                        stream: Self.stream, firstN: gap, channel: 0, count: Self.gapLength, cause: .packetLost,
                        noticed: time(gap * 4_000_000), certainty: .counted)))
            next = gap + Self.gapLength
            gap += gapDistance
        }
        batch.samples.append(rows(next..<range.upperBound))
        batch.changes += [
            .segment(
                SegmentRecord(
                    stream: Self.stream, firstN: range.lowerBound, lastN: range.upperBound - 1, epoch: 0,
                    referenceN: range.lowerBound, referenceTime: time(range.lowerBound * 4_000_000),
                    periodNanoseconds: 4_000_000,
                    residualNanoseconds: 1e6, observationCount: 60, uncertaintyNanoseconds: 1e6)),
            .connectionEvent(
                ConnectionEventRecord(
                    headset: HeadsetID(rawValue: 1), at: time(range.lowerBound * 4_000_000),
                    state: minute.isMultiple(of: 2) ? "streaming" : "searching")),
        ]
        for check in 0..<6 {
            let first = range.lowerBound + Int64(check) * 2500
            batch.changes += Self.channels.indices.map { channel in
                SignalCheckRecord(
                    stream: Self.stream, channel: channel + 1, firstN: first, lastN: first + 2499,
                    condition: (minute + Int64(channel)).isMultiple(of: 10) ? .lineNoise : .good, sampleCount: 2500,
                    railedFraction: 0, peakToPeak: 9000, line50Hz: 12, line60Hz: 1)
            }.map(Change.signalCheck)
        }
        return batch
    }

    private func rows(_ range: Range<Int64>) -> SampleRows {
        SampleRows(
            stream: Self.stream, channelCount: 8, firstN: range.lowerBound,
            values: range.flatMap { n in (0..<8).map { Int32(truncatingIfNeeded: (n &* 7919 &+ $0 &* 104_729) % 8_000_000) } },
            missingChannels: [])
    }
}
