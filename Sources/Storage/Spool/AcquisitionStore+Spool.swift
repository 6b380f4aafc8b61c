package import Bluetooth
import Foundation
import GRDB
import Glibc
import Headsets

/// What was found in the spool of a process that has died.
package struct RecoveredSpool: Hashable, Sendable {
    /// Rows that are in the database now.
    package var rowCount = 0
    /// Why not all are; nil where they are.
    package var problem: String?
}

/// Where the database says the spool is, and what of it is committed.
private struct SpoolPosition {
    var path: String
    var token: String
    var hostBoot: Int64
    var number: UInt64

    init?(_ db: Database) throws {
        guard let row = try Row.fetchOne(db, sql: "SELECT * FROM spool") else { return nil }
        (path, token, hostBoot) = (row["path"], row["token"], row["host_boot_id"])
        number = UInt64(clamping: row["number"] as Int64)
    }
}

extension AcquisitionStore {
    /// Keeps a batch that is in no transaction yet where it outlives the process; does nothing without a spool.
    ///
    /// - Throws: ``StorageError/spool(path:reason:)``; the batch is then to be committed soon.
    package func keep(_ batch: WriteBatch, at now: MonotonicTime) throws(StorageError) {
        try spool?.append(batch, at: now)
    }

    /// Writes what a process that has died left in its spool, and begins the spool of this one, where there is one.
    ///
    /// - Parameter spool: the one that this process fills, or nil.
    /// - Returns: nil where nothing was left.
    /// - Throws: ``StorageError`` where the database takes nothing, which a later try may mend.
    func beginSpool(_ spool: BatchSpool?) throws(StorageError) -> RecoveredSpool? {
        let recovered = try recoverSpool(own: spool)
        let token = UUID().uuidString
        try spool?.begin(token: token)
        try database.write { db in
            try db.execute(sql: "DELETE FROM spool")
            guard let spool else { return }
            try db.execute(
                sql: "INSERT INTO spool (id, path, token, host_boot_id, number) VALUES (1, ?, ?, ?, 0)",
                arguments: [spool.path, token, hostBootID])
        }
        return recovered
    }

    /// Closes the database, and gives the acquisition lock back. What the spool still holds is left to the next process.
    package func close() throws(StorageError) {
        if let spool, spool.isEmpty {
            try database.write { db in try db.execute(sql: "DELETE FROM spool") }
            spool.remove()
        }
        try database.close()
    }

    private func recoverSpool(own: BatchSpool?) throws(StorageError) -> RecoveredSpool? {
        guard let position = try database.read(SpoolPosition.init) else { return nil }
        let spool: BatchSpool
        if let own, own.path == position.path {
            spool = own
        } else {
            // Its directory is gone with the power, or with an orderly end.
            guard access(position.path, F_OK) == 0 else { return nil }
            spool = try BatchSpool(path: position.path)
        }
        let batches = spool.batches(of: position.token).filter { $0.batch.number > position.number }
        var recovered = RecoveredSpool()
        for batch in batches {
            do {
                var batch = batch
                for part in try orphans(of: batch.batch) { batch.batch.remove(part) }
                recovered.rowCount += try recover(batch, hostBoot: position.hostBoot)
            } catch  where error.isRefusal {
                recovered.problem = "\(error)"
            }
        }
        if recovered.problem != nil, let path {
            // For a person to look at.
            spool.move(to: "\(path)-refused-\(position.token)")
        } else if spool !== own {
            spool.remove()
        }
        return batches.isEmpty ? nil : recovered
    }

    /// The headsets whose rows in a batch follow a gap that is open: what the batch before it held of them was refused, and the
    /// process that would have left them out here has died. The gap says what is missing.
    private func orphans(of batch: WriteBatch) throws(StorageError) -> [HeadsetPart] {
        let open = try database.read { db in
            try Row.fetchAll(
                db,
                sql: "SELECT stream_id, first_n FROM gap WHERE channel = 0 AND count IS NULL AND cause = ?",
                arguments: [GapCause.quarantined.rawValue]
            ).map { (stream: StreamID(rawValue: $0[0]), firstN: $0[1] as Int64) }
        }
        let orphaned = open.filter { gap in
            batch.samples.contains { $0.stream == gap.stream && $0.firstN >= gap.firstN }
                && !batch.changes.contains { change in
                    switch change {
                    case .ledger(.close(gap.stream, gap.firstN, 0, _, _)), .ledger(.withdraw(gap.stream, gap.firstN, 0)): true
                    default: false
                    }
                }
        }
        return batch.parts.filter { part in orphaned.contains { part.streams.contains($0.stream) } }
    }

    /// Writes a batch of an earlier process. Returns how many rows it had.
    private func recover(_ spooled: SpooledBatch, hostBoot: Int64) throws(StorageError) -> Int {
        do {
            try commit(spooled.batch, hostBoot: hostBoot)
        } catch  where error.isRefusal && !spooled.batch.parts.isEmpty {
            _ = try commitByHeadset(spooled.batch, at: spooled.at, hostBoot: hostBoot)
        }
        return spooled.batch.rowCount
    }
}

extension Database {
    /// Notes that a batch is committed, in its transaction. What is written besides, under an earlier number, takes nothing
    /// back: the next process would write again what is there.
    func noteSpooled(_ number: UInt64) throws {
        try cachedStatement(sql: "UPDATE spool SET number = max(number, ?)").execute(arguments: [Int64(clamping: number)])
    }
}
