/// The least, the greatest and the mean of values in each of many equal columns of an axis.
package struct ValueRaster: Hashable, Sendable {
    /// What the values of one column are.
    package struct Column: Hashable, Sendable {
        /// The column's middle, 0 ... 1.
        package var position: Double
        package var least: Double
        package var greatest: Double
        package var mean: Double
    }

    private struct Sums: Hashable {
        var least = Double.infinity
        var greatest = -Double.infinity
        var sum = 0.0
        var count = 0
    }

    private var sums: [Sums]

    init(columnCount: Int) {
        sums = Array(repeating: Sums(), count: columnCount)
    }

    /// Adds a value.
    ///
    /// - Parameter position: 0 ... 1; what lies outside counts at the edge.
    mutating func add(_ value: Double, at position: Double) {
        guard value.isFinite, position.isFinite else { return }
        let column = min(sums.count - 1, max(0, Int(position * Double(sums.count))))
        sums[column].least = min(sums[column].least, value)
        sums[column].greatest = max(sums[column].greatest, value)
        sums[column].sum += value
        sums[column].count += 1
    }

    /// Adds a value that holds from one position to another.
    mutating func add(_ value: Double, from start: Double, to end: Double) {
        guard start.isFinite, end.isFinite else { return }
        let first = min(sums.count - 1, max(0, Int(start * Double(sums.count))))
        let last = min(sums.count - 1, max(first, Int((end * Double(sums.count)).rounded(.up)) - 1))
        for column in first...last { add(value, at: (Double(column) + 0.5) / Double(sums.count)) }
    }

    /// The columns that hold a value, from left to right.
    package var columns: [Column] {
        sums.enumerated().compactMap { index, sums in
            guard sums.count > 0 else { return nil }
            return Column(
                position: (Double(index) + 0.5) / Double(self.sums.count), least: sums.least, greatest: sums.greatest,
                mean: sums.sum / Double(sums.count))
        }
    }
}
