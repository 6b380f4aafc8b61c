import Acquisition
import Bluetooth
import Storage

/// What a rehearsed daemon leaves to the next one, and what a rehearsal knows of it.
struct RehearsedSpool {
    let spool: BatchSpool
    /// Batches that stand in the spool and are not committed.
    var batches: [WriteBatch] = []

    init(_ spool: BatchSpool) {
        self.spool = spool
    }

    /// As the daemon's.
    static var limits: AcquisitionLimits {
        var limits = AcquisitionLimits()
        (limits.commitInterval, limits.spoolInterval) = (.seconds(10), .seconds(1))
        return limits
    }

    /// It is in memory.
    mutating func losePower() throws(StorageError) {
        try spool.begin(token: "without power")
        batches.removeAll()
    }

    /// A daemon that starts writes what the one before had put into it. Returns what that was.
    ///
    /// - Parameter isLost: a planted defect.
    mutating func restart(_ store: inout AcquisitionStore, isLost: Bool) throws(StorageError) -> [WriteBatch] {
        if isLost { try spool.begin(token: "lost") }
        store = try store.reopened(hostBoot: store.hostBoot)
        defer { batches.removeAll() }
        return batches
    }
}

extension RehearsalChecker {
    /// Everything that stood in the spool of a killed daemon is stored.
    mutating func check(
        _ recovered: RecoveredSpool?, rowCount: Int, at now: MonotonicTime, _ report: inout RehearsalReport
    ) {
        let found = recovered?.rowCount ?? 0
        if found != rowCount {
            add(.storage, "\(rowCount) rows stood in the spool, \(found) of them are stored", at: now, &report)
        }
        if let problem = recovered?.problem { add(.storage, problem, at: now, &report) }
    }
}
