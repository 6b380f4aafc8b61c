package import Storage

/// When the samples of a stream were taken, and which samples were taken when, by its time map.
package struct StreamTimeline: Hashable, Sendable {
    /// A piece of the time map that gives the times of a range of n.
    package struct Piece: Hashable, Sendable {
        package var range: ClosedRange<Int64>
        var segment: TimeSegment

        /// UTC nanoseconds since 1970 of a sample of the piece.
        package func unixNanoseconds(of n: Int64) -> Int64 { segment.unixNanoseconds(ofSample: n) }
        /// Between two samples.
        package var periodNanoseconds: Double { segment.periodNanoseconds }
    }

    /// By first n; the first piece also holds what lies before it, the last one what lies behind.
    private let segments: [TimeSegment]

    package init(_ segments: [TimeSegment]) {
        self.segments = segments
    }

    /// True where no sample has a time.
    package var isEmpty: Bool { segments.isEmpty }

    /// UTC nanoseconds since 1970; nil without a time map.
    package func unixNanoseconds(of n: Int64) -> Int64? {
        index(of: n).map { segments[$0].unixNanoseconds(ofSample: n) }
    }

    /// The samples within an extent that were taken in a time, in the order of n. Clocks that were corrected can have
    /// taken them in another order than that of their times.
    package func pieces(in time: Range<Int64>, of extent: ClosedRange<Int64>) -> [Piece] {
        segments.indices.compactMap { index in
            let segment = segments[index]
            let begin = index == 0 ? extent.lowerBound : max(segment.firstN, extent.lowerBound)
            let next = segments.indices.contains(index + 1) ? segments[index + 1].firstN - 1 : extent.upperBound
            let end = min(next, extent.upperBound)
            guard begin <= end else { return nil }
            // The first sample at or behind an instant.
            func first(at unixNanoseconds: Int64) -> Int64 {
                let distance = Double(unixNanoseconds &- segment.referenceUnixNanoseconds) / segment.periodNanoseconds
                let n = Double(segment.referenceN) + distance.rounded(.up)
                return n <= Double(begin) ? begin : n > Double(end) ? end + 1 : Int64(n)
            }
            let (lower, upper) = (first(at: time.lowerBound), first(at: time.upperBound))
            return lower < upper ? Piece(range: lower...(upper - 1), segment: segment) : nil
        }
    }

    /// The piece that holds an n, up to the next one.
    private func index(of n: Int64) -> Int? {
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].firstN <= n { low = middle + 1 } else { high = middle }
        }
        return segments.isEmpty ? nil : max(0, low - 1)
    }
}
