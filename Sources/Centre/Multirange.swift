/// A value of the server's type `int8multirange` (PostgreSQL 15, 8.17): ranges of integers, ascending and apart.
struct Multirange: Hashable {
    var ranges: [ClosedRange<Int64>]
    /// False where the text had a range without bounds.
    private(set) var isWhole = true

    init(_ ranges: [ClosedRange<Int64>]) { self.ranges = ranges }

    /// Of a text as the server writes it, each range without its upper bound: `{[1,6),[8,10)}`. What has no bounds is left out.
    init(_ text: String) {
        ranges = text.split(separator: "[").compactMap { part in
            let bounds = part.split(whereSeparator: { ",)}".contains($0) }).map { Int64($0) }
            guard bounds.count == 2, let lower = bounds[0], let upper = bounds[1], lower < upper else { return nil }
            return lower...(upper - 1)
        }
        isWhole = ranges.count == text.count { "[(".contains($0) }
    }

    /// As the server writes it, whose ranges are without their upper bound; of those that have a number behind it.
    var written: String { "{" + ranges.map { "[\($0.lowerBound),\($0.upperBound &+ 1))" }.joined(separator: ",") + "}" }

    /// A text that the server reads.
    var text: String { "{" + ranges.map { "[\($0.lowerBound),\($0.upperBound)]" }.joined(separator: ",") + "}" }
}
