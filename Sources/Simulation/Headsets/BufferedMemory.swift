import Bluetooth

/// The memory of one stream: which positions it holds. The values need no storage, since ``SimulatedSignal`` is a function.
struct BufferedMemory {
    let capacity: Int64
    /// All positions before this one were overwritten.
    private(set) var floor: Int64 = 0
    /// All positions before this one were acknowledged.
    private(set) var acknowledged: Int64 = 0
    /// Samples that were overwritten before they were acknowledged.
    private(set) var lostCount: Int64 = 0

    init(capacity: Int) {
        self.capacity = Int64(min(max(1, capacity), Int(Int32.max)))
    }

    /// What stands at a position.
    enum Content: Equatable {
        /// Samples up to, but not including, a position.
        case samples(end: Int64)
        /// Samples were overwritten or forgotten up to a position.
        case overwritten(end: Int64)
        /// Nothing was sampled up to a position.
        case notSampled(end: Int64)
    }

    /// Overwrites what is too old when samples before `end` were taken.
    ///
    /// - Returns: true where samples were lost.
    mutating func settle(end: Int64, runs: [BootRecord.StreamRecord.Run]) -> Bool {
        let newFloor = end - capacity
        guard newFloor > floor else { return false }
        let start = max(floor, acknowledged)
        var lost: Int64 = 0
        for run in runs {
            lost += max(0, min(run.end ?? newFloor, newFloor) - max(run.start, start))
        }
        floor = newFloor
        lostCount += lost
        return lost > 0
    }

    /// Forgets everything before a position.
    mutating func acknowledge(_ position: Int64) {
        acknowledged = max(acknowledged, position)
    }

    /// The first position in memory; `end` where memory is empty.
    func oldest(end: Int64, runs: [BootRecord.StreamRecord.Run]) -> Int64 {
        let kept = max(floor, acknowledged, 0)
        for run in runs where (run.end ?? end) > kept { return min(max(kept, run.start), end) }
        return end
    }

    /// What stands at `position`, as far as it is of one kind, up to `end`.
    func content(at position: Int64, end: Int64, runs: [BootRecord.StreamRecord.Run]) -> Content {
        let kept = max(floor, acknowledged, 0)
        if position < kept { return .overwritten(end: min(kept, end)) }
        for run in runs {
            if position < run.start { return .notSampled(end: min(run.start, end)) }
            if position < run.end ?? .max { return .samples(end: min(run.end ?? end, end)) }
        }
        return .notSampled(end: end)
    }
}
