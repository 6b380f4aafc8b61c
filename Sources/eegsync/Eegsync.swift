import ArgumentParser
import Foundation

/// The program. Each command is a file of `Commands`; what all of them share is here.
@main
struct Eegsync: AsyncParsableCommand {
    /// The version, without what the build adds to it. Deploy/package reads it here.
    static let number = "0.1.0"
    /// The version that stands beside data, with the commit where the build says it.
    static let version = BuildIdentity.own.provenance

    static let configuration = CommandConfiguration(
        commandName: "eegsync",
        abstract: "Keeps Bluetooth EEG headsets connected for weeks, and stores what they send with evidence of it.",
        discussion: """
            `eegsync run` is the daemon. All other commands read its SQLite database, or write what you wish into it; they \
            work whether or not the daemon runs.

            EXAMPLES
              eegsync record start left --label "night 3"   ask for a recording
              eegsync status --watch                        see how it goes
              eegsync audit                                 compare it with its evidence
              eegsync export 12 -o night3.edf               get a file for your analysis

            Exit codes are those of sysexits.h: 64 wrong command line, 65 damaged data or failed audit, 66 nothing there, \
            69 something wanted does not happen, 70 a defect, 71 the system refuses, 73 cannot create the output, 74 disk \
            full, 75 try again, 77 not permitted, 78 wrong configuration. Besides, `eegsync latency` ends with 1 where a \
            headset was back too late, and `eegsync alerts check` and `eegsync status --check` with 0 ... 3.
            """,
        version: BuildIdentity.own.description,
        subcommands: [
            Run.self, SetupCommand.self, ConfigurationCommand.self, Scan.self, HeadsetsCommand.self, Doctor.self, Record.self,
            ScheduleCommand.self, Pause.self, Resume.self, Mark.self, Marks.self, Status.self, ServeCommand.self,
            TapCommand.self, LSLCommand.self, MarkersCommand.self, AlertsCommand.self, MetricsCommand.self,
            CompanionCommand.self, Recordings.self, Events.self, Latency.self, Gaps.self, Audit.self, ManifestCommand.self,
            RefitCommand.self,
            BackupCommand.self, VerifyCommand.self, MergeCommand.self, DeleteCommand.self, Prune.self, Forget.self,
            Compact.self,
            MachineCommand.self,
            ShipCommand.self, FleetCommand.self, FetchCommand.self, CentreCommand.self, Downgrade.self,
            ExportCommand.self, ReportCommand.self, Impedance.self, CaptureCommand.self, Replay.self, Demo.self, Simulate.self,
            Imitate.self,
            DemoAcquisition.self, ControlCommand.self,
        ])

    /// Parses, runs, and turns every error into its message and exit code.
    static func main() async {
        StandardStreams.open()
        if let zone = ZoneDatabase.misunderstood(ProcessInfo.processInfo.environment) {
            let text = "TZ is '\(zone.printable)', which is no zone by name: local times are UTC. Write it as Europe/Berlin."
            write(text, style: TerminalStyle.detected(for: STDERR_FILENO))
        }
        do {
            var command = try parseAsRoot()
            if let controlled = command as? any ControlledCommand,
                let code = try ControlClient().run(controlled, arguments: Array(CommandLine.arguments.dropFirst()))
            {
                exit(withError: ExitCode(code))
            }
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            try StandardOutput.finish()
        } catch {
            end(with: error)
        }
    }

    private static func end(with error: any Error) -> Never {
        let code = exitCode(for: error)
        // Help, version and plain exit codes are the argument parser's own; it knows their texts.
        if code == .success, let columns = TerminalSize.columns(of: STDOUT_FILENO),
            let help = HelpText(fullMessage(for: error, columns: HelpText.unbrokenColumns))
        {
            print(help.wrapped(columns: columns))
            endAfterOutput(with: .success)
        }
        if code == .success {
            let text = fullMessage(for: error)
            if !text.isEmpty { print(text) }
            endAfterOutput(with: .success)
        }
        if error is ExitCode { endAfterOutput(with: code) }
        let style = TerminalStyle.detected(for: STDERR_FILENO)
        if error is ValidationError || code != .failure {
            // So are usage errors.
            write(UnknownOption.withoutFarSuggestion(fullMessage(for: error)), style: style)
            exit(withError: code)
        }
        fail(Failure(error))
    }

    private static func fail(_ failure: Failure) -> Never {
        let style = TerminalStyle.detected(for: STDERR_FILENO)
        write(failure.message(style: style), style: style)
        exit(withError: ExitCode(failure.code.rawValue))
    }

    /// Ends with a code once everything that was printed is written. Where it is not, a code that says something else than
    /// success stays.
    private static func endAfterOutput(with code: ExitCode) -> Never {
        do throws(Failure) {
            try StandardOutput.finish()
            exit(withError: code)
        } catch {
            var failure = error
            guard code != .success else { fail(failure) }
            failure.consequence = "what the command prints is lost, or is there in part; its exit code is right."
            let style = TerminalStyle.detected(for: STDERR_FILENO)
            write(failure.message(style: style), style: style)
            exit(withError: code)
        }
    }

    /// Writes lines to standard error, broken between words where the terminal is narrower.
    private static func write(_ message: String, style: TerminalStyle) {
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false).flatMap {
            Paragraph.fitted(String($0), columns: style.columns)
        }
        StandardError.write(lines.joined(separator: "\n") + "\n")
    }
}
