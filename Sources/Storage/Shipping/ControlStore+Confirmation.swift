package import Bluetooth
package import Evidence
import Foundation
import GRDB

/// What somebody else holds. None of it is a wish: the acquisition need not look.
extension ControlStore {
    /// Notes up to which block of each chain of a stream a destination holds it; what was noted before counts no more.
    package func confirm(
        _ ends: [BlockEnd], of stream: StreamID, at destination: String, now: MonotonicTime
    ) throws(StorageError) {
        try database.write { db in try note(ends, of: stream, at: destination, now, in: db) }
    }

    /// Notes what a destination says of all streams when it is asked anew, in one transaction: what it does not hold any more,
    /// as after it was replaced by an older backup, counts no more, and whole recordings count once it was compared.
    package func confirm(
        only ends: [StreamID: [BlockEnd]], at destination: String, now: MonotonicTime
    ) throws(StorageError) {
        try database.write { db in
            let noted = try Int64.fetchAll(
                db, sql: "SELECT DISTINCT stream_id FROM confirmation WHERE destination = ?", arguments: [destination])
            for stream in noted.map(StreamID.init) where ends[stream] == nil {
                try note([], of: stream, at: destination, now, in: db)
            }
            for (stream, ends) in ends { try note(ends, of: stream, at: destination, now, in: db) }
            try db.execute(sql: "DELETE FROM whole_confirmation WHERE destination = ?", arguments: [destination])
        }
    }

    /// Notes that a destination holds all of a recording, as it is while that has such a digest.
    package func confirm(
        whole digest: DigestSum, of recording: RecordingID, at destination: String, now: MonotonicTime
    ) throws(StorageError) {
        try database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO whole_confirmation (recording_id, destination, digest, host_boot_id, boottime_ns)
                    SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM recording WHERE id = ?1)
                    ON CONFLICT (recording_id, destination) DO UPDATE SET digest = excluded.digest,
                        host_boot_id = excluded.host_boot_id, boottime_ns = excluded.boottime_ns
                        WHERE digest <> excluded.digest
                    """,
                arguments: [recording.rawValue, destination, Data(digest.bytes), hostBootID, now.nanoseconds])
        }
    }

    /// Notes that a destination does not hold all of a recording, or not any more.
    package func withdraw(wholeOf recording: RecordingID, at destination: String) throws(StorageError) {
        try database.write { db in
            try db.execute(
                sql: "DELETE FROM whole_confirmation WHERE recording_id = ? AND destination = ?",
                arguments: [recording.rawValue, destination])
        }
    }

    private func note(
        _ ends: [BlockEnd], of stream: StreamID, at destination: String, _ now: MonotonicTime, in db: Database
    ) throws {
        let chains = try String.fetchAll(
            db, sql: "SELECT chain FROM confirmation WHERE stream_id = ? AND destination = ?",
            arguments: [stream.rawValue, destination])
        for chain in chains where !ends.contains(where: { $0.chain == chain }) {
            try db.execute(
                sql: "DELETE FROM confirmation WHERE stream_id = ? AND chain = ? AND destination = ?",
                arguments: [stream.rawValue, chain, destination])
        }
        for end in ends {
            try db.execute(
                sql: """
                    INSERT INTO confirmation (stream_id, chain, destination, number, row_count, host_boot_id, boottime_ns)
                    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE EXISTS (SELECT 1 FROM stream WHERE id = ?1)
                    ON CONFLICT (stream_id, chain, destination) DO UPDATE SET number = excluded.number,
                        row_count = excluded.row_count, host_boot_id = excluded.host_boot_id,
                        boottime_ns = excluded.boottime_ns
                        WHERE (number, row_count) <> (excluded.number, excluded.row_count)
                    """,
                arguments: [
                    stream.rawValue, end.chain, destination, end.number, end.rowCount, hostBootID, now.nanoseconds,
                ])
        }
    }
}
