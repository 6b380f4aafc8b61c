import Headsets
import Storage

/// Samples of a stretch of a stream in memory, missing ones filled with the last before them, and with room on both sides.
struct SampleWindow {
    private let firstN: Int64
    private let count: Int
    private let margin: Int
    private let channelCount: Int
    /// Channel after channel, each `count` and twice the margin long.
    private var values: [Double]
    /// Per sample a bit set of the channels whose values are missing; nil where the whole row is.
    private var missing: [UInt8?]
    /// True where no row is there.
    private(set) var isEmpty = true

    /// - Parameter margin: how many samples before the first and behind the last may be asked for; they are as those.
    init(of stream: StreamContents, in range: ClosedRange<Int64>, from rows: RowSource, margin: Int) throws {
        let first = range.lowerBound
        let channels = stream.description.channels.count
        let (count, length) = (range.count, range.count + 2 * margin)
        var values = [Double](repeating: .nan, count: channels * length)
        var missing = [UInt8?](repeating: nil, count: count)
        var isEmpty = true
        try rows.forEachChunk(of: stream.id, in: range) { chunk in
            let hasMissing = chunk.missingChannels.count == chunk.n.count
            for row in chunk.n.indices {
                let index = Int(chunk.n[row] - first)
                let bits = hasMissing ? chunk.missingChannels[row] : 0
                missing[index] = bits
                isEmpty = false
                for channel in 0..<channels where bits & (1 << UInt8(channel)) == 0 {
                    values[channel * length + margin + index] = Double(chunk.values[row * channels + channel])
                }
            }
        }
        for channel in 0..<channels {
            let own = channel * length..<(channel + 1) * length
            var last = own.lazy.map { values[$0] }.first { !$0.isNaN } ?? 0
            for index in own {
                if values[index].isNaN { values[index] = last } else { last = values[index] }
            }
        }
        (self.firstN, self.count, self.margin, channelCount) = (first, count, margin, channels)
        (self.values, self.missing, self.isEmpty) = (values, missing, isEmpty)
    }

    /// The channels that are missing at one of two samples; nil where a whole row is, or one of them is outside.
    func missing(at n: Int64, and other: Int64) -> UInt8? {
        let (index, next) = (Int(n - firstN), Int(other - firstN))
        guard missing.indices.contains(index), missing.indices.contains(next), let first = missing[index],
            let second = missing[next]
        else { return nil }
        return first | second
    }

    /// The weighted sum of the samples around one, which is under the tap before the middle.
    func sum(_ coefficients: [Double], at n: Int64, channel: Int) -> Double {
        let length = count + 2 * margin
        let first = channel * length + margin + Int(n - firstN) - coefficients.count / 2 + 1
        return values.withUnsafeBufferPointer { values in
            coefficients.withUnsafeBufferPointer { coefficients in
                var sum = 0.0
                for tap in coefficients.indices { sum += coefficients[tap] * values[first + tap] }
                return sum
            }
        }
    }
}
