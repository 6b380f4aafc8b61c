/// What held most in each of many equal columns of an axis: intervals in any number become runs of columns, so that a picture
/// of weeks is no larger than one of minutes.
struct ColumnRaster {
    /// Neighbouring columns of one kind; the kind's index.
    struct Run: Hashable, Sendable {
        var kind: Int
        var columns: Range<Int>
    }

    let columnCount: Int
    private let kindCount: Int
    private var weights: [Float]

    init(columnCount: Int, kindCount: Int) {
        self.columnCount = columnCount
        self.kindCount = kindCount
        weights = Array(repeating: 0, count: columnCount * kindCount)
    }

    /// Adds an interval. One without a length counts for the column that it lies in.
    ///
    /// - Parameters:
    ///   - kind: from 0.
    ///   - start: where it begins, 0 ... 1; what lies outside is cut off.
    ///   - weight: how much more it counts than others.
    mutating func add(_ kind: Int, from start: Double, to end: Double, weight: Double = 1) {
        guard (0..<kindCount).contains(kind), start.isFinite, end.isFinite else { return }
        let low = min(max(0, start), 1) * Double(columnCount)
        let high = max(low, min(max(0, end), 1) * Double(columnCount))
        let first = min(Int(low), columnCount - 1)
        let last = min(max(first, Int(high.rounded(.up)) - 1), columnCount - 1)
        for column in first...last {
            let overlap = min(high, Double(column + 1)) - max(low, Double(column))
            weights[column * kindCount + kind] += Float(max(overlap, 1e-6) * weight)
        }
    }

    /// The runs, from left to right; of two kinds that weigh the same in a column, the later one.
    var runs: [Run] {
        var runs: [Run] = []
        for column in 0..<columnCount {
            var best: (kind: Int, weight: Float)?
            for kind in 0..<kindCount {
                let weight = weights[column * kindCount + kind]
                if weight > 0, weight >= best?.weight ?? 0 { best = (kind, weight) }
            }
            guard let best else { continue }
            if let last = runs.last, last.kind == best.kind, last.columns.upperBound == column {
                runs[runs.count - 1].columns = last.columns.lowerBound..<column + 1
            } else {
                runs.append(Run(kind: best.kind, columns: column..<column + 1))
            }
        }
        return runs
    }
}
