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

            Every notification in the file arrives when it did, and is taken. A pause in the file is one of the headset: \
            what is missing is in the ledger, as after a silence.

            FORMATS
              bytes     what a serial port sent, without times; they are cut at the model's nominal rate, in bytes a second \
            (\(byteRates); some headsets show it by their own clock), or at that of --byte-rate
              text      lines of time<TAB>characteristic<TAB>hex; times in seconds (12.5), seconds since 1970 (1700000000.25) \
            or ISO 8601. Lines that are wrong are left out and counted.
              btsnoop   as Android's snoop log or btmon writes it; UUIDs come from the discovery in the file. Where several \
            headsets of the model sent, --connection chooses one; the message names them.
            FILE may be a pipe; - is the standard input.

            Exit code 0 if the audit of the recording holds, 65 if not.

            EXAMPLES
              eegsync replay mindwave.bytes --model thinkgear --database lab.sqlite
              eegsync replay btsnoop_hci.log --model buffered-eeg --label "pilot 3" --database lab.sqlite
              eegsync replay athena.btsnoop --model muse --preset p1035 --database lab.sqlite
              zcat ganglion.tsv.gz | eegsync replay - --model ganglion --firmware 3 --database lab.sqlite
            """)

    /// The nominal rates of all models that have one, such as `unicorn 11250`.
    private static let byteRates = HeadsetCatalog.builtIn.profiles.compactMap { profile in
        profile.byteStream(beginning: [])?.bytesPerSecond.map { "\(profile.model) \(Int($0))" }
    }.joined(separator: ", ")

    /// What the bytes of the file are.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case bytes, text, btsnoop

        /// The format that the file's beginning shows. One line of text among others shows it; so does nothing but text.
        init(of bytes: [UInt8]) {
            if bytes.starts(with: Array("btsnoop".utf8)) {
                self = .btsnoop
                return
            }
            let head = Array(bytes.prefix(1 << 16))
            var lines = CaptureText(CaptureBytes(head)).makeIterator()
            let isText = head.prefix(4096).allSatisfy { (0x20..<0x7F).contains($0) || [0x09, 0x0A, 0x0D].contains($0) }
            self = !head.isEmpty && (isText || lines.next() != nil) ? .text : .bytes
        }
    }

    @Argument(help: "The file to play; - is the standard input.", completion: .file())
    var file: String

    @Option(help: "The headset's model; `eegsync headsets list` shows all of them.")
    var model: String

    @Option(help: "Which of the model's presets the headset was set to, as in the configuration. Without it: its usual one.")
    var preset: String?

    @Option(
        name: .customLong("setting"),
        help: ArgumentHelp(
            "How the headset was set, as in the configuration; a list has commas. May be given several times.",
            valueName: "name=value"))
    var settings: [String] = []

    @Option(help: "Without it: as the file's beginning shows.")
    var format: Format?

    @Option(help: ArgumentHelp("Which of several headsets in a btsnoop file.", valueName: "number"))
    var connection: Int?

    @Option(help: ArgumentHelp("How many bytes a second came, for bytes without times.", valueName: "number"))
    var byteRate: Double?

    @Option(help: ArgumentHelp("The firmware of a Ganglion, where the file does not say it: 2 or 3.", valueName: "version"))
    var firmware: Int?

    @Option(help: ArgumentHelp("The channels of a Cyton, where the file does not say it: 8, or 16 with a Daisy."))
    var channels: Int?

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
        if let byteRate, !(byteRate.isFinite && byteRate > 0) { throw ValidationError("--byte-rate must be greater than 0.") }
        if let firmware, firmware != 2, firmware != 3 { throw ValidationError("--firmware is 2 or 3.") }
        if let channels, channels != 8, channels != 16 { throw ValidationError("--channels is 8 or 16.") }
        if firmware != nil, model != "ganglion" { throw ValidationError("--firmware is for the model ganglion.") }
        if channels != nil, model != "cyton" { throw ValidationError("--channels is for the model cyton.") }
    }

    /// The model's profile as the headset was set.
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
            file, format: format, connection: connection, bytesPerSecond: byteRate, profile: profile,
            consequence: "nothing was recorded.")
        let replay = ReplayRun(capture.contents, profile: profile, given: given)
        try check(replay)
        // A clock of its own: boottimes of a replay belong to no boot of this machine.
        let store = try AcquisitionStore(path: path, hostBoot: HostBoot(uuid: "replay-\(UUID().uuidString.lowercased())"))
        defer { try? store.close() }
        let wanted = ReplayRun.Wanted(
            headset: headset ?? "replay-\(model)",
            label: label ?? (file == "-" ? "standard input" : URL(fileURLWithPath: file).lastPathComponent),
            subject: subject, task: task)
        var bar = ProgressBar(label: "replaying")
        let report: ReplayRun.Report
        do {
            defer { bar.finish() }
            report = try replay.run(
                into: store, wanted: wanted,
                startUnixNanoseconds: capture.contents.startUnixNanoseconds ?? Int64(Date().timeIntervalSince1970 * 1e6) * 1000
            ) { bar.update(done: Int64($0 * 1000), total: 1000) }
        }
        guard report.isComplete else {
            throw Failure(
                problem: "\(file) was not played to its end: it does not behave as a headset of model \(model).",
                consequence: "recording \(report.recording.rawValue) holds what was stored until then.",
                remedy: "check --model; let the capture begin before the headset is connected.", code: .dataError)
        }
        var facts = ReplayFacts(
            report, unmapped: capture.contents.unmappedCount, damage: capture.damage,
            audit: try store.audit(recording: report.recording), gaps: try store.gaps(of: report.recording), database: path)
        if model == "cyton", !report.isDescribed {
            facts.assumed = "8 channels, as the file does not say how many there are; with a Daisy: --channels 16"
        }
        try facts.print(asJSON: output.json)
        if !facts.audit.holds { throw ExitCode(Failure.Code.dataError.rawValue) }
    }

    /// What a person knows of the headset, as it would have said it.
    private var given: [Capture.Piece] {
        var given: [Capture.Piece] = []
        if let firmware {
            let version = Array("\(firmware).0.0".utf8)
            given.append(Capture.Piece(time: .zero, characteristic: .softwareRevisionString, value: version))
        }
        if let channels {
            given.append(Capture.Piece(time: .zero, characteristic: .serialPort, value: Array("\(channels)$$$".utf8)))
        }
        return given
    }

    /// Refuses a file of which nothing would be recorded, before the database is touched or created.
    private func check(_ replay: ReplayRun) throws {
        if let value = replay.lackedValue, !replay.hasSamples {
            let isFirmware = value == .softwareRevisionString
            throw Failure(
                problem: isFirmware && model == "ganglion"
                    ? "\(file) is a Ganglion's capture without its firmware version, which shows how samples are packed."
                    : "\(file) lacks the value of \(value), which a headset of model \(model) sends when it is connected.",
                consequence: "nothing was recorded.",
                remedy: isFirmware && model == "ganglion"
                    ? "give --firmware 2 or --firmware 3, or let the capture begin before the headset is connected."
                    : "let the capture begin before the headset is connected.", code: .dataError)
        }
        guard replay.hasSamples else {
            throw Failure(
                problem: "\(file) holds no sample that a headset of model \(model) could have sent.",
                consequence: "nothing was recorded.", remedy: "check --model and --format.", code: .dataError)
        }
        if replay.lacksStatus {
            throw Failure(
                problem: "\(file) lacks the status in which a headset of model \(model) describes its streams.",
                consequence: "nothing was recorded.", remedy: "let the capture begin before the headset is connected.",
                code: .dataError)
        }
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
    /// Notifications that the profile has no use for, or whose characteristic nothing showed.
    var unusedNotifications: Int
    /// Bytes of the others that belonged to nothing that the model sends.
    var discardedBytes: Int
    /// Lines of a text that are wrong.
    var skippedLines: Int
    /// Why the first of them was left out, or where a btsnoop file is cut off.
    var skipped: String?
    /// What nothing in the file shows.
    var assumed: String?
    var audit: AuditFacts

    init(
        _ report: ReplayRun.Report, unmapped: Int, damage: CaptureFile.Damage, audit: AuditReport, gaps: [GapSummary],
        database: String
    ) {
        recording = report.recording.rawValue
        self.database = database
        durationSeconds = Double(report.duration.components.seconds) + Double(report.duration.components.attoseconds) / 1e18
        rows = audit.streams.reduce(0) { $0 + $1.rows }
        unusedNotifications = unmapped + report.foreignPieceCount
        discardedBytes = report.discardedByteCount
        skippedLines = damage.lineCount
        skipped = damage.reason
        var missing: [Missing] = []
        for gap in gaps where (gap.count ?? 0) > gap.recovered {
            let name = StreamDescription.bankName(gap.stream, gap.bank)
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
                + (damagedSamples > 0
                    ? ", \(Quantity.count(damagedSamples, "sample")) damaged."
                    : discardedBytes > 0 ? "." : ", nothing damaged.")
        ]
        if unusedNotifications > 0 {
            let count = Quantity.count(Int64(unusedNotifications), "notification")
            lines.append(style.apply(.caution, to: "\(count) of no use to the model left out."))
        }
        if discardedBytes > 0 {
            let count = Quantity.count(Int64(discardedBytes), "byte")
            lines.append(style.apply(.caution, to: "\(count) that belong to nothing that the model sends left out."))
        }
        if let skipped {
            let count = Quantity.count(Int64(skippedLines), "line")
            let what = skippedLines > 0 ? "\(count) left out; \(skipped)." : "The file is cut off: \(skipped)."
            lines.append(style.apply(.caution, to: what.printable))
        }
        if let assumed { lines.append(style.apply(.caution, to: "Taken for a headset of \(assumed).")) }
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
