import ArgumentParser
import Foundation
import Storage

extension ByteSize: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

/// `eegsync prune`: old recordings go, by a rule.
struct Prune: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Delete recordings by age or size.",
        discussion: """
            Whole recordings go, the oldest first, and only those that have ended: what is being recorded, or is wanted, \
            stays. Without a rule on the command line, 'retention:' of the configuration counts; eegsync-prune.timer \
            runs it so once an hour. Where that says require_confirmed, nothing goes that no other machine has confirmed \
            to hold, whatever the rule.

            Samples go in small transactions, so that a running `eegsync run` waits for none of them. The room inside the \
            file is used by what is recorded next; --max-size counts what the file holds, not how long it is. Deletions that \
            were interrupted are finished first.

            EXAMPLES
              eegsync prune --keep-days 30 --dry-run
              eegsync prune --before 2026-01-01 --yes
              eegsync prune --max-size 20G
              eegsync prune --yes          by the configuration
            """)

    @Option(help: ArgumentHelp("Recordings that ended before it: a time in UTC, or how long ago.", valueName: "time"))
    var before: PastTime?

    @Option(help: ArgumentHelp("Recordings that ended so many days ago, 1 ... 36500.", valueName: "days"))
    var keepDays: Int?

    @Option(help: ArgumentHelp("The oldest, until the database holds no more: 500M, 20G, 1.5T.", valueName: "size"))
    var maxSize: ByteSize?

    @Flag(help: "Only show what would go.")
    var dryRun = false

    @OptionGroup var consent: Consent
    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if before != nil, keepDays != nil { throw ValidationError("--before and --keep-days say the same: name one.") }
        if let keepDays, !(1...36_500).contains(keepDays) { throw ValidationError("--keep-days must be 1 ... 36500.") }
    }

    func run() throws {
        let path = try options.databasePath()
        let retention = try options.configurationIfPresent()?.retention
        guard let rule = rule(retention, now: Int64(Date().timeIntervalSince1970 * 1e9)) else {
            throw Failure(
                problem: "neither the command line nor 'retention:' of the configuration says what is to go.",
                consequence: "nothing was changed.", remedy: "name --before, --keep-days or --max-size, or write 'retention:'.",
                code: .usage)
        }
        let store = try options.openReadOnly()
        var facts = PruneFacts(try store.plan(rule), isDryRun: dryRun)
        facts.unfinished = try store.deletions().filter { !$0.isComplete }.map(\.recording.rawValue)
        if !dryRun, !(facts.pruned.isEmpty && facts.unfinished.isEmpty) {
            let count = Quantity.count(Int64(facts.pruned.count), "recording")
            try consent.obtain("Delete \(count) for good? --dry-run lists them.")
            facts.pruned = try delete(rule, facts, Housekeeping(path: path))
            facts.setUsed(try store.plan(rule))
        }
        try facts.print(asJSON: output.json)
    }

    /// What goes; nil where nobody says it.
    func rule(_ retention: Configuration.Retention?, now: Int64) -> PruningRule? {
        let isStated = before != nil || keepDays != nil || maxSize != nil
        let days = isStated ? keepDays : retention?.keepDays
        let size = isStated ? maxSize : retention?.sizeMaximum
        guard isStated || retention != nil else { return nil }
        return PruningRule(
            before: before?.unixNanoseconds(now: now) ?? days.map { now - Int64($0) * 86_400 * 1_000_000_000 },
            sizeMaximum: size?.bytes, requiresConfirmation: retention?.requiresConfirmation ?? false)
    }

    /// Deletes what the rule says, recording by recording: how much each gives back shows when it is gone.
    private func delete(
        _ rule: PruningRule, _ facts: PruneFacts, _ housekeeping: Housekeeping
    ) throws -> [PruneFacts.Recording] {
        let control = try housekeeping.control(for: [])
        for recording in facts.unfinished {
            try control.delete(RecordingID(rawValue: recording), means: .prune, housekeeping)
        }
        var gone: [PruneFacts.Recording] = []
        while let next = try control.plan(rule).pruned.first {
            try control.delete(next.recording, means: .prune, housekeeping)
            gone.append(PruneFacts.Recording(next))
        }
        return gone
    }
}

/// What went, or would go.
struct PruneFacts: Facts {
    /// One recording.
    struct Recording: Encodable {
        var recording: Int64
        var headset: String
        var label: String?
        /// Its last sample, ISO 8601; nil where nobody knows.
        var ended: String?
        var rows: Int64
        /// About.
        var bytes: Int64

        init(_ candidate: PruningCandidate) {
            recording = candidate.recording.rawValue
            (headset, label, rows, bytes) = (candidate.headset, candidate.label, candidate.rows, candidate.bytes)
            ended = candidate.endUnixNanoseconds.map(Quantity.time)
        }
    }

    var isDryRun: Bool
    var pruned: [Recording]
    /// Would go, but nobody has confirmed to hold it.
    var unconfirmed: [Recording]
    /// Deletions that were interrupted before.
    var unfinished: [Int64] = []
    /// What the database holds.
    var usedBytes: Int64
    /// About how much more it holds than the rule allows.
    var excessBytes: Int64

    init(_ plan: PruningPlan, isDryRun: Bool) {
        self.isDryRun = isDryRun
        (pruned, unconfirmed) = (plan.pruned.map(Recording.init), plan.unconfirmed.map(Recording.init))
        (usedBytes, excessBytes) = (plan.usedBytes, plan.excessBytes)
    }

    mutating func setUsed(_ plan: PruningPlan) { (usedBytes, excessBytes) = (plan.usedBytes, plan.excessBytes) }

    func lines(style: TerminalStyle) -> [String] {
        var lines: [String] = []
        if !pruned.isEmpty {
            var table = TextTable([
                .init(heading: "RECORDING", alignment: .right), .init(heading: "HEADSET"), .init(heading: "ENDED (UTC)"),
                .init(heading: "ROWS", alignment: .right), .init(heading: "ABOUT", alignment: .right),
                .init(heading: "LABEL"),
            ])
            for recording in pruned {
                table.append([
                    .init(String(recording.recording)), .init(recording.headset), .init(recording.ended ?? ""),
                    .init(Quantity.count(recording.rows)), .init(Quantity.bytes(recording.bytes)),
                    .init(recording.label ?? ""),
                ])
            }
            lines = table.rendered(style: style) + [""]
        }
        let count = Quantity.count(Int64(pruned.count), "recording")
        if pruned.isEmpty {
            lines.append("No recording that has ended is old or large enough to go.")
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
            let numbers = unconfirmed.map { String($0.recording) }.joined(separator: ", ")
            lines.append(style.apply(.caution, to: "Kept, as nobody has confirmed to hold it: recording \(numbers)."))
        }
        if excessBytes > 0 {
            let excess = "\(Quantity.bytes(excessBytes)) more than the rule allows"
            lines.append(style.apply(.caution, to: "The database still holds about \(excess): the rest must stay."))
        }
        lines.append("The database holds \(Quantity.bytes(usedBytes)).")
        return lines
    }
}
