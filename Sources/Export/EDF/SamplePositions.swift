import Headsets
import Storage

/// Where samples lie on a grid of even periods in UTC, and which sample lies at a position; both ascend.
struct SamplePositions: Sendable {
    private struct Piece {
        var firstN: Double
        /// The position of ``firstN``.
        var position: Double
        /// Positions from one sample to the next.
        var step: Double
    }

    /// Positions beyond it, 100,000 years at 256 Hz, are taken for none.
    private static let farthest = 1e15

    private var pieces: [Piece] = []

    /// - Parameters:
    ///   - range: the samples that matter.
    ///   - start: UTC nanoseconds since 1970 of position 0.
    ///   - period: of the grid, in nanoseconds.
    init(of stream: StreamContents, in range: ClosedRange<Int64>, start: Int64, period: Double) {
        for (index, segment) in stream.segments.enumerated() {
            let next = stream.segments.indices.contains(index + 1) ? stream.segments[index + 1].firstN : .max
            // The first one also gives the times of what lies before it.
            guard next > range.lowerBound, index == 0 || segment.firstN <= range.upperBound else { continue }
            let first = max(segment.firstN, range.lowerBound)
            let sinceReference = Double(first - segment.referenceN) * segment.periodNanoseconds
            let position = (Double(segment.referenceUnixNanoseconds - start) + sinceReference) / period
            let step = segment.periodNanoseconds / period
            // No crystal and no clock: a database that was changed. Its neighbours say where its samples lie.
            guard (0.5...2).contains(step), abs(position) < Self.farthest, abs(Double(first)) < Self.farthest else { continue }
            // A map that steps back would give one position to two samples.
            if let last = pieces.last, position <= last.position { continue }
            pieces.append(Piece(firstN: Double(first), position: position, step: step))
        }
        if pieces.isEmpty { pieces = [Piece(firstN: Double(range.lowerBound), position: 0, step: 1)] }
    }

    /// The position of a sample, not rounded.
    func position(ofSample n: Int64) -> Double {
        let index = last { $0.firstN <= Double(n) }
        let piece = pieces[index]
        let position = piece.position + (Double(n) - piece.firstN) * piece.step
        return pieces.indices.contains(index + 1) ? min(position, pieces[index + 1].position) : position
    }

    /// The sample at a position, with its fraction.
    func sample(atPosition k: Int64) -> Double {
        let index = last { $0.position <= Double(k) }
        let piece = pieces[index]
        let n = piece.firstN + (Double(k) - piece.position) / piece.step
        return pieces.indices.contains(index + 1) ? min(n, pieces[index + 1].firstN) : n
    }

    /// The last piece that holds a condition which holds for the first ones; the first where none does.
    private func last(where isBefore: (Piece) -> Bool) -> Int {
        var (low, high) = (0, pieces.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(pieces[middle]) { low = middle + 1 } else { high = middle }
        }
        return max(0, low - 1)
    }
}
