import Headsets
import Storage

/// What a merge has done, or would do.
struct MergeFacts: Facts {
    /// What became of one recording.
    struct Recording: Encodable {
        /// `taken`, `united` or `deleted`.
        var outcome: String
        var uuid: String
        /// Its numbers here and in the other database.
        var recording: Int64?
        var recordingThere: Int64
        var headset: String
        var headsetThere: String?
        var isNewHeadset: Bool
        var isNothingNew: Bool
        var annotations: Int64
        /// Corrections that came in and do not hold: what they correct was corrected or deleted here already.
        var annotationsContradicted: [Int64] = []
        var streams: [Stream]
    }

    /// What became of one stream.
    struct Stream: Encodable {
        var stream: String
        /// Rows that were not here, and values of single channels that rows here lacked.
        var rowsTaken: Int64
        var valuesFilled: Int64
        /// Rows that both have: with the same values, and with others.
        var rowsEqual: Int64
        var rowsDiffering: Int64
        var firstDifferingN: Int64?
        var lastDifferingN: Int64?
        var rowsKeptAside: Int64
        var gapsClosed: Int64
        /// From this n on nothing proves which samples rows of the other database are; they were left there.
        var unprovenFromN: Int64?
        var rowsUnproven: Int64
    }

    /// Two recordings of one headset at once.
    struct Twin: Encodable {
        var recording: Int64
        var otherRecording: Int64
        var headset: String
        var stream: String
        var samplesShared: Int64
        var samplesDiffering: Int64
        var firstDifferingN: Int64?
        var lastDifferingN: Int64?
        /// The one of both that was recorded here, where it lacked samples that the other one has; nil for none.
        var filledRecording: Int64?
        /// Rows, and values of single channels, that came in to it, and gaps that are complete now.
        var rowsTaken: Int64 = 0
        var valuesFilled: Int64 = 0
        var gapsClosed: Int64 = 0
        /// Why none came in: what its audit would find.
        var contradiction: String?
    }

    var file: String
    var database: String
    var isDryRun: Bool
    /// True where an older version has written the file: it was read through a copy that was brought up to date.
    var isOfOlderVersion: Bool
    var isNothingNew: Bool
    /// False where samples differ, or rows were left because nothing proves which samples they are, or evidence contradicts
    /// them.
    var agrees: Bool
    var recordings: [Recording]
    var twins: [Twin]

    init(_ report: MergeReport, file: String, database: String, isDryRun: Bool, isOfOlderVersion: Bool = false) {
        (self.file, self.database, self.isDryRun) = (file, database, isDryRun)
        self.isOfOlderVersion = isOfOlderVersion
        isNothingNew = report.isNothingNew
        agrees =
            report.differing == 0 && report.unproven == 0 && report.twins.allSatisfy { $0.fill?.contradiction == nil }
        recordings = report.recordings.map(Recording.init)
        twins = report.twins.map(Twin.init)
    }

    func lines(style: TerminalStyle) -> [String] {
        var lines = recordings.contains { !$0.streams.isEmpty } ? table.rendered(style: style) : []
        if !lines.isEmpty { lines.append("") }
        lines += recordings.flatMap { $0.sentences(isDryRun: isDryRun, style: style) }
        lines += twins.flatMap { $0.sentences(isDryRun: isDryRun, style: style) }
        if isOfOlderVersion {
            lines.append("\(file) is of an older version of eegsync, and was read through a copy that was brought up to date.")
        }
        lines.append(conclusion(style: style))
        return lines
    }

    private func conclusion(style: TerminalStyle) -> String {
        // What differs, was deleted or is not proven stays where it is.
        let isWhole = agrees && recordings.allSatisfy { $0.recording != nil }
        let state = isWhole ? "has what \(file) has" : "has what could be taken of \(file)"
        if isDryRun { return "Nothing was changed (--dry-run)." }
        if isNothingNew { return style.apply(isWhole ? .good : .caution, to: "Nothing new: \(database) \(state).") }
        return style.apply(isWhole ? .good : .caution, to: "\(database) \(state), and the audit of what changed holds.")
    }

    private var table: TextTable {
        var table = TextTable([
            .init(heading: "RECORDING", alignment: .right), .init(heading: "STREAM"),
            .init(heading: "TAKEN", alignment: .right),
            .init(heading: "FILLED", alignment: .right, dispensability: 1), .init(heading: "EQUAL", alignment: .right),
            .init(heading: "DIFFERING", alignment: .right), .init(heading: "GAPS CLOSED", alignment: .right),
        ])
        for recording in recordings {
            for stream in recording.streams {
                table.append([
                    .init(recording.recording.map(String.init) ?? ""), .init(stream.stream),
                    .init(Quantity.count(stream.rowsTaken)), .init(Quantity.count(stream.valuesFilled)),
                    .init(Quantity.count(stream.rowsEqual)),
                    .init(Quantity.count(stream.rowsDiffering), stream.rowsDiffering > 0 ? .bad : nil),
                    .init(Quantity.count(stream.gapsClosed)),
                ])
            }
        }
        return table
    }
}

extension MergeFacts.Recording {
    init(_ merged: MergedRecording) {
        self.init(
            outcome: merged.outcome.rawValue, uuid: merged.uuid, recording: merged.number,
            recordingThere: merged.numberThere, headset: merged.headset, headsetThere: merged.headsetThere,
            isNewHeadset: merged.isNewHeadset, isNothingNew: merged.isNothingNew, annotations: merged.annotations,
            annotationsContradicted: merged.contradictedAnnotations, streams: merged.streams.map(MergeFacts.Stream.init))
    }

    /// What the table does not say.
    func sentences(isDryRun: Bool, style: TerminalStyle) -> [String] {
        guard let recording else {
            return [
                "Recording \(recordingThere) of \(headset.printable) was deleted here, and stays deleted. It is still in the "
                    + "other database."
            ]
        }
        var lines: [String] = []
        if outcome == MergedRecording.Outcome.taken.rawValue {
            let name = "Recording \(recordingThere) of \((headsetThere ?? headset).printable)"
            lines.append(
                "\(name) \(isDryRun ? "would come" : "came") in as recording \(recording) of \(headset.printable), "
                    + "with \(Quantity.count(annotations, "annotation")).")
        } else if annotations > 0 {
            lines.append("Recording \(recording): \(Quantity.count(annotations, "annotation")) new or withdrawn.")
        }
        if !annotationsContradicted.isEmpty {
            let numbers = annotationsContradicted.map(String.init).joined(separator: ", ")
            let what = "\(Quantity.count(Int64(annotationsContradicted.count), "correction")) of recording \(recording)"
            let outcome = isDryRun ? "would not hold" : "came in withdrawn (\(numbers))"
            lines.append(
                style.apply(.caution, to: "\(what) \(outcome)")
                    + ": the annotation was corrected otherwise, or deleted, here. `eegsync marks list \(recording) --all` "
                    + "shows both.")
        }
        if let headsetThere {
            let why = isNewHeadset ? "another headset here has that name" : "it has that name here"
            lines.append("The headset \(headsetThere.printable) is \(headset.printable) here: \(why).")
        }
        return lines + streams.flatMap { $0.sentences(recording: recording, style: style) }
    }
}

extension MergeFacts.Stream {
    init(_ merged: MergedStream) {
        self.init(
            stream: StreamDescription.bankName(merged.name, merged.bank), rowsTaken: merged.taken,
            valuesFilled: merged.filled, rowsEqual: merged.equal, rowsDiffering: merged.differing,
            firstDifferingN: merged.firstDiffering, lastDifferingN: merged.lastDiffering, rowsKeptAside: merged.keptAside,
            gapsClosed: merged.gapsClosed, unprovenFromN: merged.unprovenFrom, rowsUnproven: merged.unproven)
    }

    /// What does not agree.
    func sentences(recording: Int64, style: TerminalStyle) -> [String] {
        let name = "recording \(recording), \(stream.printable)"
        var lines: [String] = []
        if rowsDiffering > 0, let firstDifferingN, let lastDifferingN {
            lines.append(
                style.apply(.bad, to: "\(Quantity.count(rowsDiffering, "sample")) of \(name) differ")
                    + " (n \(firstDifferingN) to \(lastDifferingN)): what is here stays, what is there is kept aside. "
                    + "SELECT * FROM merge_conflict_value shows both.")
        }
        if rowsUnproven > 0, let unprovenFromN {
            lines.append(
                style.apply(
                    .caution, to: "\(Quantity.count(rowsUnproven, "row")) of \(name) from n \(unprovenFromN) on were left")
                    + " in the other database: both went on from there by themselves, and nothing proves which samples are the "
                    + "same.")
        }
        return lines
    }
}

extension MergeFacts.Twin {
    init(_ twin: TwinComparison) {
        self.init(
            recording: twin.recording, otherRecording: twin.other, headset: twin.headset,
            stream: StreamDescription.bankName(twin.stream, twin.bank), samplesShared: twin.shared,
            samplesDiffering: twin.differing, firstDifferingN: twin.firstDiffering, lastDifferingN: twin.lastDiffering,
            filledRecording: twin.fill?.recording, rowsTaken: twin.fill?.rows ?? 0, valuesFilled: twin.fill?.values ?? 0,
            gapsClosed: twin.fill?.gapsClosed ?? 0, contradiction: twin.fill?.contradiction)
    }

    func sentences(isDryRun: Bool, style: TerminalStyle) -> [String] {
        [comparison(style: style), filling(isDryRun: isDryRun, style: style)].compactMap(\.self)
    }

    /// What both have; nil where that is nothing.
    private func comparison(style: TerminalStyle) -> String? {
        if samplesShared == 0 { return nil }
        let both =
            "Recordings \(recording) and \(otherRecording) have \(Quantity.count(samplesShared, "sample")) of "
            + "\(stream.printable) of \(headset.printable) in common, as its counter says; "
        guard samplesDiffering > 0, let firstDifferingN, let lastDifferingN else { return both + "all agree." }
        return both
            + style.apply(
                .bad, to: "\(Quantity.count(samplesDiffering)) differ, n \(firstDifferingN) to \(lastDifferingN) of the first.")
    }

    /// What one got from the other; nil where there was nothing that it lacked.
    private func filling(isDryRun: Bool, style: TerminalStyle) -> String? {
        guard let filledRecording else { return nil }
        let source = filledRecording == recording ? otherRecording : recording
        let name = "\(stream.printable) of recording \(filledRecording)"
        if let contradiction {
            return style.apply(.caution, to: "Nothing came in to \(name) from recording \(source)")
                + ": its audit would not hold (\(contradiction.printable))."
        }
        var amounts: [String] = []
        if rowsTaken > 0 { amounts.append(Quantity.count(rowsTaken, "sample")) }
        if valuesFilled > 0 { amounts.append("\(Quantity.count(valuesFilled, "value")) of single channels") }
        return "\(amounts.joined(separator: " and ")) that \(name) lacked \(isDryRun ? "would come" : "came") in "
            + "from recording \(source); \(Quantity.count(gapsClosed, "gap")) closed."
    }
}
