import ArgumentParser
import Bluetooth
import Foundation

/// `eegsync setup`: from headsets that are switched on to a configuration that names them.
struct SetupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Find headsets, name and test them, and write the configuration.",
        discussion: """
            Asks in a terminal, or takes its answers from a file. Headsets in range are shown with model and signal strength; \
            two of one model are distinguished by whoever blinks, or taps one. Each gets a name, and is bound to its serial \
            number, where it has one, and its address. Then ten seconds of its signal are tested: rate, missing samples, flat \
            or railed channels, contact where the headset measures it.

            Of a configuration that is there only the part `headsets` changes, after you have seen the difference and agreed. \
            Headsets that it binds stay. Until then nothing is written, and nothing that is tested is stored.

            The service must not have the adapter meanwhile: `systemctl stop eegsync`.

            ANSWERS
              headsets:
                - {name: left, model: muse, address: "00:55:DA:B0:13:24"}
                - {name: right, advertises: Muse-1302}  # its Bluetooth name
              accept_signal: false         # write although the test found something
              change_configuration: false  # change a configuration that is there
              start_service: false         # systemctl enable, and reload or start

            EXAMPLES
              sudo eegsync setup
              sudo eegsync setup --answers answers.yaml --json
            """)

    @OptionGroup var options: ConfigurationOption

    @Option(help: ArgumentHelp("A file with the answers.", valueName: "file"), completion: .file(extensions: ["yaml", "yml"]))
    var answers: String?

    @Option(help: "How long to look for headsets (1 ... 600).")
    var seconds: Int = 10

    @Option(help: "How many seconds of signal are tested (2 ... 600). From 10 on, flat and railed channels are noticed.")
    var testSeconds: Int = 10

    @OptionGroup var output: OutputOptions

    /// The configuration that is written.
    struct ConfigurationOption: ParsableArguments {
        @Option(
            help: ArgumentHelp("The configuration to write.", valueName: "path"),
            completion: .file(extensions: ["yaml", "yml"]))
        var config: String = Configuration.defaultPath
    }

    func validate() throws {
        if !(1...600).contains(seconds) { throw ValidationError("--seconds must be 1 ... 600.") }
        if !(2...600).contains(testSeconds) { throw ValidationError("--test-seconds must be 2 ... 600.") }
        if answers == nil, isatty(STDIN_FILENO) != 1 {
            throw ValidationError("standard input is no terminal: give --answers FILE.")
        }
    }

    func run() async throws {
        let path = options.config
        let text = FileManager.default.fileExists(atPath: path) ? try Self.text(path) : nil
        let library = HeadsetLibrary(configurationPath: path)
        let settings = SetupPerformer.Settings(
            configurationPath: path, configuration: text == nil ? .withoutFile : try ConfigurationFile.load(path: path),
            text: text, library: library,
            answers: try answers.map { try SetupAnswers.load(path: $0, models: library.models) }, search: .seconds(seconds),
            test: .seconds(testSeconds))
        let terminal = SetupTerminal(
            isLive: answers == nil && isatty(STDOUT_FILENO) == 1, style: .detected(for: STDERR_FILENO))
        let facts = try await Interruption.run { interruption in
            let performer = SetupPerformer(settings, terminal: terminal, interruption: interruption)
            return SetupFacts(try await performer.run(), configuration: path, tests: performer.tests)
        }
        try facts.print(asJSON: output.json)
        if facts.headsets == nil { throw ExitCode(Failure.Code.temporary.rawValue) }
    }

    private static func text(_ path: String) throws -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw ConfigurationError.unreadable(file: path, reason: FileReason(error).words)
        }
    }
}

/// What was set up.
struct SetupFacts: Facts {
    /// One headset.
    struct Headset: Encodable, Hashable {
        var name: String
        var model: String
        var address: String
        var serialNumber: String?
    }

    var configuration: String
    /// Nil where it was ended before.
    var headsets: [Headset]?
    var isConfigurationChanged = false
    var isServiceEnabled = false
    var tests: [SignalTest]

    init(_ end: SetupMachine.End, configuration: String, tests: [SignalTest]) {
        self.configuration = configuration
        self.tests = tests
        guard case .done(let named, let isChanged, let isEnabled) = end else { return }
        headsets = named.map {
            Headset(
                name: $0.name, model: $0.candidate.model, address: $0.candidate.identifier.description,
                serialNumber: $0.serialNumber)
        }
        (isConfigurationChanged, isServiceEnabled) = (isChanged, isEnabled)
    }

    func lines(style: TerminalStyle) -> [String] {
        guard let headsets, let first = headsets.first else { return ["Nothing was changed."] }
        let names = headsets.map(\.name).joined(separator: ", ")
        let what =
            isConfigurationChanged
            ? "\(configuration.printable) names \(names)." : "\(configuration.printable) names \(names) already."
        let next =
            isServiceEnabled
            ? ["The service runs."]
            : ["Start the service: sudo systemctl enable --now eegsync", "Where it runs:     sudo systemctl reload eegsync"]
        return [style.apply(.good, to: what)] + next + ["Record:            eegsync record start \(first.name)"]
    }
}
