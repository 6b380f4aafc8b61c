import GRDB

/// What a recording was made with, what the headset said, and what people say of it.
package struct Provenance: Hashable, Sendable {
    /// A stretch of links that were made with the same.
    package struct Stretch: Hashable, Sendable {
        /// UTC nanoseconds since 1970; nil where nobody knows what UTC was.
        package var fromUnixNanoseconds: Int64?
        package var linkCount: Int
        package var facts: LinkFacts

        package init(fromUnixNanoseconds: Int64?, linkCount: Int, facts: LinkFacts) {
            self.fromUnixNanoseconds = fromUnixNanoseconds
            self.linkCount = linkCount
            self.facts = facts
        }
    }

    /// Something that the headset said, on all links together.
    package struct Message: Hashable, Sendable {
        /// `message`, `refused` or `undecodable`.
        package var kind: String
        /// Nil for what was not kept, and for bytes.
        package var text: String?
        package var count: Int64
        package var byteCount: Int64
    }

    /// What people say, by ``RecordingField/name``; properties by their key.
    package var fields: [String: String] = [:]
    package var properties: [String: String] = [:]
    package var stretches: [Stretch] = []
    package var messages: [Message] = []

    package init() {}

    /// What a person says in a field; nil for nothing.
    package subscript(field: RecordingField) -> String? {
        if case .property(let key) = field { properties[key] } else { fields[field.name] }
    }

    /// What the latest link was made with.
    package var latest: LinkFacts? { stretches.last?.facts }

    /// So many different texts are read.
    private static let messageMaximum = 200

    static func read(_ recording: RecordingID, in db: Database) throws -> Provenance {
        var provenance = Provenance()
        let key: StatementArguments = [recording.rawValue]
        for table in ["recording", "recording_detail"] {
            let fields = RecordingField.columns.filter { $0.table == table }.map(\.name)
            let column = table == "recording" ? "id" : "recording_id"
            let row = try Row.fetchOne(
                db, sql: "SELECT \(fields.joined(separator: ", ")) FROM \(table) WHERE \(column) = ?", arguments: key)
            for field in fields { provenance.fields[field] = row?[field] }
        }
        let properties = try Row.fetchAll(
            db, sql: "SELECT key, value FROM recording_property WHERE recording_id = ?", arguments: key)
        for row in properties {
            provenance.properties[row[0]] = row[1]
        }
        let links = try Row.fetchAll(
            db,
            sql: """
                SELECT l.began_boottime_ns + (SELECT o.offset_ns FROM clock_offset AS o WHERE o.host_boot_id = l.host_boot_id
                    ORDER BY o.is_synchronised DESC, o.boottime_ns, o.id LIMIT 1) AS unix_ns, p.facts
                FROM link AS l JOIN provenance AS p ON p.id = l.provenance_id WHERE l.recording_id = ? ORDER BY l.id
                """, arguments: key)
        for row in links {
            guard let facts = LinkFacts(json: row["facts"]) else { continue }
            if provenance.stretches.last?.facts == facts {
                provenance.stretches[provenance.stretches.count - 1].linkCount += 1
            } else {
                provenance.stretches.append(Stretch(fromUnixNanoseconds: row.instant("unix_ns"), linkCount: 1, facts: facts))
            }
        }
        provenance.messages = try Row.fetchAll(
            db,
            sql: """
                SELECT m.kind, m.text, sum(m.count) AS count, sum(m.byte_count) AS byte_count
                FROM headset_message AS m JOIN link AS l ON l.id = m.link_id WHERE l.recording_id = ?
                GROUP BY m.kind, m.text ORDER BY m.kind, m.text LIMIT \(messageMaximum)
                """, arguments: key
        ).map { Message(kind: $0["kind"], text: $0["text"], count: $0["count"], byteCount: $0["byte_count"]) }
        return provenance
    }
}

extension Store {
    /// What a recording was made with.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such recording.
    package func provenance(of recording: RecordingID) throws(StorageError) -> Provenance {
        try database.read { db in
            let exists = try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM recording WHERE id = ?)", arguments: [recording.rawValue])
            guard exists == true else { throw StorageError.notFound(what: "recording \(recording.rawValue)") }
            return try Provenance.read(recording, in: db)
        }
    }
}
