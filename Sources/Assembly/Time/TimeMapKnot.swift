extension TimeMap {
    /// A point of the map, from which a piece of it begins.
    struct Knot: Sendable {
        var n: Int64
        /// y on the map.
        var y: Double
        var uncertainty: Double
        var lateness: Double?
        var pointCount: Int
        var isFinal: Bool
        /// By how many samples rows of the piece that begins here may lie beside their n.
        var misplaced: Int64 = 0
    }
}

extension [TimeMap.Knot] {
    /// Divides the piece that holds n there, and leaves its line as it is.
    ///
    /// - Parameter openY: y at n, should it lie on the piece that goes on.
    /// - Returns: the position of the knot at n; nil where all lie behind it.
    mutating func divide(at n: Int64, y openY: Double) -> Int? {
        guard let position = lastIndex(where: { $0.n <= n }) else { return nil }
        var knot = self[position]
        if knot.n == n { return position }
        if position + 1 < count {
            let next = self[position + 1]
            knot.y += (next.y - knot.y) * Double(n - knot.n) / Double(next.n - knot.n)
            (knot.uncertainty, knot.lateness) = (Swift.max(knot.uncertainty, next.uncertainty), next.lateness)
            knot.pointCount = next.pointCount
        } else {
            (knot.y, knot.lateness, knot.pointCount) = (openY, nil, 0)
        }
        knot.n = n
        insert(knot, at: position + 1)
        return position + 1
    }
}
