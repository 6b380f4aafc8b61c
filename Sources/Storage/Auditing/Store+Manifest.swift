package import Evidence
import Foundation
import GRDB

/// What a manifest says of the streams of a recording.
extension Store {
    /// The streams of a recording as the database has them now, by UUID.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such recording.
    package func manifestStreams(of recording: RecordingID) throws(StorageError) -> [Manifest.Stream] {
        try database.read { db in
            try Self.requireRecording(recording, in: db)
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT o.*, st.uuid AS uuid FROM stream_overview AS o JOIN stream AS st ON st.id = o.stream_id
                    WHERE o.recording_id = ? ORDER BY st.uuid
                    """, arguments: [recording.rawValue])
            return try rows.map { row in
                let id: Int64 = row["stream_id"]
                return Manifest.Stream(
                    uuid: row["uuid"], name: row["stream"], bank: row["bank"], firstN: row.number("first_n"),
                    lastN: row.number("last_n"), rows: row.number("rows") ?? 0, missing: row.number("missing") ?? 0,
                    chains: try ChainEnd.all(of: id, in: db),
                    facts: try Self.facts(of: id, in: db))
            }
        }
    }

    /// What a copy has of the streams of a manifest, and what differs, in words; nothing where it is the same.
    ///
    /// A chain that goes on behind the manifest's last block is no difference: the recording went on.
    package func differences(from manifest: Manifest) throws(StorageError) -> [String] {
        var differences: [String] = []
        for stream in manifest.statement.streams { differences += try self.differences(from: stream) }
        return differences
    }

    /// The same of one stream.
    func differences(from stream: Manifest.Stream) throws(StorageError) -> [String] {
        try database.read { db in
            var differences: [String] = []
            let name = "\(stream.name)\(stream.bank > 0 ? " bank \(stream.bank + 1)" : "")"
            let found = try Int64.fetchOne(db, sql: "SELECT id FROM stream WHERE uuid = ?", arguments: [stream.uuid])
            guard let id = found else {
                let isDeleted = try Deletion.isNoted(stream: stream.uuid, in: db)
                return ["\(name): the stream \(isDeleted ? "was deleted" : "is not there")"]
            }
            for (chain, end) in stream.chains.sorted(by: { $0.key < $1.key }) {
                if let found = try ChainEnd(chain: chain, end: end).contradiction(of: id, in: db) {
                    differences.append("\(name): \(found.words)")
                }
            }
            // While a recording goes on, so do its facts.
            guard try ChainEnd.all(of: id, in: db) == stream.chains else { return differences }
            let facts = try Self.facts(of: id, in: db)
            for (table, sum) in stream.facts.sorted(by: { $0.key < $1.key }) where facts[table] != sum {
                differences.append("\(name): \(table) says something else")
            }
            return differences
        }
    }

    /// The recording that a stream belongs to; nil where there is no such stream.
    package func recording(ofStream uuid: String) throws(StorageError) -> RecordingID? {
        try database.read { db in
            try Int64.fetchOne(db, sql: "SELECT recording_id FROM stream WHERE uuid = ?", arguments: [uuid])
                .map(RecordingID.init)
        }
    }

    /// The sums of the stream's rows, as they are kept; those of arrivals and segments change with a refit.
    private static func facts(of stream: Int64, in db: Database) throws -> [String: String] {
        var facts: [String: String] = [:]
        for table in DigestedTable.all where table.owner == .stream {
            let sum = try Data.fetchOne(
                db, sql: "SELECT sum FROM digest_sum WHERE table_name = ? AND owner_id = ?", arguments: [table.name, stream])
            facts[table.name] = sum.flatMap { Digest(Array($0)) }?.hexadecimal
        }
        return facts
    }
}
