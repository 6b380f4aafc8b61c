public import Bluetooth
import Foundation
import GRDB

/// Captures: asked for by a command, followed by the acquisition, taken away by the command.
extension Store {
    /// Wants what goes over the air to and from a headset, until it is stopped or the time is over. Requests that nobody cares
    /// for any more are removed.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where the database has no such headset.
    public func startCapture(headset: String, at now: MonotonicTime, until end: MonotonicTime) throws(StorageError) -> CaptureID
    {
        guard let id = try self.headset(named: headset) else { throw StorageError.notFound(what: "headset \(headset)") }
        let hostBoot = try requireHostBoot()
        let capture = try connection.write { db in
            try db.execute(
                sql: "DELETE FROM capture WHERE host_boot_id <> ? OR end_boottime_ns < ?",
                arguments: [hostBoot, (now - .seconds(60)).nanoseconds])
            try db.execute(
                sql: """
                    INSERT INTO capture (headset_id, desired_state, host_boot_id, requested_boottime_ns, end_boottime_ns)
                    VALUES (?, 'capturing', ?, ?, ?)
                    """, arguments: [id.rawValue, hostBoot, now.nanoseconds, end.nanoseconds])
            return CaptureID(rawValue: db.lastInsertedRowID)
        }
        noteControlChange()
        return capture
    }

    /// Lets a capture go on until `end`.
    public func extendCapture(_ capture: CaptureID, until end: MonotonicTime) throws(StorageError) {
        try connection.write { db in
            try db.execute(
                sql: "UPDATE capture SET end_boottime_ns = ? WHERE id = ?", arguments: [end.nanoseconds, capture.rawValue])
        }
        noteControlChange()
    }

    /// Wants a capture ended.
    public func stopCapture(_ capture: CaptureID) throws(StorageError) {
        try connection.write { db in
            try db.execute(sql: "UPDATE capture SET desired_state = 'stopped' WHERE id = ?", arguments: [capture.rawValue])
        }
        noteControlChange()
    }

    /// Removes a capture and what was captured.
    public func removeCapture(_ capture: CaptureID) throws(StorageError) {
        try connection.write { db in
            try db.execute(sql: "DELETE FROM capture WHERE id = ?", arguments: [capture.rawValue])
        }
        noteControlChange()
    }

    /// Takes what was captured since the last call, in order, out of the database.
    ///
    /// - Returns: the chunks, and whether the capture has ended with them.
    public func takeCapture(_ capture: CaptureID) throws(StorageError) -> (chunks: [CaptureChunk], isComplete: Bool) {
        let found = try connection.read { db in
            let isComplete = try Bool.fetchOne(
                db, sql: "SELECT is_complete FROM capture WHERE id = ?", arguments: [capture.rawValue])
            let rows = try Row.fetchAll(
                db, sql: "SELECT id, packet_count, records FROM capture_chunk WHERE capture_id = ? ORDER BY id",
                arguments: [capture.rawValue])
            let chunks = rows.map { row in
                CaptureChunk(capture: capture, packetCount: row["packet_count"], records: Array(row["records"] as Data))
            }
            // One that is not there any more has ended, too.
            return (chunks: chunks, isComplete: isComplete ?? true, last: rows.last?["id"] as Int64?)
        }
        if let last = found.last {
            try connection.write { db in
                try db.execute(
                    sql: "DELETE FROM capture_chunk WHERE capture_id = ? AND id <= ?", arguments: [capture.rawValue, last])
            }
        }
        return (found.chunks, found.isComplete)
    }

    /// Captures that the acquisition has to care for.
    public func openCaptures() throws(StorageError) -> [CaptureRequest] {
        try connection.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT id, headset_id, desired_state = 'capturing' AND host_boot_id IS ? AS wanted, end_boottime_ns
                    FROM capture WHERE is_complete = 0 ORDER BY id
                    """, arguments: [hostBootID]
            ).map { row in
                CaptureRequest(
                    id: CaptureID(rawValue: row["id"]), headset: HeadsetID(rawValue: row["headset_id"]),
                    isWanted: row["wanted"], end: MonotonicTime(nanoseconds: row["end_boottime_ns"]))
            }
        }
    }
}

/// What a batch has of captures.
extension BatchInsertion {
    /// A capture may have been removed meanwhile: that must cost nothing else.
    func insert(_ chunk: CaptureChunk) throws {
        try execute(
            """
            INSERT INTO capture_chunk (capture_id, packet_count, records)
            SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM capture WHERE id = ?1)
            """, [chunk.capture.rawValue, chunk.packetCount, Data(chunk.records)])
    }

    func markComplete(_ capture: CaptureID) throws {
        try execute("UPDATE capture SET is_complete = 1 WHERE id = ?", [capture.rawValue])
    }
}
