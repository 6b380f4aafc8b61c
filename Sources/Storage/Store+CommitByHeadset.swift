public import Bluetooth
import GRDB
import Headsets

extension Store {
    /// Writes a batch that was refused as a whole: each headset's part by itself, in one transaction. A part that breaks a rule
    /// is left out, and the gaps of its streams open; the others lose nothing.
    ///
    /// - Parameter now: when the gaps of what is left out open.
    /// - Returns: the parts that were left out.
    /// - Throws: what concerns more than one headset, such as a full disk; nothing was written then.
    public func commitByHeadset(_ batch: WriteBatch, at now: MonotonicTime) throws(StorageError) -> [RefusedPart] {
        let hostBoot = try requireHostBoot()
        let path = path ?? ":memory:"
        return try connection.write { db in
            let insertion = BatchInsertion(db: db, hostBoot: hostBoot)
            try insertion.insert(batch.sharedRecords())
            var refused: [RefusedPart] = []
            for part in batch.parts {
                let records = batch.records(of: part)
                guard let error = try insertion.refusal(of: records, path: path) else { continue }
                refused.append(RefusedPart(part: part, error: error))
                var gaps = WriteBatch(number: batch.number)
                gaps.quarantines = [QuarantineRecord(streams: part.presentStreams, at: now)]
                // Where not even that is possible the ledger is as it was: nothing of the part was stored.
                _ = try insertion.refusal(of: gaps, path: path)
            }
            return refused
        }
    }
}

extension BatchInsertion {
    /// Writes records in a savepoint of their own. Returns why the database refused them, which leaves it as it was.
    ///
    /// - Throws: what does not concern these records alone.
    fileprivate func refusal(of records: WriteBatch, path: String) throws -> StorageError? {
        do {
            try db.inSavepoint {
                try insert(records)
                return .commit
            }
            return nil
        } catch {
            let error = StorageError(error, path: path)
            guard error.isRefusal else { throw error }
            return error
        }
    }

    /// Opens a gap after the last row of each stream that has one, and no open gap.
    func insert(_ quarantine: QuarantineRecord) throws {
        for stream in quarantine.streams {
            try execute(
                """
                INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns)
                SELECT ?1, end, 0, NULL, ?2, ?3, ?4 FROM (
                    SELECT max(end) AS end FROM (
                        SELECT max(n) + 1 AS end FROM sample WHERE stream_id = ?1
                        UNION ALL SELECT max(first_n + count) FROM gap WHERE stream_id = ?1 AND channel = 0))
                WHERE end IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM gap WHERE stream_id = ?1 AND channel = 0 AND count IS NULL)
                """,
                [stream.rawValue, GapCause.quarantined.rawValue, hostBoot, quarantine.at.nanoseconds])
        }
    }
}

extension StorageError {
    /// True where the database refused what it was given, and would refuse it again: no matter of the disk or of other
    /// programs.
    public var isRefusal: Bool { disposition == .stop }
}
