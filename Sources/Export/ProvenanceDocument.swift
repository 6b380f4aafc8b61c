import Storage

/// What a sidecar says of what a recording was made with, and of what people say of it.
struct ProvenanceDocument: Codable, Hashable {
    /// Links that were made with the same, one after the other.
    struct Links: Codable, Hashable {
        /// UTC of the first of them; absent where nobody knows.
        var from: String?
        var count: Int
        var facts: LinkFacts
    }

    /// Something that the headset said.
    struct Message: Codable, Hashable {
        /// `message`, `refused` or `undecodable`.
        var kind: String
        /// Absent for bytes, and for what was counted and not kept.
        var text: String?
        var count: Int64
        var byteCount: Int64
    }

    /// What people say, by field.
    var details: [String: String]
    /// What they say under keys of their own.
    var properties: [String: String]
    var links: [Links]
    var messages: [Message]

    init(_ provenance: Provenance) {
        details = provenance.fields
        properties = provenance.properties
        links = provenance.stretches.map { stretch in
            Links(
                from: stretch.fromUnixNanoseconds.map(CivilTime.iso8601), count: stretch.linkCount, facts: stretch.facts)
        }
        messages = provenance.messages.map {
            Message(kind: $0.kind, text: $0.text, count: $0.count, byteCount: $0.byteCount)
        }
    }
}
