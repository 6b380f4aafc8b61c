import ArgumentParser
import Bluetooth
import Glibc
import HeadsetDescriptors
import Headsets
import YAMLReading

/// `eegsync headsets`: which models there are, and descriptors of new ones.
struct HeadsetsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "headsets",
        abstract: "List the headset models, show one, or check a descriptor; adopt an address, or rename a headset.",
        discussion: """
            A model is built in, or described by a YAML file: one of the directory `headsets` beside the configuration file, \
            of \(HeadsetLibrary.systemDirectory), or one that comes with eegsync. A described model is used like a built-in \
            one: name it as `model` in the configuration.

            EXAMPLES
              eegsync headsets list
              eegsync headsets show openearable-exg --source > mine.yaml
              eegsync headsets check mine.yaml --against capture.btsnoop
              eegsync headsets adopt left C0:EE:60:00:02:01
              eegsync headsets rename left subject-01
            """,
        subcommands: [List.self, Show.self, CheckDescriptor.self, AdoptAddress.self, RenameHeadset.self],
        defaultSubcommand: List.self)

    /// Where descriptors are looked for, and how the answer is printed.
    struct Options: ParsableArguments {
        @Option(
            help: ArgumentHelp("The configuration file, beside which descriptors are looked for.", valueName: "path"),
            completion: .file(extensions: ["yaml", "yml"]))
        var config: String = Configuration.defaultPath

        @OptionGroup var output: OutputOptions

        var library: HeadsetLibrary { HeadsetLibrary(configurationPath: config) }
    }

    /// `eegsync headsets list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all models, and the descriptors that are not used.")

        @OptionGroup var options: Options

        func run() throws { try HeadsetListFacts(options.library).print(asJSON: options.output.json) }
    }

    /// `eegsync headsets show`.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show what eegsync knows about a model.")

        @Argument(help: "The model's identifier.")
        var model: String

        @Flag(help: "Print the descriptor itself, to be changed for another headset.")
        var source = false

        @OptionGroup var options: Options

        func run() throws {
            let library = options.library
            if source, let text = text(in: library) { return print(text, terminator: "") }
            guard let entry = library.entries.first(where: { $0.profile.model == model }) else {
                if text(in: library) != nil {
                    throw Failure(
                        problem: "'\(model)' is no model yet: its descriptor is not used.", consequence: "nothing was changed.",
                        remedy: "`eegsync headsets show \(model) --source > mine.yaml` gives its text, and `eegsync headsets "
                            + "check mine.yaml` shows what it lacks.", code: .noInput)
                }
                throw Failure(
                    problem: "the model '\(model)' is unknown; known models: \(library.models.joined(separator: ", ")).",
                    consequence: "nothing was changed.", remedy: "`eegsync headsets list` shows all of them.", code: .noInput)
            }
            guard !source else {
                throw Failure(
                    problem: "the model '\(model)' is built in and has no descriptor.", consequence: "nothing was changed.",
                    remedy: "leave --source out.", code: .noInput)
            }
            try HeadsetFacts(entry).print(asJSON: options.output.json)
        }

        /// The text of a descriptor; of a template too, which is no model yet.
        private func text(in library: HeadsetLibrary) -> String? {
            if let entry = library.entries.first(where: { $0.profile.model == model }) { return entry.text }
            return library.refused.first { $0.origin.words(or: model) == model }?.text
        }
    }
}

/// All models.
struct HeadsetListFacts: Facts {
    struct Model: Encodable {
        var model: String
        var name: String
        /// `built in`, `shipped`, or the file.
        var origin: String
        var streams: [Stream]
    }

    struct Stream: Encodable {
        var name: String
        var bank: Int
        var channels: Int
        var samplingFrequency: Double

        /// Such as `8 × 250 Hz`.
        var words: String { "\(channels) × \(Quantity.frequency(samplingFrequency))" }
    }

    /// A descriptor that is not used.
    struct Refused: Encodable {
        var origin: String
        var reason: String
        /// How many facts are still to be filled in, where that is all that is wrong.
        var openFacts: Int
    }

    var models: [Model]
    var refused: [Refused]

    init(_ library: HeadsetLibrary) {
        models = library.entries.map { entry in
            Model(
                model: entry.profile.model, name: entry.profile.displayName, origin: entry.origin.words,
                streams: entry.profile.streams.map {
                    Stream(
                        name: $0.name, bank: $0.bank, channels: $0.channels.count, samplingFrequency: $0.samplingFrequency)
                })
        }
        refused = library.refused.map { refused in
            let name =
                if case .shipped(let file) = refused.origin { "shipped \(file)" } else { refused.origin.words }
            switch refused.reason {
            case .unreadable(let reason): return Refused(origin: name, reason: reason, openFacts: 0)
            case .shadowed(let model, let other):
                return Refused(origin: name, reason: "the model \(model) is described by \(other.words)", openFacts: 0)
            case .descriptor(let error):
                let open = error.problems.count(where: \.isOpenFact)
                if error.problems.count == open {
                    return Refused(origin: name, reason: "a template with \(open) facts to be filled in", openFacts: open)
                }
                let first = error.description.split(separator: "\n").first.map(String.init) ?? ""
                return Refused(origin: name, reason: first, openFacts: open)
            }
        }
    }

    func lines(style: TerminalStyle) -> [String] {
        lines(style: style, columns: style.columns)
    }

    /// - Parameter columns: how wide a line should be; nil for any width.
    func lines(style: TerminalStyle, columns: Int?) -> [String] {
        var table = TextTable([
            .init(heading: "MODEL"), .init(heading: "NAME", wraps: true), .init(heading: "EEG"),
            .init(heading: "ALSO", wraps: true), .init(heading: "FROM", wraps: true),
        ])
        for model in models {
            let eeg = model.streams.first { $0.name == "eeg" }
            let others = model.streams.filter { $0.name != "eeg" }.map(\.name)
            table.append([
                .init(model.model), .init(model.name), .init(eeg?.words ?? "as it says"),
                .init(others.joined(separator: ", ")), .init(model.origin, .faint),
            ])
        }
        var lines = table.rendered(style: style, columns: columns)
        guard !refused.isEmpty else { return lines }
        lines.append("")
        for refused in refused {
            let line = "Not used: \(refused.origin.printable): \(refused.reason.printable)"
            lines.append(style.apply(refused.openFacts > 0 ? .faint : .caution, to: line))
        }
        return lines
    }
}

extension HeadsetLibrary.Origin {
    /// The name under which a template is shown: its file's, without the ending.
    fileprivate func words(or other: String) -> String {
        switch self {
        case .builtIn: other + "-"
        case .shipped(let file): file.hasSuffix(".yaml") ? String(file.dropLast(5)) : file
        case .file(let path): path
        }
    }
}
