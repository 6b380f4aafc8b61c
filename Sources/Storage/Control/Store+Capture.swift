public import Bluetooth
import Foundation
import GRDB

/// Captures: asked for by a command, followed by the acquisition, taken away by the command.
extension Store {
    /// Wants what goes over the air to and from a headset, until it is stopped or the time is over.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where the database has no such headset.
    public func startCapture(headset: String, at now: MonotonicTime, until end: MonotonicTime) throws(StorageError) -> CaptureID
    {
        CaptureID(rawValue: try start(.capture, headset: headset, at: now, until: end))
    }

    /// Lets a capture go on until `end`.
    public func extendCapture(_ capture: CaptureID, until end: MonotonicTime) throws(StorageError) {
        try extend(.capture, capture.rawValue, until: end)
    }

    /// Wants a capture ended.
    public func stopCapture(_ capture: CaptureID) throws(StorageError) {
        try stop(.capture, capture.rawValue)
    }

    /// Removes a capture and what was captured.
    public func removeCapture(_ capture: CaptureID) throws(StorageError) {
        try remove(.capture, capture.rawValue)
    }

    /// Takes what was captured since the last call, in order, out of the database.
    ///
    /// - Returns: the chunks, and whether the capture has ended with them.
    public func takeCapture(_ capture: CaptureID) throws(StorageError) -> (chunks: [CaptureChunk], isComplete: Bool) {
        let found = try connection.read { db in
            let isComplete = try Self.isComplete(.capture, capture.rawValue, in: db)
            let rows = try Row.fetchAll(
                db, sql: "SELECT id, packet_count, records FROM capture_chunk WHERE capture_id = ? ORDER BY id",
                arguments: [capture.rawValue])
            let chunks = rows.map { row in
                CaptureChunk(capture: capture, packetCount: row["packet_count"], records: Array(row["records"] as Data))
            }
            return (chunks: chunks, isComplete: isComplete, last: rows.last?["id"] as Int64?)
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
        try open(.capture, as: CaptureID.self)
    }
}
