package import Foundation

/// What a browser asks for.
package struct PageRequest: Hashable, Sendable {
    package var method: String
    /// With its percent signs taken out; begins with a slash.
    package var path: String
    /// The parameters behind the question mark; of several of one name the first.
    package var query: [String: String]
    /// By name in lower case.
    package var headers: [String: String]
    /// At most ``RequestPolicy/bodyMaximum`` bytes.
    package var body: Data

    package init(
        method: String = "GET", path: String, query: [String: String] = [:], headers: [String: String] = [:],
        body: Data = Data()
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }

    /// A whole number of the query within a range; nil where there is none.
    package func integer(_ name: String, _ range: ClosedRange<Int64>) -> Int64? {
        query[name].flatMap { Int64($0) }.flatMap { range.contains($0) ? $0 : nil }
    }

    /// A finite number of the query within a range; nil where there is none.
    package func number(_ name: String, _ range: ClosedRange<Double>) -> Double? {
        query[name].flatMap { Double($0) }.flatMap { $0.isFinite && range.contains($0) ? $0 : nil }
    }
}
