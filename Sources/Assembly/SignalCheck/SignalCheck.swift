import Headsets
import Storage

/// Looks at the signals of a stream as they arrive: what is flat, railed or full of line noise, and what the headset says about
/// its contact. It alters nothing.
///
/// Samples are looked at in windows without a gap; what lies in between is left out. The steady state allocates nothing.
struct SignalCheck: Sendable {
    /// Results that may wait to be written; a full disk may last for days.
    private static let resultLimit = 512

    private let stream: StreamID
    /// By channel; nil where nothing can be said.
    private var channels: [ChannelCheck?]
    private let weights: [Double]
    /// The n that continues what was seen.
    private var nextN: Int64?
    private var results: [SignalCheckRecord] = []

    /// A check for a stream; nil where none of its channels can be checked.
    init?(stream: StreamID, _ description: StreamDescription) {
        let samples = (description.samplingFrequency * SignalThresholds.windowSeconds).rounded()
        // Up to 32 kHz: a second of the fastest amplifiers that are worn.
        guard samples >= 1, samples <= 65_536 else { return nil }
        let length = Int(samples)
        self.stream = stream
        channels = description.channels.map {
            ChannelCheck(
                $0, saturation: description.saturation, samplingFrequency: description.samplingFrequency, length: length)
        }
        guard channels.contains(where: { $0 != nil }) else { return nil }
        weights = LineFilter.weights(length: length)
    }

    /// Takes rows with consecutive n, all channels of an instant together.
    ///
    /// - Parameter missing: the channels that every one of the rows lacks, as a bit set.
    mutating func take(_ values: ArraySlice<Int32>, firstN: Int64, missing: UInt8 = 0) {
        let rows = values.count / channels.count
        if firstN != nextN { for channel in channels.indices { channels[channel]?.restart() } }
        nextN = firstN + Int64(rows)
        for channel in channels.indices {
            guard missing >> channel & 1 == 0 else {
                channels[channel]?.restart()
                continue
            }
            take(values, of: channel, rows: rows, firstN: firstN)
        }
    }

    private mutating func take(_ values: ArraySlice<Int32>, of channel: Int, rows: Int, firstN: Int64) {
        let width = channels.count
        var row = 0
        while row < rows {
            // Both are there for the time of the call, and the indices below `rows` and the window's length are in them.
            let taken = values.withUnsafeBufferPointer { values in
                weights.withUnsafeBufferPointer { weights in
                    channels[channel]?.take(
                        values, from: row * width + channel, stride: width, limit: rows - row, weights: weights)
                }
            }
            guard let taken else { return }
            row += taken
            guard channels[channel]?.isWindowComplete == true else { return }
            var reports: [(SignalCondition, ChannelCheck.Findings)] = []
            channels[channel]?.finishWindow(n: firstN + Int64(row - 1)) { reports.append(($0, $1)) }
            for (condition, findings) in reports {
                guard let check = channels[channel] else { continue }
                keep(check.record(stream: stream, channel: channel + 1, condition, findings))
            }
        }
    }

    private mutating func keep(_ record: SignalCheckRecord) {
        if results.count == Self.resultLimit { results.removeFirst() }
        results.append(record)
    }

    /// Takes the results since the last call.
    mutating func takeResults() -> [SignalCheckRecord] {
        guard !results.isEmpty else { return [] }
        defer { results.removeAll(keepingCapacity: true) }
        return results
    }
}
