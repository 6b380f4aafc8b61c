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
        var withdrawnUnixNanoseconds: Int64?

        init(_ summary: AnnotationSummary) {
            annotation = summary.number
            recording = summary.recording
            onset = summary.onsetUnixNanoseconds.map(Quantity.utc)
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
            withdrawn = summary.withdrawnUnixNanoseconds.map(Quantity.utc)
            withdrawnUnixNanoseconds = summary.withdrawnUnixNanoseconds
        }
    }

    func lines(style: TerminalStyle) -> [String] {
        lines(style: style, columns: style.columns)
    }

    /// - Parameter columns: how wide a line should be; nil for any width.
    func lines(style: TerminalStyle, columns: Int?) -> [String] {
        if annotations.isEmpty { return ["Recording \(recording) has no annotations."] }
        let time = style.clock.column("TIME", of: annotations.map(\.onsetUnixNanoseconds))
        var headings: [TextTable.Column] = [
            .init(heading: "NUMBER", alignment: .right), .init(heading: time.heading),
            .init(heading: "POSITION", alignment: .right, dispensability: 1), .init(heading: "LASTS", alignment: .right),
            .init(heading: "SOURCE", dispensability: 4), .init(heading: "STREAM", dispensability: 3),
            .init(heading: "N", alignment: .right, dispensability: 2),
            .init(heading: "CODE", alignment: .right, dispensability: 1), .init(heading: "TEXT", wraps: true),
        ]
        if all { headings.append(.init(heading: "NOW", wraps: true)) }
        var table = TextTable(headings)
        for annotation in annotations {
            table.append([
                .init(String(annotation.annotation)), .init(annotation.onsetUnixNanoseconds.map(time.text) ?? "unknown"),
                .init(annotation.positionSeconds.map(Quantity.position) ?? ""),
                .init(annotation.durationSeconds.map { Quantity.duration(seconds: $0) } ?? ""), .init(annotation.source),
                .init(annotation.view ?? ""), .init(annotation.n.map(Quantity.count) ?? ""),
                .init(annotation.code.map(String.init) ?? ""), .init(annotation.description),
                .init(all ? annotation.state(by: style.clock) : "", .faint),
            ])
        }
        return table.rendered(style: style, columns: columns)
    }
}

extension MarksFacts.Annotation {
    /// What became of it, and what it corrects.
    fileprivate func state(by clock: WallClock) -> String {
        let past = replaces.map { "corrects \($0)" }
        let present: String? = withdrawnUnixNanoseconds.map { instant in
            let time = clock.text(instant)
            return replacedBy.map { "corrected by \($0), \(time)" } ?? "deleted \(time)"
        }
        return [past, present].compactMap(\.self).joined(separator: "; ")
    }
}

/// What an annotation says now.
struct CorrectedFacts: Facts {
    var annotation: MarksFacts.Annotation

    func lines(style: TerminalStyle) -> [String] {
        let before = annotation.replaces.map { "Annotation \($0)" } ?? "It"
        let time = annotation.onsetUnixNanoseconds.map { ", at \(style.clock.text($0))" } ?? ""
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
