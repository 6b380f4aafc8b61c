/// The runs of one stream's samples that are missing, in ascending order, none touching another of the same gap.
///
/// The ledger in memory: what arrives late is looked up here, so that it is stored once and counted in the ledger exactly. What
/// the headset may still send and what it cannot are kept apart, so that after weeks with hundreds of thousands of gaps each
/// question costs a binary search.
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

    private var recoverable = Runs()
    private var lost = Runs()

    /// True where nothing is missing.
    var isEmpty: Bool { recoverable.all.isEmpty && lost.all.isEmpty }

    /// True where the headset may still have some of what is missing.
    var isRecoverable: Bool { !recoverable.all.isEmpty }

    /// All runs, in ascending order: as many steps as there are.
    var runs: [Run] { (recoverable.all + lost.all).sorted { $0.firstN < $1.firstN } }

    /// The last run.
    var last: Run? {
        guard let first = recoverable.all.last else { return lost.all.last }
        guard let second = lost.all.last else { return first }
        return first.firstN < second.firstN ? second : first
    }

    /// Adds a run that overlaps none that is there.
    mutating func insert(_ run: Run) {
        if run.isRecoverable { recoverable.insert(run) } else { lost.insert(run) }
    }

    /// Takes `range` out of what is missing. Returns the parts that were missing, in ascending order.
    mutating func remove(_ range: Range<Int64>) -> [Run] {
        let first = recoverable.remove(range)
        let second = lost.remove(range)
        if second.isEmpty { return first }
        return first.isEmpty ? second : (first + second).sorted { $0.firstN < $1.firstN }
    }

    /// True where a part of `range` is missing.
    func intersects(_ range: Range<Int64>) -> Bool { recoverable.intersects(range) || lost.intersects(range) }

    /// Remembers that the headset cannot send the part of what is missing that lies in `range`.
    mutating func giveUp(_ range: Range<Int64>) {
        var given = recoverable.remove(range)
        for index in given.indices { given[index].isRecoverable = false }
        lost.merge(given)
    }

    /// The first run at or after `n` that the headset may still have.
    func firstRecoverable(from n: Int64 = .min) -> Run? {
        guard var run = recoverable.first(endingAfter: n) else { return nil }
        run.firstN = max(run.firstN, n)
        return run
    }
}

/// Runs in ascending order that do not overlap.
private struct Runs: Hashable, Sendable {
    private(set) var all: [MissingSamples.Run] = []

    mutating func insert(_ run: MissingSamples.Run) {
        guard run.end > run.firstN else { return }
        all.insert(run, at: index(endingAfter: run.firstN))
    }

    /// Adds runs in ascending order that overlap none that is there, in one pass.
    mutating func merge(_ runs: [MissingSamples.Run]) {
        guard let first = runs.first else { return }
        let begin = index(endingAfter: first.firstN)
        guard begin < all.endIndex else { return all.append(contentsOf: runs) }
        let tail = (all[begin...] + runs).sorted { $0.firstN < $1.firstN }
        all.replaceSubrange(begin..., with: tail)
    }

    /// Takes out what lies in `range`, in one pass.
    mutating func remove(_ range: Range<Int64>) -> [MissingSamples.Run] {
        if range.isEmpty { return [] }
        let begin = index(endingAfter: range.lowerBound)
        var end = begin
        var removed: [MissingSamples.Run] = []
        while end < all.count, all[end].firstN < range.upperBound {
            var part = all[end]
            part.firstN = max(part.firstN, range.lowerBound)
            part.end = min(part.end, range.upperBound)
            removed.append(part)
            end += 1
        }
        guard begin < end else { return [] }
        var left: [MissingSamples.Run] = []
        if all[begin].firstN < range.lowerBound {
            left.append(all[begin])
            left[0].end = range.lowerBound
        }
        if all[end - 1].end > range.upperBound {
            left.append(all[end - 1])
            left[left.count - 1].firstN = range.upperBound
        }
        all.replaceSubrange(begin..<end, with: left)
        return removed
    }

    func intersects(_ range: Range<Int64>) -> Bool {
        let index = index(endingAfter: range.lowerBound)
        return index < all.count && all[index].firstN < range.upperBound
    }

    func first(endingAfter n: Int64) -> MissingSamples.Run? {
        let index = index(endingAfter: n)
        return index < all.count ? all[index] : nil
    }

    private func index(endingAfter n: Int64) -> Int {
        var low = 0
        var high = all.count
        while low < high {
            let middle = (low + high) / 2
            if all[middle].end > n { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
