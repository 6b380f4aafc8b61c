import Glibc
import Storage

/// The annotations of a recording.
struct MarksFacts: Facts {
    var recording: Int64
    /// True where those are listed too that do not hold any more.
    var all: Bool
    var annotations: [Annotation]

    /// One annotation, as programs get it.
    struct Annotation: Encodable {
        var annotation: Int64
        var recording: Int64
        var onset: String?
        var onsetUnixNanoseconds: Int64?
        var positionSeconds: Double?
        var durationSeconds: Double?
        var description: String
        var source: String
        var view: String?
        var n: Int64?
        var deviceTicks: Int64?
        var code: Int64?
        var replaces: Int64?
        var replacedBy: Int64?
        var withdrawn: String?

        init(_ summary: AnnotationSummary) {
            annotation = summary.number
            recording = summary.recording
            onset = summary.onsetUnixNanoseconds.map(Quantity.time)
            onsetUnixNanoseconds = summary.onsetUnixNanoseconds
            positionSeconds = summary.positionSeconds
            durationSeconds = summary.durationSeconds
            description = summary.description
            source = summary.source
            view = summary.view
            n = summary.n
            deviceTicks = summary.deviceTicks
            code = summary.code
            replaces = summary.replaces
            replacedBy = summary.replacedBy
            withdrawn = summary.withdrawnUnixNanoseconds.map(Quantity.time)
        }
    }

    func lines(style: TerminalStyle) -> [String] {
        lines(style: style, columns: TerminalSize.columns(of: STDOUT_FILENO))
    }

    /// - Parameter columns: how wide a line should be; nil for any width.
    func lines(style: TerminalStyle, columns: Int?) -> [String] {
        if annotations.isEmpty { return ["Recording \(recording) has no annotations."] }
        var headings: [TextTable.Column] = [
            .init(heading: "NUMBER", alignment: .right), .init(heading: "TIME (UTC)"),
            .init(heading: "POSITION", alignment: .right), .init(heading: "LASTS", alignment: .right),
            .init(heading: "SOURCE"), .init(heading: "STREAM"), .init(heading: "N", alignment: .right),
            .init(heading: "CODE", alignment: .right), .init(heading: "TEXT", wraps: true),
        ]
        if all { headings.append(.init(heading: "NOW", wraps: true)) }
        var table = TextTable(headings)
        for annotation in annotations {
            table.append([
                .init(String(annotation.annotation)), .init(annotation.onset ?? "unknown"),
                .init(annotation.positionSeconds.map(Self.position) ?? ""),
                .init(annotation.durationSeconds.map { Quantity.duration(seconds: $0) } ?? ""), .init(annotation.source),
                .init(annotation.view ?? ""), .init(annotation.n.map(Quantity.count) ?? ""),
                .init(annotation.code.map(String.init) ?? ""), .init(annotation.description),
                .init(all ? annotation.state : "", .faint),
            ])
        }
        return table.rendered(style: style, columns: columns)
    }

    /// `1:02:03.250` since the recording's first sample.
    static func position(_ seconds: Double) -> String {
        guard seconds.isFinite, abs(seconds) < 1e9 else { return "unknown" }
        let milliseconds = Int64((abs(seconds) * 1000).rounded())
        func padded(_ value: Int64, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let (minutes, rest) = (milliseconds / 60_000, milliseconds % 60_000)
        let clock = "\(minutes / 60):\(padded(minutes % 60, 2)):\(padded(rest / 1000, 2)).\(padded(rest % 1000, 3))"
        return seconds < 0 && milliseconds > 0 ? "-" + clock : clock
    }
}

extension MarksFacts.Annotation {
    /// What became of it, and what it corrects.
    fileprivate var state: String {
        let past = replaces.map { "corrects \($0)" }
        let present: String? = withdrawn.map { time in
            replacedBy.map { "corrected by \($0), \(time)" } ?? "deleted \(time)"
        }
        return [past, present].compactMap(\.self).joined(separator: "; ")
    }
}

/// What an annotation says now.
struct CorrectedFacts: Facts {
    var annotation: MarksFacts.Annotation

    func lines(style: TerminalStyle) -> [String] {
        let before = annotation.replaces.map { "Annotation \($0)" } ?? "It"
        let time = annotation.onset.map { ", at \($0) UTC" } ?? ""
        return [
            "\(before) is annotation \(annotation.annotation) from now on: \"\(annotation.description.printable)\"\(time). "
                + "What it said before is kept: eegsync marks list \(annotation.recording) --all"
        ]
    }
}

/// What was deleted.
struct DeletedFacts: Facts {
    var deleted: [Int64]

    func lines(style: TerminalStyle) -> [String] {
        let numbers = deleted.map(String.init).joined(separator: ", ")
        return [
            "Annotation\(deleted.count == 1 ? "" : "s") \(numbers) deleted; `eegsync marks list RECORDING --all` shows it."
        ]
    }
}
