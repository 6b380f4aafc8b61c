/// A recording with all that belongs to it but samples, as a centre is sent it: JSON, by table and row, so that only rows that
/// have changed are sent again. See the functions `ship_recording` and `ship_changes` of the centre.
package struct RecordingDocument: Hashable, Sendable {
    /// A row.
    struct Line: Hashable, Sendable {
        /// A JSON object of what distinguishes it from the other rows of its table.
        var key: String
        /// A JSON object.
        var json: String
    }

    /// A table.
    struct Table: Hashable, Sendable {
        var name: String
        var lines: [Line]
    }

    /// A stream.
    struct Stream: Hashable, Sendable {
        var uuid: String
        /// Members of a JSON object.
        var own: String
        var tables: [Table]
        /// The last blocks: from that on, in each chain, which was the last one before.
        var blocks: Table
        /// The last one of each chain that is among them.
        var lastBlocks: [BlockEnd] = []
    }

    /// The recording's UUID.
    var uuid: String
    /// Members of a JSON object: the recording itself, the headset, what people say of it.
    var head: String
    var tables: [Table]
    var streams: [Stream]
    /// False where more blocks are to come than one document has.
    var hasAllBlocks = true

    /// All of it.
    package var json: String {
        let streams = streams.map { stream in
            "{\(stream.own),\(Self.whole(stream.tables + [stream.blocks]))}"
        }
        return "{\(head),\(Self.whole(tables)),\"stream\":[\(streams.joined(separator: ","))]}"
    }

    private static func whole(_ tables: [Table]) -> String {
        tables.map { member($0.name, $0.lines.map(\.json)) }.joined(separator: ",")
    }

    private static func member(_ name: String, _ elements: [String]) -> String {
        "\(ShippingDocument.quoted(name)):[\(elements.joined(separator: ","))]"
    }

    /// Tables of what people said, and what was computed anew, which a centre compares as a whole.
    private static let undivided: Set = ["annotation", "recording_edit", "channel_correction", "refit"]

    /// All of it, in documents of bounded size: the first one is for `ship_recording`, the others are changes of it.
    ///
    /// - Parameter limit: rows of a table that one of them has.
    package func parts(lineLimit limit: Int) -> [String] {
        var first = self
        var others: [String] = []
        for index in tables.indices where tables[index].lines.count > limit && !Self.undivided.contains(tables[index].name) {
            first.tables[index].lines = Array(tables[index].lines.prefix(limit))
            others += Self.chunks(tables[index], limit).map { "{\(head),\($0),\"stream\":[]}" }
        }
        for (number, stream) in streams.enumerated() {
            for index in stream.tables.indices where stream.tables[index].lines.count > limit {
                first.streams[number].tables[index].lines = Array(stream.tables[index].lines.prefix(limit))
                others += Self.chunks(stream.tables[index], limit).map { "{\(head),\"stream\":[{\(stream.own),\($0)}]}" }
            }
        }
        return [first.json] + others
    }

    /// Members of a JSON object, each with so many rows of a table, but for the first ones.
    private static func chunks(_ table: Table, _ limit: Int) -> [String] {
        stride(from: limit, to: table.lines.count, by: limit).map { start in
            member(table.name, table.lines[start..<min(start + limit, table.lines.count)].map(\.json))
        }
    }

    /// A hash, good for this process, of what streams and channels are called.
    package var names: Int {
        var hasher = Hasher()
        for stream in streams {
            hasher.combine(stream.own)
            for table in stream.tables where table.name == "channel" { hasher.combine(table.lines) }
        }
        for table in tables where table.name == "channel_declaration" { hasher.combine(table.lines) }
        return hasher.finalize()
    }

    /// What is to be kept of it once it is sent.
    package var sent: SentDocument {
        var rows: [String: [String: Int]] = [:]
        for table in tables { rows[table.name] = Self.hashes(table) }
        for stream in streams {
            for table in stream.tables + [stream.blocks] { rows[stream.uuid + table.name] = Self.hashes(table) }
        }
        let own = streams.map { ($0.uuid, $0.own.hashValue) }
        return SentDocument(head: head.hashValue, rows: rows, streams: Dictionary(own) { first, _ in first })
    }

    private static func hashes(_ table: Table) -> [String: Int] {
        Dictionary(table.lines.map { ($0.key, $0.json.hashValue) }) { first, _ in first }
    }

    /// What has changed since a document was sent; nil for nothing.
    ///
    /// - Parameter repeatsHead: whether the recording itself, its headset and what people say of it are there where they are as
    ///   they were, too. Without them a document has the recording's UUID alone.
    package func changes(since sent: SentDocument, repeatsHead: Bool) -> String? {
        var streams: [String] = []
        for stream in self.streams {
            let blocks = Self.changedLines(stream.blocks, sent.rows[stream.uuid + stream.blocks.name])
            let parts = [
                Self.changes(stream.tables, sent) { stream.uuid + $0 },
                blocks.isEmpty ? nil : Self.member(stream.blocks.name, blocks),
            ].compactMap(\.self)
            if parts.isEmpty, sent.streams[stream.uuid] == stream.own.hashValue { continue }
            streams.append("{\(([stream.own] + parts).joined(separator: ","))}")
        }
        let changes = Self.changes(tables, sent) { $0 }
        let isSameHead = sent.head == head.hashValue
        if streams.isEmpty, changes == nil, isSameHead { return nil }
        let ownHead = isSameHead && !repeatsHead ? "\"recording\":{\"uuid\":\(ShippingDocument.quoted(uuid))}" : head
        let parts = [ownHead, changes, Self.member("stream", streams)].compactMap(\.self)
        return "{\(parts.joined(separator: ","))}"
    }

    private static func changedLines(_ table: Table, _ before: [String: Int]?) -> [String] {
        table.lines.filter { before?[$0.key] != $0.json.hashValue }.map(\.json)
    }

    /// Members of a JSON object: rows of tables that are new or have changed, and keys of those that are gone; nil for none.
    private static func changes(_ tables: [Table], _ sent: SentDocument, name: (String) -> String) -> String? {
        var members: [String] = []
        var removed: [String] = []
        for table in tables {
            let before = sent.rows[name(table.name)] ?? [:]
            let changed = changedLines(table, before)
            if !changed.isEmpty { members.append(member(table.name, changed)) }
            let present = Set(table.lines.map(\.key))
            let gone = before.keys.filter { !present.contains($0) }.sorted()
            if !gone.isEmpty { removed.append(member(table.name, gone)) }
        }
        if !removed.isEmpty { members.append("\"removed\":{\(removed.joined(separator: ","))}") }
        return members.isEmpty ? nil : members.joined(separator: ",")
    }
}

/// What a centre was sent of a recording: of each row a hash that is good for this process.
package struct SentDocument: Hashable, Sendable {
    fileprivate var head: Int
    /// By table, those of streams with their UUID before, and by key.
    fileprivate var rows: [String: [String: Int]]
    fileprivate var streams: [String: Int]
}
