import Foundation
import Rehearsal

/// What a demo did.
struct DemoFacts: Facts {
    var seed: UInt64
    var seconds: Int
    var wallSeconds: Double
    var database: String
    var timeline: [DemoEvent]
    var audit: AuditFacts
    var files: [ExportFacts.File]

    /// True where every file holds all samples of its streams, and what is missing of them is either filled or left out whole.
    var exportsAreWhole: Bool {
        !files.isEmpty
            && files.allSatisfy { file in
                !file.streams.isEmpty && file.streams.allSatisfy { isWhole($0) }
            }
    }

    private func isWhole(_ exported: ExportFacts.Stream) -> Bool {
        let audited = audit.streams.filter { $0.stream == exported.name }
        let missing = audited.reduce(0) { $0 + $1.missing }
        return exported.rows == audited.reduce(0) { $0 + $1.rows } && [0, missing].contains(exported.filled)
    }

    /// Its commands are there to be copied.
    var wrapsLines: Bool { false }

    func lines(style: TerminalStyle) -> [String] {
        var lines = [
            style.apply(
                .heading,
                to: "\(Quantity.duration(.seconds(seconds))) of a simulated headset: 8 channels of EEG, 250 Hz, with memory")
                + style.apply(.faint, to: String(format: " (played in %.1f s, seed \(seed))", wallSeconds)),
            "",
        ]
        lines += timeline.map { line($0, style: style) }
        lines += [""] + audit.lines(style: style)
        guard audit.holds else { return lines }
        lines += ["", style.apply(.heading, to: "Files")]
        lines.append("  \(database)")
        for file in files { lines.append("  \(file.path)" + style.apply(.faint, to: "  \(Quantity.bytes(file.bytes))")) }
        let recording = audit.streams.first?.recording ?? 1
        lines += [
            "", style.apply(.heading, to: "Look at it yourself"),
            "  sqlite3 -readonly \(database) 'SELECT time, Fp1 FROM eeg_1 ORDER BY n LIMIT 5'",
            "  eegsync gaps \(recording) --database \(database)",
            "  python3 -c \"import mne; print(mne.io.read_raw_edf('\(files.first?.path ?? "")').annotations)\"",
        ]
        return lines
    }

    private func line(_ event: DemoEvent, style: TerminalStyle) -> String {
        let time = Quantity.position(event.seconds)
        let isWorld = event.actor == .world
        let text: String
        switch event.kind {
        case "streaming", "recovered": text = style.apply(.good, to: event.text)
        case "gapOpened", "linkLost": text = style.apply(.bad, to: event.text)
        case "gap", "missing": text = style.apply(.caution, to: event.text)
        default: text = isWorld ? style.apply(.heading, to: event.text) : event.text
        }
        return style.apply(.faint, to: time) + (isWorld ? "  " : "    eegsync  ") + text
    }
}
