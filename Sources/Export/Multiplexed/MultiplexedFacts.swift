import Bluetooth
import Headsets
import Storage

/// What the headers of one stream's files are made from.
struct MultiplexedFacts {
    var contents: RecordingContents
    var stream: JoinedStream
    var format: MultiplexedFormat
    var layout: MultiplexedLayout
    /// The names, without directories, of the file that people open, and of the others by their endings.
    var name: String
    var names: [String: String]

    /// UTC nanoseconds since 1970 of a sample; nil where the stream has no times.
    func unixNanoseconds(ofSample n: Int64) -> Int64? { stream.clock.unixNanoseconds(ofSample: n) }

    /// The gaps of whole rows whose length was not counted: where they begin in rows from 0, how many rows hold values
    /// instead of theirs, and what is said of them.
    var lengths: [(row: Double, rowCount: Int64, text: String)] {
        stream.clock.gaps.compactMap { gap in
            guard stream.range.contains(gap.firstN), let text = EDFAnnotation.lengthText(of: gap) else { return nil }
            let row = layout.row(ofSample: Double(gap.firstN))
            let end = layout.row(ofSample: Double(gap.firstN.addingClamped(gap.count)))
            return (row, Int64(max(0, end - row)), text)
        }
    }

    /// The annotations that lie in the file, by where they lie in rows from 0.
    var annotations: [(row: Double, annotation: AnnotationContents)] {
        contents.annotations.compactMap { annotation in layout.row(of: annotation, in: stream).map { ($0, annotation) } }
            .sorted { $0.row < $1.row }
    }

    /// How far a sample's time and its row, at the nominal rate from the beginning of its piece, are apart at most, in seconds.
    var maximumDeviationSeconds: Double {
        let period = 1e9 / stream.samplingFrequency
        var worst = 0.0
        for (index, piece) in layout.pieces.enumerated() {
            let isLast = index + 1 == layout.pieces.count
            let end = isLast ? layout.rowCount : layout.pieces[index + 1].row
            let lastN = piece.firstN + (end - piece.row) - 1
            guard let start = unixNanoseconds(ofSample: piece.firstN) else { return 0 }
            let edges = stream.clock.segments.flatMap { [$0.firstN, $0.lastN] }.filter { $0 > piece.firstN && $0 <= lastN }
            for n in edges + [lastN] {
                guard let unix = unixNanoseconds(ofSample: n) else { continue }
                worst = max(worst, abs(Double(unix - start) - Double(n - piece.firstN) * period) / 1e9)
            }
        }
        return worst
    }
}
