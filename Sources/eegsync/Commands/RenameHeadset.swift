import ArgumentParser
import Storage

/// `eegsync headsets rename`: gives a headset another name and keeps its history.
struct RenameHeadset: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Give a headset another name; all its recordings stay its own.",
        discussion: """
            A running recording goes on. Write the new name into the configuration, too, before eegsync starts the next time: \
            recordings belong to the headset of that name.

            EXAMPLE
              eegsync headsets rename left subject-01
            """)

    @Argument(help: "The headset's name.")
    var old: String

    @Argument(help: ArgumentHelp("The new name: \(Configuration.headsetNameRule)."))
    var new: String

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        guard Configuration.isHeadsetName(new) else {
            throw Failure(
                problem: "'\(new.printable)' is no name for a headset.", consequence: "nothing was changed.",
                remedy: "write \(Configuration.headsetNameRule).", code: .usage)
        }
        try options.openForControl().renameHeadset(old, to: new)
        let configured = try? options.configurationIfPresent()
        try RenameFacts(
            old: old, new: new, isConfigured: configured.map { $0.headsets.contains { $0.name == new } }
        ).print(asJSON: output.json)
    }
}

/// What a renaming led to.
struct RenameFacts: Facts {
    var old: String
    var new: String
    /// Whether the configuration has the new name; nil where there is none.
    var isConfigured: Bool?

    func lines(style: TerminalStyle) -> [String] {
        let sentence = "\(old.printable) is \(new.printable) from now on, with everything that was recorded of it."
        guard isConfigured == false else { return [sentence] }
        return [
            sentence,
            style.apply(.caution, to: "The configuration does not name \(new.printable) yet.")
                + " Write it there instead of \(old.printable), then: systemctl reload eegsync.",
        ]
    }
}
