import ArgumentParser
import Headsets
import YAMLReading

/// `eegsync configuration check`: everything that is wrong in a configuration, before anything is started with it.
struct CheckConfiguration: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a configuration, and nothing else.",
        discussion: """
            Names everything that is wrong in the file, with line, column and key. Neither the database nor Bluetooth nor the \
            service is looked at: the file may be for another machine. Models that are not built in are looked for in the \
            directory `headsets` beside the file and in \(HeadsetLibrary.systemDirectory). `eegsync doctor` looks at the \
            machine.

            Exit code 0 if the configuration is right, 65 if not, 66 where it cannot be read.

            EXAMPLES
              eegsync configuration check /etc/eegsync/eegsync.yaml
              eegsync configuration check new.yaml --json
            """)

    @Argument(help: "The configuration.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String

    @OptionGroup var output: OutputOptions

    func run() throws {
        var facts = ConfigurationCheckFacts(file: file)
        do throws(ConfigurationError) {
            let configuration = try ConfigurationFile.load(path: file)
            if let error = configuration.alertsError { throw error }
            facts.accept(configuration)
        } catch .wrong(_, let error) {
            facts.problems = error.problems
        } catch .unreadable(_, let reason) {
            throw Failure(
                problem: "the configuration \(file) cannot be read: \(reason).", consequence: "nothing was checked.",
                remedy: "check the path, who may read it (ls -l), and that it is a text.", code: .noInput)
        } catch {
            throw error
        }
        try facts.print(asJSON: output.json)
        if !facts.isRight { throw ExitCode(Failure.Code.dataError.rawValue) }
    }
}

/// Whether a configuration is right.
struct ConfigurationCheckFacts: Facts {
    /// One headset that it names.
    struct Headset: Encodable, Hashable {
        var name: String
        var model: String
        /// Whether a serial number or an address says which one it is.
        var isBound: Bool
    }

    var file: String
    /// Everything that is wrong, in the order of the text.
    var problems: [YAMLProblem] = []
    /// Nil where something is wrong.
    var database: String?
    /// Nil where something is wrong.
    var headsets: [Headset]?
    /// Nil where something is wrong.
    var central: String?

    /// Begins with a file of which nothing is known.
    init(file: String) { self.file = file }

    var isRight: Bool { problems.isEmpty }

    private enum CodingKeys: String, CodingKey {
        case file, problems, database, headsets, central, isRight
    }

    /// Takes what a right one says.
    mutating func accept(_ configuration: Configuration) {
        database = configuration.databasePath
        central = configuration.central.kind
        headsets = configuration.headsets.map {
            Headset(name: $0.name, model: $0.model, isBound: $0.serialNumber != nil || !$0.identifiers.isEmpty)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(file, forKey: .file)
        try container.encode(isRight, forKey: .isRight)
        try container.encode(problems, forKey: .problems)
        try container.encodeIfPresent(database, forKey: .database)
        try container.encodeIfPresent(headsets, forKey: .headsets)
        try container.encodeIfPresent(central, forKey: .central)
    }

    func lines(style: TerminalStyle) -> [String] {
        guard isRight else {
            let count = Quantity.count(Int64(problems.count), "mistake")
            return [style.apply(.bad, to: "\(file.printable) has \(count):")]
                + problems.map { "  \($0.description.printable)" }
        }
        var table = TextTable([.init(heading: "HEADSET"), .init(heading: "MODEL"), .init(heading: "BOUND")])
        for headset in headsets ?? [] {
            table.append([
                .init(headset.name), .init(headset.model),
                headset.isBound
                    ? .init("yes", .good) : .init("no: the first one of the model that is found is kept to", .faint),
            ])
        }
        return [style.apply(.good, to: "\(file.printable) is right."), ""] + table.rendered(style: style)
            + ["", "Database: \((database ?? "").printable)"]
    }
}
