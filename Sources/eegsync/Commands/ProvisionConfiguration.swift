import ArgumentParser
import Foundation

/// `eegsync configuration provision`: installs the configuration that came with the card.
struct ProvisionConfiguration: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provision",
        abstract: "Install a configuration from the boot partition, once.",
        discussion: """
            eegsync-provision.service runs this at each boot before eegsync starts. Where the file is right, it becomes the \
            configuration, and the one before it is kept as `eegsync.yaml-before-provisioning`. In any case it is set aside, \
            without passkeys and secret addresses, and `eegsync-result.txt` beside it says what became of it, for whoever \
            reads the card elsewhere.

            Exit code 0 where it was installed or there is none, 65 where it was refused, 74 where it could not be set aside.

            EXAMPLES
              eegsync configuration provision
              eegsync configuration provision card/eegsync.yaml --to /etc/eegsync/eegsync.yaml
            """)

    @Argument(
        help: ArgumentHelp(
            "The file. Without it: the first that is there of \(ProvisionedFile.usualPaths.joined(separator: ", ")).",
            valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var file: String?

    @Option(help: ArgumentHelp("The configuration that it becomes.", valueName: "path"))
    var to: String = Configuration.defaultPath

    @OptionGroup var output: OutputOptions

    func run() throws {
        let found = file ?? ProvisionedFile.usualPaths.first { FileManager.default.fileExists(atPath: $0) }
        guard let found else {
            return try ProvisionFacts(file: nil, target: to, outcome: nil).print(asJSON: output.json)
        }
        var provisioned = ProvisionedFile(path: found, target: to)
        let outcome = try provisioned.provision()
        try ProvisionFacts(file: found, target: to, outcome: outcome).print(asJSON: output.json)
        if case .refused = outcome { throw ExitCode(Failure.Code.dataError.rawValue) }
    }
}

/// What became of a configuration on the boot partition.
struct ProvisionFacts: Facts {
    /// Nil where there is none.
    var file: String?
    var target: String
    var isInstalled = false
    /// The headsets of an installed one.
    var headsets: [String]?
    /// Why one was refused.
    var problems: [String]?

    init(file: String?, target: String, outcome: ProvisionedFile.Outcome?) {
        self.file = file
        self.target = target
        switch outcome {
        case .installed(let names): (isInstalled, headsets) = (true, names)
        case .refused(let reasons): problems = reasons
        case nil: break
        }
    }

    func lines(style: TerminalStyle) -> [String] {
        guard let file else { return ["No configuration lies on the boot partition."] }
        guard let problems else {
            return [style.apply(.good, to: "\(file.printable) was installed as \(target.printable).")]
        }
        return [style.apply(.bad, to: "\(file.printable) was not installed:")] + problems.map { "  \($0.printable)" }
    }
}
