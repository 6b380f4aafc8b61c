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

            What was recorded while the clock was not synchronised goes by no age, for nobody knows when it ended; it is \
            named, and --max-size takes it in its turn. While the clock of this machine is not synchronised, no age that is \
            counted from now lets anything go: with such a rule on the command line the exit code is 75 then, and by the \
            configuration 0, as the next run does it.

            Samples go in small transactions, so that a running `eegsync run` waits for none of them. The room inside the \
            file is used by what is recorded next; --max-size counts what the file holds, not how long it is. Deletions that \
            were interrupted are finished first.

            EXAMPLES
              eegsync prune --keep-days 30 --dry-run
              eegsync prune --before 2026-01-01 --yes
              eegsync prune --max-size 20G
              eegsync prune --yes          by the configuration
            """)

    @Option(
        help: ArgumentHelp(
            "Recordings that ended before it: the time of this machine such as '2026-03-01 23:00', UTC such as "
                + "2026-03-01T22:00:00Z, or how long ago, such as 12h, 30d.",
            valueName: "time"))
    var before: PastTime?

    @Option(help: ArgumentHelp("Recordings that ended so many days ago, 1 ... 36500.", valueName: "days"))
    var keepDays: Int?

    @Option(help: ArgumentHelp("The oldest, until the database holds no more: 500M, 20G, 1.5T.", valueName: "size"))
    var maxSize: ByteSize?

    @Flag(help: "Only show what would go.")
    var dryRun = false

    @OptionGroup var consent: Consent
    @OptionGroup var options: DatabaseOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var output: OutputOptions

    /// True where the command line says what goes, and not the configuration.
    private var isStated: Bool { before != nil || keepDays != nil || maxSize != nil }

    func validate() throws {
        if before != nil, keepDays != nil { throw ValidationError("--before and --keep-days say the same: name one.") }
        if let keepDays, !(1...36_500).contains(keepDays) { throw ValidationError("--keep-days must be 1 ... 36500.") }
    }

    func run() throws {
        let path = try options.databasePath()
        let retention = try options.configurationIfPresent()?.retention
        let now = Int64(Date().timeIntervalSince1970 * 1e9)
        guard let rule = rule(retention, now: now, isSynchronised: HostClock.offset().isSynchronised) else {
            throw Failure(
                problem: "neither the command line nor 'retention:' of the configuration says what is to go.",
                consequence: "nothing was changed.", remedy: "name --before, --keep-days or --max-size, or write 'retention:'.",
                code: .usage)
        }
        let store = try options.openReadOnly()
        if !dryRun, let failure = LostDatabase.replacement(at: path) { throw failure }
        var facts = PruneFacts(try store.plan(rule), isDryRun: dryRun)
        facts.skipsAge = rule.skipsAge
        facts.unfinished = try store.deletions().filter { !$0.isComplete }.map(\.recording.rawValue)
        if !dryRun, !(facts.pruned.isEmpty && facts.unfinished.isEmpty) {
            let count = Quantity.count(Int64(facts.pruned.count), "recording")
            try consent.obtain("Delete \(count) for good? --dry-run lists them.")
            facts.follow(try delete(rule, unfinished: facts.unfinished, Housekeeping(path: path)))
        }
        try facts.print(asJSON: output.json, clock: times.clock)
        if let code = exitCode(rule) { throw ExitCode(code.rawValue) }
    }

    /// How it ends; nil for success. A person who names an age wants to know that it did not count, and a timer comes again.
    func exitCode(_ rule: PruningRule) -> Failure.Code? { rule.skipsAge && isStated ? .temporary : nil }

    /// What goes; nil where nobody says it.
    ///
    /// - Parameter isSynchronised: whether the kernel says so of the present clock. An age that is counted from now means
    ///   nothing otherwise; an instant that was named does.
    func rule(_ retention: Configuration.Retention?, now: Int64, isSynchronised: Bool) -> PruningRule? {
        let days = isStated ? keepDays : retention?.keepDays
        let size = isStated ? maxSize : retention?.sizeMaximum
        guard isStated || retention != nil else { return nil }
        var isNamedInstant = false
        if case .at? = before { isNamedInstant = true }
        return PruningRule(
            before: before?.unixNanoseconds(now: now) ?? days.map { now - Int64($0) * 86_400 * 1_000_000_000 },
            isPresentKnown: isSynchronised || isNamedInstant, sizeMaximum: size?.bytes,
            requiresConfirmation: retention?.requiresConfirmation ?? false)
    }

    /// Deletes what the rule says, once what was interrupted is finished.
    private func delete(
        _ rule: PruningRule, unfinished: [Int64], _ housekeeping: Housekeeping
    ) throws -> PruningPlan {
        let control = try housekeeping.control(for: [])
        for recording in unfinished {
            try control.delete(RecordingID(rawValue: recording), means: .prune, housekeeping)
        }
        return try control.prune(rule) { (recording: RecordingID) throws(StorageError) -> Bool in
            try control.delete(
                recording, means: .prune, onlyHeldElsewhere: rule.requiresConfirmation, housekeeping)
        }
    }
}
