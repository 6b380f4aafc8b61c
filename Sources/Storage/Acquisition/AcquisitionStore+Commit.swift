package import Bluetooth
import GRDB

extension AcquisitionStore {
    /// Writes a batch in one transaction: all of it, or on any error nothing.
    ///
    /// - Throws: ``StorageError``; after `retry` errors the same batch may be committed again.
    package func commit(_ batch: WriteBatch) throws(StorageError) {
        try requireRoom(for: batch)
        try commit(batch, hostBoot: hostBootID)
        spool?.discard(upTo: batch.number)
    }

    /// Throws where a batch would fill the last of the disk. Free pages of the file are room, too: what was pruned is filled
    /// before the file grows.
    private func requireRoom(for batch: WriteBatch) throws(StorageError) {
        guard let reserve = database.reserve, !batch.usesReserve else { return }
        do throws(StorageError) {
            try reserve.require(0, at: path ?? ":memory:", for: "a commit")
        } catch {
            let free = try? pageBytes()
            if let free, free.all - free.used >= DiskReserve.freePageBytes { return }
            throw error
        }
    }

    /// - Parameter hostBoot: the row of the boot that the batch's instants belong to.
    func commit(_ batch: WriteBatch, hostBoot: Int64) throws(StorageError) {
        try openBlocks.inTransaction(of: database) { db, blocks in
            try BatchTransaction(db: db, hostBoot: hostBoot, blocks: blocks).write(batch)
            try db.noteSpooled(batch.number)
        }
    }

    /// Writes a batch that was refused as a whole: each headset's part by itself, in one transaction. A part that breaks a rule
    /// is left out, and the gaps of its streams open; the others lose nothing.
    ///
    /// - Parameter now: when the gaps of what is left out open.
    /// - Returns: the parts that were left out.
    /// - Throws: what concerns more than one headset, such as a full disk; nothing was written then.
    package func commitByHeadset(_ batch: WriteBatch, at now: MonotonicTime) throws(StorageError) -> [RefusedPart] {
        try requireRoom(for: batch)
        let refused = try commitByHeadset(batch, at: now, hostBoot: hostBootID)
        spool?.discard(upTo: batch.number)
        return refused
    }

    func commitByHeadset(
        _ batch: WriteBatch, at now: MonotonicTime, hostBoot: Int64
    ) throws(StorageError) -> [RefusedPart] {
        let path = path ?? ":memory:"
        return try openBlocks.inTransaction(of: database) { db, blocks in
            let transaction = BatchTransaction(db: db, hostBoot: hostBoot, blocks: blocks)
            try db.noteSpooled(batch.number)
            try transaction.write(batch.sharedRecords())
            var refused: [RefusedPart] = []
            for part in batch.parts {
                let records = batch.records(of: part)
                guard let error = try transaction.refusal(of: records, path: path) else { continue }
                refused.append(RefusedPart(part: part, error: error))
                var gaps = WriteBatch(number: batch.number)
                gaps.changes = part.presentStreams.map { .quarantine(QuarantineRecord(stream: $0, at: now)) }
                // Where not even that is possible the ledger is as it was: nothing of the part was stored.
                _ = try transaction.refusal(of: gaps, path: path)
            }
            return refused
        }
    }
}

extension BatchTransaction {
    /// Writes records in a savepoint of their own. Returns why the database refused them, which leaves it as it was.
    ///
    /// - Throws: what does not concern these records alone.
    fileprivate func refusal(of records: WriteBatch, path: String) throws -> StorageError? {
        let before = blocks.streams
        do {
            try db.inSavepoint {
                try write(records)
                return .commit
            }
            return nil
        } catch {
            blocks.streams = before
            let error = StorageError(error, path: path)
            guard error.isRefusal else { throw error }
            return error
        }
    }
}

extension StorageError {
    /// True where the database refused what it was given, and would refuse it again: no matter of the disk or of other
    /// programs.
    package var isRefusal: Bool { disposition == .stop }
}
