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
