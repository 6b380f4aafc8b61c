import ArgumentParser
import Bluetooth
import Foundation
import Storage

/// `eegsync status`: what each headset does, what it waits for, and what a person can do.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what each headset does, what it waits for, and what you can do.",
        discussion: """
            Reads the database only, so it also shows how things stood when `eegsync run` ended. Whether something is stored \
            is judged by what is committed: a full disk, a stopped process and a database that another program holds are named.

            Exit code 0 where everything that is wanted is being stored, 75 where something is not and eegsync works on it, 69 \
            where only a person can change it. A pause is wanted.

            EXAMPLES
              eegsync status
              eegsync status --watch
              eegsync status --json
            """)

    /// How often --watch looks; the daemon commits once a second while somebody follows.
    private static let watchInterval = Duration.seconds(1)

    @Flag(help: "Keep looking, until Ctrl-C.")
    var watch = false

    @Flag(help: "One line and exit code 0 ... 3 for Nagios and the like, as `eegsync alerts check`.")
    var check = false

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if check && (watch || output.json) {
            throw ValidationError("--check prints one line and ends: give it without --watch and --json.")
        }
    }

    func run() async throws {
        if check { return try AlertsCommand.Check.run(options) }
        let store = try options.openReadOnly()
        let configuration = (try? options.configurationIfPresent()).flatMap { $0.names(store.path) ? $0 : nil }
        // While somebody looks, transactions come each second.
        let follower = watch ? store.path.flatMap(Follower.init(database:)) : nil
        defer { withExtendedLifetime(follower) {} }
        while true {
            let facts = try StatusFacts(store: store, configuration: configuration, now: HostClock.now)
            guard watch, !output.json else {
                try facts.print(asJSON: output.json, clock: times.clock)
                guard watch else {
                    if facts.severity.exitCode != 0 { throw ExitCode(facts.severity.exitCode) }
                    return
                }
                try StandardOutput.flush()
                try await Task.sleep(for: Self.watchInterval)
                continue
            }
            let isTerminal = isatty(STDOUT_FILENO) == 1
            var style = TerminalStyle.detected(for: STDOUT_FILENO)
            style.clock = times.clock
            print(facts.frame(isTerminal: isTerminal, style: style), terminator: "")
            try StandardOutput.flush()
            try await Task.sleep(for: Self.watchInterval)
        }
    }
}

/// How things stand.
struct StatusFacts: Facts {
    /// One headset.
    struct Headset: Encodable {
        var name: String
        var model: String
        var serialNumber: String?
        var recording: Int64?
        /// Whether a person wants it recorded.
        var isWanted = false
        /// The name of the connection state.
        var state: String?
        var severity: HeadsetSituation.Severity
        var sentence: String
        var remedy: String?
        /// For how long that has lasted; nil where that is not known.
        var stateSeconds: Double?
        var batteryPercent: Double?
        /// What is wrong with the signals of a headset that streams, in one sentence; nil where nothing is.
        var signal: String?
        /// What a person should decide about its address.
        var address: AddressSituation?
        /// What is wrong with the times of a headset that streams, or with the rate of its samples.
        var timeWarnings: [TimeSituation.Warning] = []
        var streams: [Stream]
        /// What ends or begins by itself; nil for a headset that was never recorded.
        var schedule: TimedSituation?
    }

    /// The worst of what is wanted.
    var severity = HeadsetSituation.Severity.idle
    /// Why nothing is stored although the daemon runs; nil where it is, as far as can be seen.
    var storage: StorageSituation?
    var database: String?
    var databaseBytes: Int64
    var freeBytes: Int64?
    /// How long the disk lasts while every headset of a running recording streams.
    var daysLeft: Double?
    var daemonPid: Int32?
    /// Whether the daemon may choose intervals and supervision timeouts (CAP_NET_ADMIN); nil where that is not known, or where
    /// no radio is used.
    var choosesConnectionParameters: Bool?
    /// Nil while the write-ahead log is within its bound.
    var grownLog: GrownLog?
    /// Why nobody is notified of anything although the configuration wants it; nil where that is not so.
    var alertsProblem: String?
    /// What is written to the disk of the database; nil where the kernel does not say.
    var diskWear: DiskWear?
    /// Deaths of the last day, and whether the process waits because of them; nil where none died.
    var deaths: DeathSituation?
    /// That the database came from another machine, and nobody has said how; nil where that is not so.
    var machine: MachineSituation?
    /// For how long nothing has been recorded because a person wants it so; nil where what is wanted is recorded.
    var pausedSeconds: Double?
    var headsets: [Headset]

    /// - Parameter configuration: nil where there is none, or none that can be read.
    init(store: some Store, configuration: Configuration?, now: MonotonicTime) throws {
        let process = store.path.flatMap { DaemonPresence.process(database: $0) }
        try self.init(store: store, configuration: configuration, now: now, process: process)
    }

    /// - Parameters:
    ///   - configuration: nil where there is none, or none that can be read.
    ///   - process: that acquires; nil for none.
    init(store: some Store, configuration: Configuration?, now: MonotonicTime, process: DaemonProcess?) throws {
        let configured = configuration?.headsets
        let pid = process?.pid
        let activities = try store.headsets(at: now)
        let size = try store.size()
        let wall = HostClock.offset().offsetNanoseconds + now.nanoseconds
        let pause = try store.pause()
        let judgement = try StorageJudgement(
            store, activities, process: process, commitInterval: configuration?.limits.commitInterval, now: now,
            wallNanoseconds: wall)
        storage = judgement.situation
        database = store.path
        databaseBytes = size.bytes
        freeBytes = size.freeBytes
        daemonPid = pid
        let others: Set<Int32> = [getpid(), pid ?? getpid()]
        grownLog = WriteAheadLogInspection(files: SystemFiles(), others: others).grownLog(of: store)
        if let pid, configuration?.central.usesRadio == true {
            choosesConnectionParameters = SystemFiles().hasNetworkAdministration(pid: "\(pid)")
        }
        let rows = try store.recordings().reduce(0) { $0 + $1.rows }
        daysLeft = Self.daysLeft(size: size, bytesPerRow: try store.bytesPerRow(rows: rows), activities: activities)
        alertsProblem = configuration?.alertsSentence
        diskWear = try DiskWear(store, isRunning: process != nil, files: SystemFiles(), now: now)
        deaths = try DeathSituation(store, isRunning: process != nil, now: now, wallNanoseconds: wall)
        machine = try MachineSituation(store)
        let pausedSeconds = pause.map { judgement.age($0) ?? 0 }
        self.pausedSeconds = pausedSeconds
        headsets = activities.map { activity in
            let around = judgement.surroundings(
                of: activity, isPaused: pause != nil,
                isConfigured: configured?.contains { $0.name == activity.name && $0.model == activity.model })
            return Self.headset(
                activity, HeadsetSituation(activity, around), judgement,
                seconds: around.isPaused && activity.isWanted ? pausedSeconds : judgement.seconds(of: activity, around))
        }
        let (ends, schedules) = (try store.openRecordings(), try store.schedules())
        for index in headsets.indices {
            let (name, recording) = (headsets[index].name, headsets[index].recording)
            headsets[index].schedule = TimedSituation(
                end: ends.first { $0.recording.rawValue == recording && $0.isWanted }?.end,
                schedules: schedules.filter { $0.headset == name }, now: now, offset: wall - now.nanoseconds)
        }
        for headset in configured ?? [] where !activities.contains(where: { $0.name == headset.name }) {
            headsets.append(
                Headset(
                    name: headset.name, model: headset.model, serialNumber: headset.serialNumber, severity: .idle,
                    sentence: "was never recorded", remedy: "record it: eegsync record start \(headset.name)", streams: []))
        }
        severity = headsets.filter(\.isWanted).map(\.severity).max() ?? .idle
        // What that process records is in no list here.
        if storage?.cause == .replaced { severity = .waiting }
    }

    private static let silentEEGRemedy =
        "switch the headset off and on; compare its settings in the configuration with its model's page: eegsync doctor"

    private static func headset(
        _ activity: HeadsetActivity, _ situation: HeadsetSituation, _ judgement: StorageJudgement, seconds: Double?
    ) -> Headset {
        let streamingSeconds = situation.severity == .good ? seconds : nil
        let signal = situation.severity == .good ? SignalSituation(activity) : nil
        let lacksEEG = signal?.lacksEEG == true
        return Headset(
            name: activity.name, model: activity.model, serialNumber: activity.serialNumber,
            recording: activity.recording?.rawValue, isWanted: activity.isWanted, state: activity.state,
            severity: lacksEEG ? .working : situation.severity, sentence: situation.sentence,
            remedy: lacksEEG ? Self.silentEEGRemedy : situation.remedy, stateSeconds: seconds,
            batteryPercent: activity.batteryPercent, signal: signal?.sentence,
            address: AddressSituation(activity),
            timeWarnings: TimeSituation(activity, streamingSeconds: streamingSeconds).warnings,
            streams: activity.streams.map { stream in
                Stream(
                    name: stream.words, view: stream.view,
                    samplingFrequency: stream.samplingFrequency, rowsPerSecond: stream.rowsPerSecond, rows: stream.rows,
                    missing: stream.missing, gaps: stream.gaps, missingByDesign: stream.missingByDesign,
                    gapsByDesign: stream.gapsByDesign, recovered: stream.recovered,
                    hasOpenGap: stream.openGapFirstN != nil, newestRowSeconds: judgement.age(stream.lastSample),
                    signals: stream.signals.map(Signal.init),
                    timeUncertaintySeconds: stream.times?.uncertaintyNanoseconds.map { $0 / 1e9 },
                    measuredFrequency: stream.times.map { 1e9 / $0.periodNanoseconds }, lossDetection: stream.lossDetection)
            })
    }

    /// Days until the disk is full at the nominal rates of everything that is wanted; nil where nothing is.
    static func daysLeft(size: DatabaseSize, bytesPerRow: Double, activities: [HeadsetActivity]) -> Double? {
        let rate = activities.filter(\.isWanted).flatMap(\.streams).reduce(0) { $0 + $1.samplingFrequency }
        guard let free = size.usableBytes, rate > 0 else { return nil }
        return Double(free) / (rate * bytesPerRow) / 86_400
    }
}

extension StatusFacts {
    func lines(style: TerminalStyle) -> [String] {
        lines(style: style, columns: style.columns)
    }

    /// - Parameter columns: how wide a line of a table should be; nil for any width.
    func lines(style: TerminalStyle, columns: Int?) -> [String] {
        var lines: [String] = []
        if let pausedSeconds {
            lines.append(
                style.apply(.bad, to: "Paused: nothing is recorded")
                    + " (for \(Quantity.duration(seconds: max(0, pausedSeconds))))")
            lines += ["  you can: go on recording: eegsync resume", ""]
        }
        if let storage {
            lines += Paragraph.block("Nothing is stored: \(storage.sentence).", head: "", indent: 0, columns: columns) {
                style.apply(.bad, to: $0)
            }
            lines += Paragraph.block("you can: \(storage.remedy)", head: "  ", indent: 2, columns: columns) + [""]
        }
        for headset in headsets {
            lines += self.lines(of: headset, style: style, columns: columns)
            lines.append("")
        }
        if headsets.isEmpty {
            lines += ["No headset is known yet. Name it in the configuration, then: eegsync record start NAME", ""]
        }
        if choosesConnectionParameters == false {
            lines.append(
                style.apply(.caution, to: "Links have the kernel's own parameters and drop after 0.4 s of fading:")
                    + " eegsync run lacks CAP_NET_ADMIN.")
            lines += ["  you can: grant it; `eegsync doctor` says how", ""]
        }
        if let alertsProblem {
            let sentence = alertsProblem.prefix(1).uppercased() + String(alertsProblem.dropFirst()).printable + "."
            lines += Paragraph.block(sentence, head: "", indent: 0, columns: columns) { style.apply(.bad, to: $0) }
            lines += Paragraph.block("you can: \(Configuration.alertsRemedy)", head: "  ", indent: 2, columns: columns) + [""]
        }
        if let grownLog {
            let sentence = grownLog.sentence.prefix(1).uppercased() + String(grownLog.sentence.dropFirst()) + "."
            lines += [style.apply(.bad, to: sentence), "  you can: \(grownLog.remedy)", ""]
        }
        if let deaths {
            lines += Paragraph.block(deaths.sentence.printable, head: "", indent: 0, columns: columns) {
                style.apply(.caution, to: $0)
            }
            lines += Paragraph.block("you can: \(deaths.remedy)", head: "  ", indent: 2, columns: columns) + [""]
        }
        if let machine {
            let sentence = machine.sentence.prefix(1).uppercased() + machine.sentence.dropFirst() + "."
            lines += Paragraph.block(sentence, head: "", indent: 0, columns: columns) { style.apply(.caution, to: $0) }
            lines += Paragraph.block("you can: \(machine.remedy)", head: "  ", indent: 2, columns: columns) + [""]
        }
        let daemon = daemonPid.map { "eegsync run has pid \($0)" } ?? "eegsync run does not run"
        var disk = "database \(Quantity.bytes(databaseBytes))"
        if let freeBytes { disk += ", disk has \(Quantity.bytes(freeBytes)) free" }
        if let daysLeft { disk += " (\(Self.days(daysLeft)) at the present rate)" }
        lines.append(style.apply(daemonPid == nil ? .caution : .faint, to: daemon) + style.apply(.faint, to: "; \(disk)"))
        if let diskWear {
            lines += Paragraph.block(diskWear.sentence, head: "", indent: 0, columns: columns) { style.apply(.faint, to: $0) }
        }
        return lines
    }

    private func lines(of headset: Headset, style: TerminalStyle, columns: Int?) -> [String] {
        let look: TerminalStyle.Style =
            switch headset.severity {
            case .good: .good
            case .working: .caution
            case .waiting: .bad
            case .idle: .faint
            }
        // What is the matter with all stands above.
        let isStored = storage.map { headset.remedy != $0.remedy } ?? true
        var sentence =
            style.apply(.heading, to: headset.name.printable) + " "
            + style.apply(look, to: isStored ? headset.sentence.printable : "is not stored")
        if let seconds = headset.stateSeconds, seconds >= 0, headset.severity != .idle {
            sentence += " (for \(Quantity.duration(seconds: seconds)))"
        }
        var lines = [sentence]
        if let signal = headset.signal { lines.append("  " + style.apply(.caution, to: signal.printable)) }
        if isStored, let remedy = headset.remedy {
            lines += Paragraph.block("you can: \(remedy.printable)", head: "  ", indent: 2, columns: columns)
        }
        if let address = headset.address {
            lines += Paragraph.block(address.sentence.printable, head: "  ", indent: 2, columns: columns) {
                style.apply(.caution, to: $0)
            }
            lines += Paragraph.block("you can: \(address.remedy.printable)", head: "  ", indent: 2, columns: columns)
        }
        for warning in headset.timeWarnings {
            lines += Paragraph.block(warning.sentence.printable, head: "  ", indent: 2, columns: columns) {
                style.apply(.caution, to: $0)
            }
            lines += Paragraph.block("you can: \(warning.remedy.printable)", head: "  ", indent: 2, columns: columns)
        }
        var about = ["model \(headset.model)"]
        if let recording = headset.recording { about.append("recording \(recording)") }
        if let battery = headset.batteryPercent { about.append(String(format: "battery %.0f %%", battery)) }
        about += headset.schedule?.words(clock: style.clock) ?? []
        lines.append("  " + about.joined(separator: ", "))
        if !headset.streams.isEmpty { lines += Self.table(of: headset.streams, style: style, columns: columns) }
        return lines
    }

    /// The streams; where the terminal has no room for the views' names in the table, they stand below it.
    private static func table(of streams: [Stream], style: TerminalStyle, columns: Int?) -> [String] {
        let room = columns.map { $0 - 2 }
        let whole = table(of: streams, withViews: true)
        // Without style: the sequences that make it take no room.
        let isNarrow = room.map { room in whole.rendered(style: .plain).contains { $0.displayWidth > room } } ?? false
        guard isNarrow else { return whole.rendered(style: style).map { "  " + $0 } }
        let views = streams.map(\.view).joined(separator: " ").printable
        return table(of: streams, withViews: false).rendered(style: style, columns: room).map { "  " + $0 }
            + Paragraph.block(views, head: "  views  ", indent: 9, columns: columns)
    }

    private static func table(of streams: [Stream], withViews: Bool) -> TextTable {
        var headings: [TextTable.Column] = [
            .init(heading: "STREAM", shortens: true), .init(heading: "RATE", alignment: .right),
            .init(heading: "OF", alignment: .right, dispensability: 2), .init(heading: "NEWEST", alignment: .right),
            .init(heading: "ROWS", alignment: .right, dispensability: 1),
            .init(heading: "MISSING", alignment: .right), .init(heading: "GAPS", alignment: .right, wraps: true),
        ]
        if withViews { headings.append(.init(heading: "VIEW")) }
        var table = TextTable(headings)
        for stream in streams {
            let missing = stream.missing - stream.missingByDesign
            // A tenth below the nominal rate is what a person would ask about; headsets differ by less from their own clock.
            let isSlow = stream.rowsPerSecond < stream.samplingFrequency * 0.9
            table.append([
                .init(stream.name), .init(Quantity.frequency(stream.rowsPerSecond), isSlow ? .caution : .good),
                .init(Quantity.frequency(stream.samplingFrequency)),
                .init(stream.newestRowSeconds.map { Quantity.duration(seconds: $0) + " ago" } ?? ""),
                .init(Quantity.count(stream.rows)), .init(Quantity.count(missing), missing > 0 ? .caution : nil),
                .init(Quantity.count(stream.gaps - stream.gapsByDesign) + (stream.hasOpenGap ? " (one open)" : "")),
                .init(stream.view),
            ])
        }
        return table
    }

    private static func days(_ days: Double) -> String {
        days >= 10_000 ? "decades" : days >= 2 ? String(format: "%.0f days", days) : Quantity.duration(seconds: days * 86_400)
    }
}
