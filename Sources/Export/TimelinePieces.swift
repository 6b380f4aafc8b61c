import Bluetooth
import Headsets
import Storage

/// The pieces of a recording that one grid of samples can hold: it is cut where n does not say how much time has passed, which
/// is between two boots of the host, and at gaps that are longer than anybody would have filled.
struct TimelinePieces {
    /// For each piece the parts that have samples in it, and from which to which n.
    private(set) var pieces: [[(part: Int, range: ClosedRange<Int64>)]] = []

    /// Gaps up to here are filled, in seconds: a day.
    static let longestFillSeconds = 86_400.0

    /// How many samples of a stream are filled in a row at the most.
    static func longestFill(of stream: StreamContents) -> Int64 {
        Int64(clamping: stream.description.samplingFrequency * longestFillSeconds)
    }

    private struct Piece {
        var part: Int
        var range: ClosedRange<Int64>
        var hostBoot: Int64
        var start: Int64
        var end: Int64
    }

    init(_ parts: [StreamPart]) {
        var all: [Piece] = []
        for (index, part) in parts.enumerated() {
            all += Self.ranges(of: part).map { range in
                let segment = part.stream.segments.last { $0.firstN <= range.lowerBound } ?? part.stream.segments.first
                return Piece(
                    part: index, range: range, hostBoot: segment?.hostBoot ?? 0,
                    start: segment?.unixNanoseconds(ofSample: range.lowerBound) ?? 0,
                    end: part.stream.unixNanoseconds(ofSample: range.upperBound) ?? 0)
            }
        }
        // Boots of the host follow each other by their keys, whatever their clocks say.
        all.sort { ($0.hostBoot, $0.start, $0.part) < ($1.hostBoot, $1.start, $1.part) }
        var (boot, end) = (Int64.min, Int64.min)
        for piece in all {
            if piece.hostBoot != boot || piece.start > end { pieces.append([]) }
            end = piece.hostBoot == boot ? max(end, piece.end) : piece.end
            boot = piece.hostBoot
            pieces[pieces.count - 1].append((piece.part, piece.range))
        }
        pieces = pieces.map { $0.sorted { $0.part < $1.part } }
    }

    /// The part without its cuts.
    private static func ranges(of part: StreamPart) -> [ClosedRange<Int64>] {
        let longest = longestFill(of: part.stream)
        var ranges: [ClosedRange<Int64>] = []
        var first = part.range.lowerBound
        for gap in part.stream.gaps where gap.channel == 0 && (gap.count == 0 || gap.count > longest) {
            guard gap.firstN <= part.range.upperBound else { break }
            if gap.firstN > first { ranges.append(first...(gap.firstN - 1)) }
            first = max(first, gap.firstN.addingClamped(gap.count))
        }
        if first <= part.range.upperBound { ranges.append(first...part.range.upperBound) }
        return ranges
    }
}
