package import Bluetooth
import Foundation
import GRDB

/// Timed requests, such as captures and measurements of impedances: written by a command, followed by the acquisition, removed
/// by the command.
extension ControlStore {
    /// Wants a headset captured or measured, until that is stopped or the time is over. Requests that nobody cares for any more
    /// are removed.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where the database has no such headset.
    package func start<ID: TimedRequestID>(
        _ type: ID.Type, headset: String, at now: MonotonicTime, until end: MonotonicTime
    ) throws(StorageError) -> ID {
        guard let id = try self.headset(named: headset) else { throw StorageError.notFound(what: "headset \(headset)") }
        return try write { db in
            try db.execute(
                sql: "DELETE FROM \(ID.table) WHERE host_boot_id <> ? OR end_boottime_ns < ?",
                arguments: [hostBootID, (now - .seconds(60)).nanoseconds])
            try db.execute(
                sql: """
                    INSERT INTO \(ID.table)
                        (headset_id, desired_state, host_boot_id, requested_boottime_ns, end_boottime_ns)
                    VALUES (?, ?, ?, ?, ?)
                    """, arguments: [id.rawValue, ID.wantedState, hostBootID, now.nanoseconds, end.nanoseconds])
            return ID(rawValue: db.lastInsertedRowID)
        }
    }

    /// Lets a request go on until `end`.
    package func extend<ID: TimedRequestID>(_ request: ID, until end: MonotonicTime) throws(StorageError) {
        try write { db in
            try db.execute(
                sql: "UPDATE \(ID.table) SET end_boottime_ns = ? WHERE id = ?", arguments: [end.nanoseconds, request.rawValue])
        }
    }

    /// Wants a request ended.
    package func stop<ID: TimedRequestID>(_ request: ID) throws(StorageError) {
        try write { db in
            try db.execute(sql: "UPDATE \(ID.table) SET desired_state = 'stopped' WHERE id = ?", arguments: [request.rawValue])
        }
    }

    /// Removes a request, and what was captured; what was measured stays.
    package func remove<ID: TimedRequestID>(_ request: ID) throws(StorageError) {
        try write { db in try db.execute(sql: "DELETE FROM \(ID.table) WHERE id = ?", arguments: [request.rawValue]) }
    }

    /// Whether the acquisition has done with a request; true for one that is not there any more.
    package func isComplete(_ request: some TimedRequestID) throws(StorageError) -> Bool {
        try database.read { db in try Self.isComplete(request, in: db) }
    }

    private static func isComplete<ID: TimedRequestID>(_ request: ID, in db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT is_complete FROM \(ID.table) WHERE id = ?", arguments: [request.rawValue]) ?? true
    }

    /// Takes what was captured since the last call, in order, out of the database.
    ///
    /// - Returns: the chunks, and whether the capture has ended with them.
    package func takeCapture(_ capture: CaptureID) throws(StorageError) -> (chunks: [CaptureChunk], isComplete: Bool) {
        let found = try database.read { db in
            let isComplete = try Self.isComplete(capture, in: db)
            let rows = try Row.fetchAll(
                db, sql: "SELECT id, packet_count, records FROM capture_chunk WHERE capture_id = ? ORDER BY id",
                arguments: [capture.rawValue])
            let chunks = rows.map { row in
                CaptureChunk(capture: capture, packetCount: row["packet_count"], records: Array(row["records"] as Data))
            }
            return (chunks: chunks, isComplete: isComplete, last: rows.last?["id"] as Int64?)
        }
        if let last = found.last {
            try database.write { db in
                try db.execute(
                    sql: "DELETE FROM capture_chunk WHERE capture_id = ? AND id <= ?", arguments: [capture.rawValue, last])
            }
        }
        return (found.chunks, found.isComplete)
    }

    /// What was measured of a headset in the store's boot of the host, in order.
    ///
    /// - Parameters:
    ///   - start: the first instant that counts.
    ///   - position: behind which values are wanted: what the call before gave.
    /// - Returns: the values, and the position behind them.
    package func impedances(
        of headset: String, since start: MonotonicTime, after position: Int64 = 0
    ) throws(StorageError) -> (values: [ImpedanceRecord], position: Int64) {
        try database.read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT i.id, i.recording_id, i.boottime_ns, i.electrode, i.kilohms
                    FROM impedance AS i JOIN recording AS r ON r.id = i.recording_id JOIN headset AS h ON h.id = r.headset_id
                    WHERE h.name = ? AND i.id > ? AND i.host_boot_id = ? AND i.boottime_ns >= ? ORDER BY i.id
                    """, arguments: [headset, position, hostBootID, start.nanoseconds])
            let values = rows.map { row in
                ImpedanceRecord(
                    recording: RecordingID(rawValue: row["recording_id"]),
                    at: MonotonicTime(nanoseconds: row["boottime_ns"]), electrode: row["electrode"], kilohms: row["kilohms"])
            }
            return (values, rows.last?["id"] ?? position)
        }
    }
}
