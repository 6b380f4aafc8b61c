import ArgumentParser
import Bluetooth
import HeadsetDescriptors
import Headsets
import YAMLReading

/// `eegsync headsets check`: whether a descriptor is right, and whether it fits what a headset sends.
struct CheckDescriptor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a descriptor, alone or against what a headset sent.",
        discussion: """
            Names everything that is wrong in the file, with line, column and key. With --against, decodes a capture (see \
            `eegsync help replay` for its formats) as the descriptor says, counts what was lost and what fits nothing, \
            compares the sampling frequencies, and draws the first seconds of each channel.

            Exit code 0 if the descriptor is right, 65 if not, or if nothing of the capture could be decoded; 66 where a file \
            cannot be read.

            EXAMPLES
              eegsync headsets check mine.yaml
              eegsync headsets check mine.yaml --against capture.btsnoop --seconds 10
            """)

    @Argument(help: "The descriptor.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String

    @Option(help: ArgumentHelp("A capture of the headset.", valueName: "capture"), completion: .file())
    var against: String?

    @Option(help: "The capture's format. Without it: as the file's beginning shows.")
    var format: Replay.Format?

    @Option(help: ArgumentHelp("Which of several headsets in a btsnoop file.", valueName: "number"))
    var connection: Int?

    @Option(help: "How much of the capture's beginning is drawn (0.1 ... 60).")
    var seconds: Double = 4

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if !(0.1...60).contains(seconds) { throw ValidationError("--seconds must be 0.1 ... 60.") }
    }

    func run() throws {
        let text: String
        do {
            text = try DescriptorFile.text(path: file)
        } catch {
            throw Failure(
                problem: "the descriptor \(file) cannot be read: \(FileReason(error).words).",
                consequence: "nothing was checked.", remedy: "check the path, who may read it (ls -l), and that it is a text.",
                code: .noInput)
        }
        var facts = DescriptorCheckFacts(file: file)
        do throws(YAMLDocumentError) {
            let profile = DescribedProfile(try DescriptorReader.read(text, takenModels: HeadsetCatalog.builtIn.models))
            facts.accept(profile)
            if let against { compare(profile, with: against, &facts) }
        } catch {
            facts.refuse(error)
        }
        try facts.print(asJSON: output.json)
        if let code = facts.failure { throw ExitCode(code.rawValue) }
    }

    private func compare(_ profile: DescribedProfile, with path: String, _ facts: inout DescriptorCheckFacts) {
        do {
            let file = try CaptureFile.read(path, format: format, connection: connection, profile: profile)
            let trial = CaptureTrial(file.contents, profile: profile, plotted: .nanoseconds(Int64(seconds * 1e9)))
            facts.trial = TrialFacts(trial, seconds: seconds, capture: path, hasTimes: file.hasTimes)
        } catch {
            facts.refuse(Failure(error))
        }
    }
}
