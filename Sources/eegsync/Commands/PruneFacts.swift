import Storage

/// What went, or would go.
struct PruneFacts: Facts {
    /// One recording.
    struct Recording: Encodable {
        var recording: Int64
        var headset: String
        var label: String?
        /// Its last sample, ISO 8601 with Z; nil where nobody knows.
        var ended: String?
        var endedUnixNanoseconds: Int64?
        var rows: Int64
        /// About.
        var bytes: Int64

        init(_ candidate: PruningCandidate) {
            recording = candidate.recording.rawValue
            (headset, label, rows, bytes) = (candidate.headset, candidate.label, candidate.rows, candidate.bytes)
            ended = candidate.endUnixNanoseconds.map(Quantity.utc)
            endedUnixNanoseconds = candidate.endUnixNanoseconds
        }
    }

    var isDryRun: Bool
    var pruned: [Recording]
    /// Would go, but nobody has confirmed to hold it.
    var unconfirmed: [Recording]
    /// Would go by its age if its clocks were right, but they were never synchronised.
    var untimed: [Recording]
    /// True where no age counted, as the present clock is not synchronised.
    var skipsAge = false
    /// Deletions that were interrupted before.
    var unfinished: [Int64] = []
    /// What the database holds.
    var usedBytes: Int64
    /// About how much more it holds than the rule allows.
    var excessBytes: Int64

    init(_ plan: PruningPlan, isDryRun: Bool) {
        self.isDryRun = isDryRun
        (pruned, unconfirmed) = (plan.pruned.map(Recording.init), plan.unconfirmed.map(Recording.init))
        untimed = plan.untimed.map(Recording.init)
        (usedBytes, excessBytes) = (plan.usedBytes, plan.excessBytes)
    }

    /// Takes over what became of the plan.
    mutating func follow(_ done: PruningPlan) {
        (pruned, unconfirmed) = (done.pruned.map(Recording.init), done.unconfirmed.map(Recording.init))
        untimed = done.untimed.map(Recording.init)
        (usedBytes, excessBytes) = (done.usedBytes, done.excessBytes)
    }

    func lines(style: TerminalStyle) -> [String] {
        var lines = pruned.isEmpty ? [] : table(style: style) + [""]
        let count = Quantity.count(Int64(pruned.count), "recording")
        if pruned.isEmpty {
            lines.append(skipsAge ? "Nothing goes." : "No recording that has ended is old or large enough to go.")
        } else {
            lines.append(
                isDryRun
                    ? "Nothing was deleted: without --dry-run \(count) would go." : style.apply(.good, to: "Deleted: \(count).")
            )
        }
        if !unfinished.isEmpty, !isDryRun {
            lines.append("Finished, as it was interrupted: recording \(unfinished.map(String.init).joined(separator: ", ")).")
        }
        if !unconfirmed.isEmpty {
            let kept = "Kept, as nobody has confirmed to hold it: recording \(Self.numbers(unconfirmed))."
            lines.append(style.apply(.caution, to: kept))
        }
        if !untimed.isEmpty {
            let kept = "Kept whatever its age, as no synchronised clock says when it ended: recording \(Self.numbers(untimed))."
            lines.append(style.apply(.caution, to: "\(kept) `eegsync delete` deletes it."))
        }
        if skipsAge {
            let skipped = "No age counted: the clock of this machine is not synchronised. Run it again when it is."
            lines.append(style.apply(.caution, to: skipped))
        }
        if excessBytes > 0 {
            let excess = "\(Quantity.bytes(excessBytes)) more than the rule allows"
            lines.append(style.apply(.caution, to: "The database still holds about \(excess): the rest must stay."))
        }
        lines.append("The database holds \(Quantity.bytes(usedBytes)).")
        return lines
    }

    private static func numbers(_ recordings: [Recording]) -> String {
        recordings.map { String($0.recording) }.joined(separator: ", ")
    }

    /// What goes, with times by the clock of the style.
    private func table(style: TerminalStyle) -> [String] {
        let ended = style.clock.column("ENDED", of: pruned.map(\.endedUnixNanoseconds))
        var table = TextTable([
            .init(heading: "RECORDING", alignment: .right), .init(heading: "HEADSET"), .init(heading: ended.heading),
            .init(heading: "ROWS", alignment: .right), .init(heading: "ABOUT", alignment: .right), .init(heading: "LABEL"),
        ])
        for recording in pruned {
            table.append([
                .init(String(recording.recording)), .init(recording.headset),
                .init(recording.endedUnixNanoseconds.map(ended.text) ?? "unknown"), .init(Quantity.count(recording.rows)),
                .init(Quantity.bytes(recording.bytes)), .init(recording.label ?? ""),
            ])
        }
        return table.rendered(style: style)
    }
}
