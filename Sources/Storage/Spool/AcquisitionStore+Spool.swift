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
