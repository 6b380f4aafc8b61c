import Foundation
import Storage

/// What a recording was made with, and what people say of it, as lines of a report's heading.
struct ProvenanceFacts {
    let contents: RecordingContents
    let summary: RecordingSummary
    /// The machine's UUID; nil where it is not known.
    let machine: String?
    let context: ReportContext

    /// In the order in which people read them. What nobody has said is said to be so where a reader looks for it.
    var facts: [ReportDocument.Fact] {
        let said = contents.provenance.fields
        let latest = contents.provenance.latest
        var facts: [(String, String?, isExpected: Bool)] = [
            ("Subject", contents.subject, true), ("Task", contents.task, false), ("Label", contents.label, false),
            ("Session", said["session"], false), ("Run", said["run"], false), ("Operator", said["operator"], true),
            ("Notes", said["notes"], false),
            ("Headset", "\(contents.headsetName), \(latest?.modelNumber ?? contents.model)", true),
            ("Serial number", contents.serialNumber, true), ("Firmware", latest?.firmwareRevision, true),
            ("Hardware", latest?.hardwareRevision, false), ("Preset", latest?.preset, false),
            ("Montage", latest?.montage?.joined(separator: " "), true), ("Reference", latest?.reference, true),
            ("Ground", latest?.ground, true), ("Filters", Self.filters(latest), true),
            ("Settings", Self.settings(latest), false), ("Host", host(latest), true),
            ("Reached by", Self.route(latest), true), ("Recorded by", latest?.eegsync.map { "eegsync \($0)" }, true),
        ]
        facts += contents.provenance.properties.sorted { $0.key < $1.key }.map { ($0.key, $0.value, false) }
        if let start = contents.startUnixNanoseconds { facts.append(("First sample", context.clock.text(start), true)) }
        if let end = summary.endUnixNanoseconds { facts.append(("Last sample", context.clock.text(end), true)) }
        facts.append(("State", summary.state == .stopped ? "ended" : summary.state.rawValue, true))
        return facts.compactMap { label, value, isExpected in
            if let value, !value.isEmpty { return .init(label, value) }
            return isExpected ? .init(label, "not said") : nil
        }
    }

    /// What it was made with from when on, where that changed.
    var stretches: [ReportTable] {
        guard contents.provenance.stretches.count > 1 else { return [] }
        let rows = contents.provenance.stretches.suffix(50).map { stretch in
            [
                stretch.fromUnixNanoseconds.map(context.clock.text) ?? "unknown", ReportText.count(Int64(stretch.linkCount)),
                stretch.facts.eegsync ?? "", stretch.facts.kernel ?? "", stretch.facts.bluetoothd ?? "",
                stretch.facts.firmwareRevision ?? "", stretch.facts.preset ?? "",
            ]
        }
        return [
            ReportTable(
                caption: "What changed while it was recorded: links that were made with the same, one after the other",
                headings: ["From", "Links", "eegsync", "Kernel", "bluetoothd", "Firmware", "Preset"], rows: rows, numeric: [1])
        ]
    }

    private static func filters(_ facts: LinkFacts?) -> String {
        let notch = facts?.settings?["notch"]?.first
        let headset =
            notch.map { "notch filter of the headset, \($0) Hz" } ?? "those that are built into the headset are not known"
        return "none by eegsync; \(headset)"
    }

    private static func settings(_ facts: LinkFacts?) -> String? {
        let settings = facts?.settings?.filter { $0.key != "notch" }.sorted { $0.key < $1.key }.map { name, values in
            // One for all channels where they are the same.
            "\(name) " + (Set(values).count == 1 ? values[0] : values.joined(separator: " "))
        }
        return settings.flatMap { $0.isEmpty ? nil : $0.joined(separator: ", ") }
    }

    private func host(_ facts: LinkFacts?) -> String? {
        let parts = [machine.map { "machine \($0)" }, facts?.kernel.map { "Linux \($0)" }].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private static func route(_ facts: LinkFacts?) -> String? {
        let parts = [
            facts?.route == "kernel" ? "the kernel's sockets" : facts?.route,
            facts?.bluetoothd.map { "version \($0)" }, facts?.adapter.map { "adapter \($0)" },
        ].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
