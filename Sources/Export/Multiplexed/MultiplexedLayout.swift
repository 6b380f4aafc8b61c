import Headsets
import Storage

/// Where a stream's samples lie in a file whose rows follow each other without times.
struct MultiplexedLayout: Hashable, Sendable {
    /// Rows whose n follow each other.
    struct Piece: Hashable, Sendable {
        var firstN: Int64
        /// The row, from 0, of its first sample.
        var row: Int64
        /// How many samples are missing before it; 0 for the first one.
        var missing: Int64
    }

    /// Rows that hold the last value instead of a missing one.
    struct Held: Hashable, Sendable {
        var rows: Range<Int64>
        /// Which channel, from 0; nil for all.
        var channel: Int?
    }

    /// Ascending; what is missing between two of them is left out of the file.
    private(set) var pieces: [Piece] = []
    /// In the order in which they end.
    private(set) var held: [Held] = []
    /// How many rows there are.
    private(set) var rowCount: Int64 = 0

    /// Begins a piece behind missing samples.
    mutating func begin(n: Int64, missing: Int64) {
        pieces.append(Piece(firstN: n, row: rowCount, missing: pieces.isEmpty ? 0 : missing))
    }

    /// Adds rows with the samples that follow.
    mutating func add(_ count: Int64) { rowCount += count }

    /// Takes note of rows that hold other rows' values.
    mutating func hold(_ rows: Range<Int64>, channel: Int? = nil) { held.append(Held(rows: rows, channel: channel)) }

    /// Where, in rows from 0, a sample lies, or a point between two; that of the row behind where it was left out.
    func row(ofSample n: Double) -> Double {
        // Pieces are as many as gaps, and there may be many of them.
        var (low, high) = (0, pieces.count)
        while low < high {
            let middle = (low + high) / 2
            if Double(pieces[middle].firstN) <= n { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return n - Double(pieces.first?.firstN ?? 0) }
        let row = Double(pieces[low - 1].row) + n - Double(pieces[low - 1].firstN)
        return low < pieces.count ? min(row, Double(pieces[low].row)) : row
    }

    /// Where an annotation lies in rows from 0; nil where the stream has no times, or it lies before or behind all samples.
    ///
    /// - Parameter stream: the stream of the file, whose own samples an annotation may be said of.
    func row(of annotation: AnnotationContents, in stream: JoinedStream) -> Double? {
        let isOfStream = stream.banks.contains { $0.stream.id == annotation.sample?.stream }
        let said = isOfStream ? annotation.sample.map { Double($0.n) } : nil
        guard let n = said ?? stream.clock.sample(atUnixNanoseconds: annotation.onsetUnixNanoseconds) else { return nil }
        let row = row(ofSample: n)
        return row > -0.5 && row < Double(rowCount) ? max(0, row) : nil
    }
}
