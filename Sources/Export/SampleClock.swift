import Storage

/// Times of samples whose n ascends, by the segment that holds each.
struct SampleClock {
    private let segments: [TimeSegment]
    private var index = 0

    init(_ stream: StreamContents) { segments = stream.segments }

    /// UTC nanoseconds since 1970; nil where the stream has no times.
    mutating func unixNanoseconds(ofSample n: Int64) -> Int64? {
        while index + 1 < segments.count && segments[index + 1].firstN <= n { index += 1 }
        return index < segments.count ? segments[index].unixNanoseconds(ofSample: n) : nil
    }
}

extension StreamContents {
    /// Where between two samples the time map puts an instant of UTC, as a number of samples; nil where there is no time map.
    ///
    /// What happened in the time between two segments belongs to the first sample of the later one.
    func sample(atUnixNanoseconds unix: Int64) -> Double? {
        let match = segments.lastIndex { $0.unixNanoseconds(ofSample: $0.firstN) <= unix } ?? segments.startIndex
        guard segments.indices.contains(match) else { return nil }
        let segment = segments[match]
        let n = Double(unix - segment.referenceUnixNanoseconds) / segment.periodNanoseconds + Double(segment.referenceN)
        return segments.indices.contains(match + 1) ? min(n, Double(segments[match + 1].firstN)) : n
    }
}
