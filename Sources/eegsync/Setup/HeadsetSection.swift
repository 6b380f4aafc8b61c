import Bluetooth
import Headsets

/// The part `headsets:` of a configuration's text, written anew. Every other line stays as a person wrote it.
struct HeadsetSection {
    /// Why the text cannot be changed.
    enum Refusal: Error, Hashable {
        /// The text is written in a way that this does not understand.
        case unusual
    }

    /// The text; nil where there is no configuration yet.
    let text: String?
    /// What the text says.
    let configuration: Configuration
    /// Reads a text, as ``ConfigurationParser`` does with the models that there are.
    let parse: (String) -> Configuration?

    /// The text with these headsets. Those of the file stay where a person has said of them which they are, or anything else
    /// beyond a model, unless they have the name or an address of a new one.
    ///
    /// - Throws: ``Refusal``. What is returned says the same as before but for the headsets: it was read to be sure.
    func changed(to headsets: [NamedHeadset]) throws(Refusal) -> String {
        let entries = headsets.map(Self.entry)
        guard let text else { return Self.fresh(database: configuration.databasePath, entries: entries) }
        let kept = configuration.headsets.indices.filter { isKept(configuration.headsets[$0], beside: headsets) }
        let result = try replaced(text, kept: kept, entries: entries)
        guard let read = parse(result) else { throw .unusual }
        var expected = configuration
        expected.headsets = read.headsets
        let names = kept.map { configuration.headsets[$0] }
        guard read == expected, Array(read.headsets.prefix(names.count)) == names,
            read.headsets.dropFirst(names.count).map(\.name) == headsets.map(\.name)
        else { throw .unusual }
        return result
    }

    private func isKept(_ headset: Configuration.Headset, beside new: [NamedHeadset]) -> Bool {
        if new.contains(where: { $0.name == headset.name || headset.identifiers.contains($0.candidate.identifier) }) {
            return false
        }
        let bare = Configuration.Headset(name: headset.name, model: headset.model, descriptor: headset.descriptor)
        return headset != bare
    }

    private func replaced(_ text: String, kept: [Int], entries: [[String]]) throws(Refusal) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("headsets:") }) else { throw .unusual }
        // Up to the next key of the document; comments before that belong to it.
        var end =
            lines[(start + 1)...].firstIndex { line in
                guard let first = line.first else { return false }
                return first != " " && first != "\t" && first != "#" && !line.hasPrefix("- ") && line != "-"
            } ?? lines.count
        while end > start + 1, lines[end - 1].isEmpty || lines[end - 1].hasPrefix("#") { end -= 1 }
        var items: [[String]] = []
        var indent = "  "
        if !kept.isEmpty {
            let body = Array(lines[(start + 1)..<end])
            guard let first = body.first(where: { $0.drop { $0 == " " }.hasPrefix("- ") }) else { throw .unusual }
            indent = String(first.prefix { $0 == " " })
            let starts = body.indices.filter { body[$0].hasPrefix(indent + "- ") }
            guard starts.count == configuration.headsets.count else { throw .unusual }
            items = kept.map { index in
                Array(body[starts[index]..<(index + 1 < starts.count ? starts[index + 1] : body.count)])
            }
        }
        let new = entries.map { $0.map { indent + $0 } }
        lines.replaceSubrange(start..<end, with: ["headsets:"] + items.flatMap(\.self) + new.flatMap(\.self))
        return lines.joined(separator: "\n")
    }

    /// The lines of one headset, bound to what it proved and to its address.
    private static func entry(_ headset: NamedHeadset) -> [String] {
        var lines = ["- name: \(quoted(headset.name))", "  model: \(headset.candidate.model)"]
        if let serial = headset.serialNumber, isWritable(serial) { lines.append("  serial: \(quoted(serial))") }
        // An address that changes every few minutes is nobody's.
        if !headset.candidate.identifier.isResolvablePrivate {
            lines.append("  identifiers: [\"\(headset.candidate.identifier)\"]")
        }
        return lines
    }

    /// A serial number comes over the air and may be anything.
    private static func isWritable(_ serial: String) -> Bool {
        (1...64).contains(serial.unicodeScalars.count) && serial.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value < 127 }
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private static func fresh(database: String, entries: [[String]]) -> String {
        """
        # Configuration of eegsync, written by `eegsync setup`. `systemctl reload eegsync` reads it again;
        # `eegsync configuration check` says what is wrong after a change.
        database: \(quoted(database))
        headsets:
        \(entries.flatMap { $0.map { "  " + $0 } }.joined(separator: "\n"))

        """
    }
}
