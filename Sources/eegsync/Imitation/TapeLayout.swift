import Headsets
import Storage

/// Times of a recording without what of its silence is too long to wait for.
struct TapeTimeline {
    /// A silence of all streams lasts so long at most: nobody wants to wait for a night in which a headset was off.
    static let longestSilence: Int64 = 60_000_000_000

    /// When the first sample was taken, in UTC nanoseconds since 1970.
    let start: Int64
    /// From each instant on so much is left out, in nanoseconds; by instant.
    private var cuts: [(from: Int64, length: Int64)] = []

    /// - Parameter streams: those that are played; one at least has samples.
    init(_ streams: [StreamContents]) {
        let pieces = streams.flatMap(\.segments).map { segment in
            (segment.unixNanoseconds(ofSample: segment.firstN), segment.unixNanoseconds(ofSample: segment.lastN))
        }.sorted { $0 < $1 }
        start = pieces.first?.0 ?? 0
        var (end, left) = (start, Int64(0))
        for (first, last) in pieces {
            if first - end > Self.longestSilence {
                left += first - end - Self.longestSilence
                cuts.append((first, left))
            }
            end = max(end, last)
        }
    }

    /// Nanoseconds on the tape of an instant at which something was sampled.
    func elapsed(at unixNanoseconds: Int64) -> Int64 {
        unixNanoseconds - start - (cuts.last { $0.from <= unixNanoseconds }?.length ?? 0)
    }
}

extension StreamContents {
    /// Whether its numbers are some that a headset and a clock can give: a file may say anything.
    var canBeLaidOut: Bool {
        let numbers: ClosedRange<Int64> = -(1 << 53)...(1 << 53)
        let times: ClosedRange<Int64> = -(1 << 62)...(1 << 62)
        let edges: [Int64] = [
            firstN ?? 0, lastN ?? 0, epochs.map(\.firstN).min() ?? 0, epochs.map(\.firstN).max() ?? 0,
        ]
        guard description.samplingFrequency <= 1e6, edges.allSatisfy(numbers.contains),
            epochs.allSatisfy({ numbers.contains($0.firstIndex) })
        else { return false }
        return segments.allSatisfy { segment in
            [segment.firstN, segment.lastN, segment.referenceN].allSatisfy(numbers.contains)
                && times.contains(segment.referenceUnixNanoseconds)
                && (edges + [segment.firstN, segment.lastN]).allSatisfy {
                    abs(Double($0 - segment.referenceN) * segment.periodNanoseconds) < 1e18
                }
        }
    }
}

/// Where the samples of a recorded stream stand on a tape: at their times, and at the same remainder by the indexes of a packet
/// as the indexes that the headset counted them by.
struct TapeLayout: Equatable {
    /// Samples whose n and position differ by one number: those of a run of the headset's counter.
    struct Piece: Equatable {
        var firstN: Int64
        /// After the last sample.
        var endN: Int64
        /// That of the first sample.
        var position: Int64

        var end: Int64 { position + endN - firstN }
    }

    /// By position.
    private(set) var pieces: [Piece] = []

    /// The position after the last sample.
    var end: Int64 { pieces.last?.end ?? 0 }

    /// - Parameters:
    ///   - stream: what was recorded.
    ///   - timeline: that of all streams.
    ///   - indexesPerPacket: how many indexes are a packet, or a numbered cycle of packets.
    init(_ stream: StreamContents, on timeline: TapeTimeline, indexesPerPacket: Int64) {
        guard let last = stream.lastN else { return }
        for (number, epoch) in stream.epochs.enumerated() {
            let next = number + 1 < stream.epochs.count ? stream.epochs[number + 1].firstN : last + 1
            // What follows the last sample of a run is silence.
            let end = stream.segments.last { $0.firstN < next && $0.lastN >= epoch.firstN }.map { min($0.lastN + 1, next) }
            guard let end, let instant = stream.unixNanoseconds(ofSample: epoch.firstN), end > epoch.firstN else { continue }
            let elapsed = Double(max(0, timeline.elapsed(at: instant))) / 1e9
            let nominal = max(self.end, Int64((elapsed * stream.description.samplingFrequency).rounded()))
            let remainder = (epoch.firstIndex - nominal) % indexesPerPacket
            let position = nominal + (remainder + indexesPerPacket) % indexesPerPacket
            pieces.append(Piece(firstN: epoch.firstN, endN: end, position: position))
        }
    }

    /// The n that stands at a position; nil between two pieces, and outside.
    func n(at position: Int64) -> Int64? {
        var (low, high) = (0, pieces.count)
        while low < high {
            let middle = (low + high) / 2
            if pieces[middle].position <= position { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let piece = pieces[low - 1]
        return position < piece.end ? piece.firstN + position - piece.position : nil
    }
}
