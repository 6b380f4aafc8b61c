import ArgumentParser
import Storage

/// `eegsync recordings show`: what a recording was made with.
struct ShowRecording: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what a recording was made with, what the headset said, and what people say of it.",
        discussion: """
            EXAMPLE
              eegsync recordings show 3
            """)

    @Argument(help: RecordingName.help)
    var recording: RecordingName

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let store = try options.openReadOnly()
        let recording = try recording.number(in: store)
        let provenance = try store.provenance(of: RecordingID(rawValue: recording))
        try ProvenanceFacts(recording: recording, provenance).print(asJSON: output.json, clock: times.clock)
    }
}

/// What a recording was made with.
struct ProvenanceFacts: Facts {
    /// Links that were made with the same, one after the other.
    struct Links: Encodable {
        /// When the first of them began, UTC; nil where nobody knows.
        var from: String?
        var fromUnixNanoseconds: Int64?
        var count: Int
        var facts: LinkFacts
    }

    /// Something that the headset said.
    struct Message: Encodable {
        var kind: String
        var text: String?
        var count: Int64
        var bytes: Int64
    }

    var recording: Int64
    /// What people say, by field.
    var details: [String: String]
    /// What they say under keys of their own.
    var properties: [String: String]
    var links: [Links]
    var messages: [Message]

    init(recording: Int64, _ provenance: Provenance) {
        self.recording = recording
        details = provenance.fields
        properties = provenance.properties
        links = provenance.stretches.map {
            Links(
                from: $0.fromUnixNanoseconds.map(Quantity.utc), fromUnixNanoseconds: $0.fromUnixNanoseconds,
                count: $0.linkCount, facts: $0.facts)
        }
        messages = provenance.messages.map {
            Message(kind: $0.kind, text: $0.text, count: $0.count, bytes: $0.byteCount)
        }
    }

    func lines(style: TerminalStyle) -> [String] {
        var lines = ["Recording \(recording)"]
        let named = RecordingField.columns.compactMap { field in details[field.name].map { (field.name, $0) } }
        lines += Self.aligned(named + properties.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        for stretch in links {
            let links = stretch.count == 1 ? "1 link" : "\(Quantity.count(Int64(stretch.count))) links"
            let from = stretch.fromUnixNanoseconds.map { "from \(style.clock.text($0)), " } ?? ""
            lines += ["", "Made with, \(from)\(links)"]
            lines += Self.aligned(Self.pairs(stretch.facts))
        }
        if links.isEmpty {
            lines += [
                "",
                "Nothing is known of what it was made with: there was no link to its headset yet, or an earlier version "
                    + "recorded it.",
            ]
        }
        guard !messages.isEmpty else { return lines }
        lines += ["", "The headset said"]
        lines += Self.aligned(
            messages.map { message in
                let times = message.count == 1 ? "once" : "\(Quantity.count(message.count)) times"
                let text = message.text.map { "\"\($0)\", " } ?? ""
                let bytes = message.kind == "undecodable" ? ", \(Quantity.count(message.bytes)) bytes" : ""
                return (message.kind, text + times + bytes)
            })
        return lines
    }

    private static func pairs(_ facts: LinkFacts) -> [(String, String)] {
        let settings = facts.settings?.sorted { $0.key < $1.key }.map { name, values in
            // One for all channels where they are the same.
            "\(name) " + (Set(values).count == 1 ? values[0] : values.joined(separator: " "))
        }
        let all: [(String, String?)] = [
            ("model", facts.model), ("model number", facts.modelNumber), ("firmware", facts.firmwareRevision),
            ("hardware", facts.hardwareRevision), ("software", facts.softwareRevision), ("preset", facts.preset),
            ("settings", settings?.joined(separator: ", ")), ("montage", facts.montage?.joined(separator: " ")),
            ("reference", facts.reference), ("ground", facts.ground), ("eegsync", facts.eegsync), ("route", facts.route),
            ("adapter", facts.adapter), ("bluetoothd", facts.bluetoothd), ("kernel", facts.kernel),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }

    private static func aligned(_ pairs: [(String, String)]) -> [String] {
        let width = pairs.map(\.0.count).max() ?? 0
        return pairs.map { name, value in
            "  \(name.printable)\(String(repeating: " ", count: width - name.count + 2))\(value.printable)"
        }
    }
}
