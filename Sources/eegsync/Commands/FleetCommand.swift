import ArgumentParser
import Bluetooth
import Centre
import Foundation

/// `eegsync fleet`: how the machines and headsets of a study are.
struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Show how every machine and headset of a study is, from its centre.",
        discussion: """
            Each headset with the age of its newest sample, by how much the centre is behind its machine, the gaps of today, \
            battery, disk and version, and one sentence; the worst first. A machine that was not heard of for --silent-after \
            is shown as silent: it cannot say so itself. The same stands in the centre's view `fleet`.

            Exit code 0 where everything that is wanted streams, 75 where something does not and eegsync works on it, 69 where \
            a person is needed.

            EXAMPLES
              eegsync fleet --from postgresql://ada@study.example.org/study
              eegsync fleet --watch --silent-after 10min
              eegsync fleet --json
            """)

    /// How often --watch asks; machines speak every ten seconds.
    private static let interval = Duration.seconds(5)
    /// For how long a machine may say nothing: a network that is away for less is nobody's business.
    static let silence = Duration.seconds(120)

    @Option(
        help: ArgumentHelp("The centre: postgresql://ROLE@HOST/DATABASE. Without it: $EEGSYNC_CENTRE.", valueName: "address"))
    var from: String?

    @Option(
        help: ArgumentHelp(
            "For how long a machine may say nothing: 90s, 30min, 8h. Without it: 2min.", valueName: "length"))
    var silentAfter: RecordingLength?

    @Flag(help: "Keep looking, until Ctrl-C.")
    var watch = false

    /// What the server may take for a statement, so that tests wait for less.
    @Option(help: .hidden)
    var statementSeconds: Int32 = Shipper.statementSeconds

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let address = try CentreAddress.stated(from)
        var connection = try connect(address)
        guard watch else {
            let facts = try facts(connection)
            try facts.print(asJSON: output.json)
            if facts.severity.exitCode != 0 { throw ExitCode(facts.severity.exitCode) }
            return
        }
        while true {
            do {
                let facts = try facts(connection)
                if output.json {
                    try facts.print(asJSON: true)
                } else {
                    let isTerminal = isatty(STDOUT_FILENO) == 1
                    print(facts.frame(isTerminal: isTerminal, style: .detected(for: STDOUT_FILENO)), terminator: "")
                }
            } catch let error as CentreError where error.disposition == .retry {
                StandardError.write("eegsync fleet: \("\(error)".printable). It is tried again\n")
                if let again = try? connect(address) { connection = again }
            }
            try StandardOutput.flush()
            try await Task.sleep(for: Self.interval)
        }
    }

    private func connect(_ address: String) throws(CentreError) -> CentreConnection {
        let connection = try CentreConnection(address)
        try connection.endStatements(afterSeconds: max(1, statementSeconds))
        return connection
    }

    private func facts(_ connection: CentreConnection) throws(CentreError) -> FleetFacts {
        try FleetFacts(asking: connection, silenceSeconds: (silentAfter?.duration ?? Self.silence).inSeconds)
    }
}
