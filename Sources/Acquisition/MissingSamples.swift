/// The runs of one stream's samples that are missing, in ascending order, none touching another of the same gap.
///
/// The ledger in memory: what arrives late is looked up here, so that it is stored once and the ledger told exactly.
struct MissingSamples: Hashable, Sendable {
    /// Consecutive missing samples that belong to one gap of the ledger.
    struct Run: Hashable, Sendable {
        var firstN: Int64
        var end: Int64
        /// The first n of the gap of the ledger.
        var gapFirstN: Int64
        /// False where the headset said that it cannot send these any more.
        var isRecoverable = true
    }

    private(set) var runs: [Run] = []

    /// True where nothing is missing.
    var isEmpty: Bool { runs.isEmpty }

    /// Adds a run that overlaps none that is there.
    mutating func insert(_ run: Run) {
        guard run.end > run.firstN else { return }
        runs.insert(run, at: firstIndex(endingAfter: run.firstN))
    }

    /// Takes `range` out of what is missing. Returns the parts that were missing, in ascending order.
    mutating func remove(_ range: Range<Int64>) -> [Run] {
        var index = firstIndex(endingAfter: range.lowerBound)
        var removed: [Run] = []
        while index < runs.count, runs[index].firstN < range.upperBound {
            let run = runs[index]
            var part = run
            part.firstN = max(run.firstN, range.lowerBound)
            part.end = min(run.end, range.upperBound)
            removed.append(part)
            var before = run
            before.end = part.firstN
            var after = run
            after.firstN = part.end
            runs.replaceSubrange(index...index, with: [before, after].filter { $0.end > $0.firstN })
            if before.end > before.firstN { index += 1 }
        }
        return removed
    }

    /// True where a part of `range` is missing.
    func intersects(_ range: Range<Int64>) -> Bool {
        let index = firstIndex(endingAfter: range.lowerBound)
        return index < runs.count && runs[index].firstN < range.upperBound
    }

    /// Remembers that the headset cannot send the part of what is missing that lies in `range`.
    mutating func giveUp(_ range: Range<Int64>) {
        for var part in remove(range) {
            part.isRecoverable = false
            insert(part)
        }
    }

    /// The first run at or after `n` that the headset may still have.
    func firstRecoverable(from n: Int64 = .min) -> Run? {
        guard var run = runs.first(where: { $0.isRecoverable && $0.end > n }) else { return nil }
        run.firstN = max(run.firstN, n)
        return run
    }

    /// The place of the first run that ends after `n` (binary search: after weeks there may be thousands of runs).
    private func firstIndex(endingAfter n: Int64) -> Int {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].end > n { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
