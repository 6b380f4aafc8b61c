import ArgumentParser
import Bluetooth
import Capture
import Foundation
import Headsets
import Rehearsal
import Simulation
import Storage

/// `eegsync replay`: recorded bytes, through the same code as a live headset.
struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Feed recorded bytes through the same code as a live headset.",
        discussion: """
            Plays the file in virtual time through link, establish flow, decoder and storage, as if the headset were there, \
            and makes a recording of it in the database, which is created where it is new. While `eegsync run` acquires into \
            the same database, replay is refused; name another one.

            FORMATS
              bytes     what a serial port sent, without times; they are cut at the model's nominal rate
              text      lines of time<TAB>characteristic<TAB>hex; times in seconds or ISO 8601
              btsnoop   as Android's snoop log or btmon writes it; UUIDs come from the discovery in the file. Where several \
            headsets of the model sent, --connection chooses one; the message names them.

            Exit code 0 if the audit of the recording holds, 65 if not.

            EXAMPLES
              eegsync replay mindwave.bytes --model thinkgear --database lab.sqlite
              eegsync replay btsnoop_hci.log --model buffered-eeg --label "pilot 3" --database lab.sqlite
              eegsync replay athena.btsnoop --model muse --preset p1035 --database lab.sqlite
            """)

    /// What the bytes of the file are.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case bytes, text, btsnoop

        /// The format that the file's beginning tells.
        init(of bytes: [UInt8]) {
            let isText = bytes.prefix(4096).allSatisfy { (0x20..<0x7F).contains($0) || [0x09, 0x0A, 0x0D].contains($0) }
            self = bytes.starts(with: Array("btsnoop".utf8)) ? .btsnoop : isText && !bytes.isEmpty ? .text : .bytes
        }
    }

    @Argument(help: "The file to play.", completion: .file())
    var file: String

    @Option(help: "The headset's model; `eegsync headsets list` shows all of them.")
    var model: String

    @Option(help: "Which of the model's presets the headset was told, as in the configuration. Without it: its usual one.")
    var preset: String?

    @Option(
        name: .customLong("setting"),
        help: ArgumentHelp(
            "How the headset was set, as in the configuration; a list has commas. May be given several times.",
            valueName: "name=value"))
    var settings: [String] = []

    @Option(help: "Without it: as the file's beginning tells.")
    var format: Format?

    @Option(help: ArgumentHelp("Which of several headsets in a btsnoop file.", valueName: "number"))
    var connection: Int?

    @Option(help: ArgumentHelp("The headset's name in the database. Without it: replay-MODEL.", valueName: "name"))
    var headset: String?

    @Option(help: "What the recording is called. Without it: the file's name.")
    var label: String?

    @Option(help: "Who wore the headset. Write a code, not a name: it goes into exported files.")
    var subject: String?

    @Option(help: "What the subject did.")
    var task: String?

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if headset?.isEmpty == true { throw ValidationError("A headset needs a name.") }
    }

    /// The model's profile as the headset was told and set.
    private func profile() throws -> any HeadsetProfile { try set(chosen()) }

    private func set(_ profile: any HeadsetProfile) throws -> any HeadsetProfile {
        var stated = HeadsetSettings()
        for setting in settings {
            let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let values = parts.dropFirst().joined().split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            do throws(HeadsetSettingError) {
                try stated.state(parts[0], values, isList: values.count > 1, of: profile.settings)
            } catch {
                throw Failure(
                    problem: "--setting \(setting): \(error).", consequence: "nothing was recorded.",
                    remedy: "`eegsync headsets show \(model)` lists the settings.", code: .usage)
            }
        }
        return stated.isEmpty ? profile : profile.choosing(settings: stated)
    }

    private func chosen() throws -> any HeadsetProfile {
        let library = HeadsetLibrary(configurationPath: options.configurationPath)
        let profile: any HeadsetProfile
        do throws(HeadsetCatalogError) {
            profile = try library.catalog.profile(model: model)
        } catch {
            throw Failure(
                problem: "the model '\(model)' is unknown; known models: \(library.models.joined(separator: ", ")).",
                consequence: "nothing was recorded.", remedy: "check --model; `eegsync headsets list` shows all.", code: .usage)
        }
        guard let preset else { return profile }
        guard profile.presets.contains(preset) else {
            let presets = profile.presets.joined(separator: ", ")
            throw Failure(
                problem: presets.isEmpty
                    ? "the model '\(model)' has no presets."
                    : "'\(preset)' is no preset of the model '\(model)'; its presets: \(presets).",
                consequence: "nothing was recorded.",
                remedy: presets.isEmpty ? "leave --preset out." : "choose one of them, or leave --preset out.", code: .usage)
        }
        return profile.choosing(preset: preset)
    }

    func run() throws {
        let profile = try profile()
        let path = try options.databasePath()
        let capture = try CaptureFile.read(
            file, format: format, connection: connection, profile: profile, consequence: "nothing was recorded."
        ).capture
        var bar = ProgressBar(label: "replaying")
        try check(capture, profile, &bar)
        // A clock of its own: boottimes of a replay belong to no boot of this machine.
        let store = try Store(path: path, hostBoot: HostBoot(uuid: "replay-\(UUID().uuidString.lowercased())"), mode: .acquire)
        defer { try? store.close() }
        let wanted = ReplayRun.Wanted(
            headset: headset ?? "replay-\(model)", label: label ?? URL(fileURLWithPath: file).lastPathComponent,
            subject: subject, task: task)
        let replay = ReplayRun(
            capture, profile: profile, wanted: wanted, store: store,
            startUnixNanoseconds: capture.startUnixNanoseconds ?? Int64(Date().timeIntervalSince1970 * 1e6) * 1000)
        let report: ReplayRun.Report
        do {
            defer { bar.finish() }
            report = try replay.run { bar.update(done: Int64($0 * 1000), total: 1000) }
        }
        guard report.isComplete else {
            throw notPlayed(consequence: "recording \(report.recording.rawValue) holds what was stored until then.")
        }
        let facts = ReplayFacts(
            report, unmapped: capture.unmappedCount, audit: try store.audit(recording: report.recording),
            gaps: try store.gaps(of: report.recording), database: path)
        try facts.print(asJSON: output.json)
        if !facts.audit.holds { throw ExitCode(Failure.Code.dataError.rawValue) }
    }

    /// Refuses a file of which nothing would be recorded, before the database is touched or created.
    private func check(_ capture: Capture, _ profile: any HeadsetProfile, _ bar: inout ProgressBar) throws {
        let trial: ReplayRun.Report
        do {
            defer { bar.finish() }
            trial = try ReplayRun.trial(of: capture, profile: profile) { bar.update(done: Int64($0 * 1000), total: 1000) }
        }
        guard !trial.hasSamples else { return }
        guard trial.isComplete else { throw notPlayed(consequence: "nothing was recorded.") }
        throw Failure(
            problem: "\(file) holds no sample that a headset of model \(model) could have sent.",
            consequence: "nothing was recorded.", remedy: "check --model and --format.", code: .dataError)
    }

    private func notPlayed(consequence: String) -> Failure {
        Failure(
            problem: "\(file) was not played to its end: it does not behave as a headset of model \(model), or lacks what "
                + "such a headset tells when it is connected.",
            consequence: consequence, remedy: "check --model; let the capture begin before the headset is connected.",
            code: .dataError)
    }
}

/// What a replay recorded.
struct ReplayFacts: Facts {
    /// Missing samples of one stream and cause.
    struct Missing: Encodable {
        var stream: String
        var cause: String
        var samples: Int64
        var gaps: Int
    }

    var recording: Int64
    var database: String
    var durationSeconds: Double
    var rows: Int64
    /// Samples of all streams whose frames were damaged.
    var damagedSamples: Int64
    var missing: [Missing]
    /// Notifications that the profile has no use for, or whose characteristic nothing told.
    var unusedNotifications: Int
    var audit: AuditFacts

    init(_ report: ReplayRun.Report, unmapped: Int, audit: AuditReport, gaps: [GapSummary], database: String) {
        recording = report.recording.rawValue
        self.database = database
        durationSeconds = Double(report.duration.components.seconds) + Double(report.duration.components.attoseconds) / 1e18
        rows = audit.streams.reduce(0) { $0 + $1.rows }
        unusedNotifications = unmapped + report.foreignPieceCount
        var missing: [Missing] = []
        for gap in gaps where (gap.count ?? 0) > gap.recovered {
            let name = gap.bank == 0 ? gap.stream : "\(gap.stream)-\(gap.bank + 1)"
            let samples = (gap.count ?? 0) - gap.recovered
            if let index = missing.firstIndex(where: { $0.stream == name && $0.cause == gap.cause }) {
                missing[index].samples += samples
                missing[index].gaps += 1
            } else {
                missing.append(Missing(stream: name, cause: gap.cause, samples: samples, gaps: 1))
            }
        }
        self.missing = missing
        damagedSamples = missing.reduce(0) { $1.cause == GapCause.packetDamaged.rawValue ? $0 + $1.samples : $0 }
        self.audit = AuditFacts(audit)
    }

    func lines(style: TerminalStyle) -> [String] {
        var lines = [
            style.apply(.heading, to: "Recording \(recording)")
                + " holds \(Quantity.duration(seconds: durationSeconds)) in \(Quantity.count(rows, "row"))"
                + (damagedSamples == 0 ? ", nothing damaged." : ", \(Quantity.count(damagedSamples, "sample")) damaged.")
        ]
        if unusedNotifications > 0 {
            let count = Quantity.count(Int64(unusedNotifications), "notification")
            lines.append(style.apply(.caution, to: "\(count) of no use to the model left out."))
        }
        let names = audit.streams.map { StreamName($0.stream) }
        let silent = audit.streams.filter { stream in
            stream.rows == 0 && !names.contains { $0.continues(stream.stream) }
        }.map(\.words)
        if !silent.isEmpty {
            let words = silent.joined(separator: ", ")
            lines.append(style.apply(.caution, to: "Nothing came of \(words.printable): check --model and --preset."))
        }
        lines.append("")
        if !missing.isEmpty {
            var table = TextTable([
                .init(heading: "MISSING", alignment: .right), .init(heading: "STREAM"), .init(heading: "CAUSE"),
                .init(heading: "GAPS", alignment: .right),
            ])
            for entry in missing {
                table.append([
                    .init(Quantity.count(entry.samples), .caution), .init(entry.stream), .init(entry.cause),
                    .init(Quantity.count(Int64(entry.gaps))),
                ])
            }
            lines += table.rendered(style: style) + [""]
        }
        return lines + audit.lines(style: style)
    }
}
