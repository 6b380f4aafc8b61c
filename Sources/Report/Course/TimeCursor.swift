import Storage

/// The time map of a stream, asked for times of ascending samples most of the time.
struct TimeCursor {
    private let segments: [TimeSegment]
    private var index = 0

    /// - Returns: nil without segments.
    init?(_ segments: [TimeSegment]) {
        guard !segments.isEmpty else { return nil }
        self.segments = segments
    }

    /// UTC nanoseconds since 1970 of sample n, by the segment that holds it or the one before it.
    mutating func unixNanoseconds(ofSample n: Int64) -> Int64 {
        seek(n)
        return segments[index].unixNanoseconds(ofSample: n)
    }

    /// When the first of missing samples was due: the segment before the gap goes on.
    mutating func unixNanoseconds(dueAfterSampleBefore n: Int64) -> Int64 {
        seek(n)
        let before = index > 0 && segments[index].firstN == n ? index - 1 : index
        return segments[before].unixNanoseconds(ofSample: n)
    }

    private mutating func seek(_ n: Int64) {
        if segments[index].firstN > n { index = 0 }
        if index + 1 < segments.count, segments[index + 1].firstN <= n {
            var (low, high) = (index + 1, segments.count)
            // The last one that begins at n or before.
            while high - low > 1 {
                let middle = (low + high) / 2
                if segments[middle].firstN <= n { low = middle } else { high = middle }
            }
            index = low
        }
    }
}
