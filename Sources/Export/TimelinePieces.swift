import Bluetooth
import Headsets
import Storage

/// The pieces of a recording that one grid of samples can hold: it is cut where n does not say how much time has passed, which
/// is between two boots of the host unless the headset counted on, and where it paused; and at gaps that are longer than
/// anybody would have filled. A piece has each part once.
struct TimelinePieces {
    /// For each piece the parts that have samples in it, and from which to which n.
    private(set) var pieces: [[(part: Int, range: ClosedRange<Int64>)]] = []

    /// Gaps up to here are filled, in seconds: a day.
    static let longestFillSeconds = 86_400.0

    /// How many samples of a stream are filled in a row at the most.
    static func longestFill(of stream: StreamContents) -> Int64 {
        Int64(clamping: stream.description.samplingFrequency * longestFillSeconds)
    }

    /// A part without cuts.
    private struct Stretch {
        var range: ClosedRange<Int64>
        /// Whether n did not count the time before it.
        var followsPause: Bool
    }

    private struct Piece {
        var part: Int
        var range: ClosedRange<Int64>
        var hostBoot: Int64
        var start: Int64
        var end: Int64
        var followsPause: Bool

        init(_ part: Int, of stream: StreamContents, _ range: ClosedRange<Int64>, followsPause: Bool = false) {
            let segment = stream.segments.last { $0.firstN <= range.lowerBound } ?? stream.segments.first
            (self.part, self.range, self.followsPause) = (part, range, followsPause)
            hostBoot = segment?.hostBoot ?? 0
            start = segment?.unixNanoseconds(ofSample: range.lowerBound) ?? 0
            end = stream.unixNanoseconds(ofSample: range.upperBound) ?? 0
        }
    }

    /// - Parameter cutsJumps: true to cut also where the times leave what n counts by more than ``longestFillSeconds``, as they
    ///   do where a clock was never set: for a grid that follows the times.
    init(_ parts: [StreamPart], cutsJumps: Bool = false) {
        var all: [Piece] = []
        for (index, part) in parts.enumerated() {
            all += Self.stretches(of: part, cutsJumps: cutsJumps).map {
                Piece(index, of: part.stream, $0.range, followsPause: $0.followsPause)
            }
        }
        // Boots of the host follow each other by their keys, whatever their clocks say.
        all.sort { ($0.hostBoot, $0.start, $0.part) < ($1.hostBoot, $1.start, $1.part) }
        var (boot, end) = (Int64.min, Int64.min)
        var groups: [[Piece]] = []
        for piece in all {
            if piece.hostBoot != boot || piece.start > end {
                groups.append([])
            } else if piece.followsPause, groups[groups.count - 1].contains(where: { $0.part == piece.part }) {
                // One grid cannot hold both sides of the pause: the streams that went on meanwhile are cut at its end.
                let rest = Self.cutOff(&groups[groups.count - 1], at: piece, parts)
                groups.append(rest)
            }
            end = piece.hostBoot == boot ? max(end, piece.end) : piece.end
            boot = piece.hostBoot
            Self.add(piece, to: &groups[groups.count - 1])
        }
        pieces = groups.map { group in group.map { (part: $0.part, range: $0.range) }.sorted { $0.part < $1.part } }
    }

    /// A stream that is there already, as it missed more than a day while another one went on, stays one: n counts what is
    /// missing.
    private static func add(_ piece: Piece, to group: inout [Piece]) {
        guard let known = group.firstIndex(where: { $0.part == piece.part }) else { return group.append(piece) }
        let range = group[known].range
        group[known].range =
            min(range.lowerBound, piece.range.lowerBound)...max(range.upperBound, piece.range.upperBound)
    }

    /// Takes out of a group what other streams have sampled since a piece begins.
    private static func cutOff(_ group: inout [Piece], at begun: Piece, _ parts: [StreamPart]) -> [Piece] {
        var rest: [Piece] = []
        group = group.compactMap { piece in
            let stream = parts[piece.part].stream
            guard piece.part != begun.part, piece.end >= begun.start,
                let exact = stream.sample(atUnixNanoseconds: begun.start)
            else { return piece }
            let n = Int64(clamping: exact.rounded(.up))
            guard n <= piece.range.upperBound else { return piece }
            rest.append(Piece(piece.part, of: stream, max(n, piece.range.lowerBound)...piece.range.upperBound))
            return n > piece.range.lowerBound ? Piece(piece.part, of: stream, piece.range.lowerBound...(n - 1)) : nil
        }
        return rest
    }

    private static func stretches(of part: StreamPart, cutsJumps: Bool) -> [Stretch] {
        let longest = longestFill(of: part.stream)
        // Before which n it is cut, and at which one it goes on.
        var cuts = part.stream.gaps.filter { $0.channel == 0 && ($0.count == 0 || $0.count > longest) }
            .map { (n: $0.firstN, next: $0.firstN.addingClamped($0.count), isPause: $0.count == 0) }
        if cutsJumps {
            cuts += jumps(of: part.stream).map { (n: $0, next: $0, isPause: true) }
            cuts.sort { $0.n < $1.n }
        }
        var stretches: [Stretch] = []
        var first = part.range.lowerBound
        var followsPause = false
        for cut in cuts {
            guard cut.n <= part.range.upperBound else { break }
            if cut.n > first {
                stretches.append(Stretch(range: first...(cut.n - 1), followsPause: followsPause))
                followsPause = false
            }
            followsPause = followsPause || cut.isPause
            first = max(first, cut.next)
        }
        if first <= part.range.upperBound {
            stretches.append(Stretch(range: first...part.range.upperBound, followsPause: followsPause))
        }
        return stretches
    }

    /// The n's whose times differ by more than a day from what the segment before them says.
    private static func jumps(of stream: StreamContents) -> [Int64] {
        zip(stream.segments, stream.segments.dropFirst()).compactMap { before, after in
            let due = Double(before.unixNanoseconds(ofSample: after.firstN))
            let jump = Double(after.unixNanoseconds(ofSample: after.firstN)) - due
            return abs(jump) > longestFillSeconds * 1e9 ? after.firstN : nil
        }
    }
}
