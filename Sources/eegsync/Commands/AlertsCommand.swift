import Alerts
import ArgumentParser
import Bluetooth
import Foundation
import Storage

/// `eegsync alerts`: a voice when something is wrong.
struct AlertsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alerts",
        abstract: "Notify people when data stop, a battery runs down, or the machine is unwell.",
        discussion: """
            What is watched, and how people are notified, stands under 'alerts:' in the configuration. `eegsync alerts run` is \
            a process of its own (Deploy/eegsync-alerts.service): it only reads the database, and may be killed at any time.
            """,
        subcommands: [Run.self, List.self, Test.self, Check.self])
}

/// Where `eegsync alerts` keeps what it must not forget.
struct AlertMemoryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where raised alerts and waiting messages are kept. Without it: $STATE_DIRECTORY, or else "
                + "\(AlertMemoryFile.standardDirectory).", valueName: "path"), completion: .directory)
    var stateDirectory: String?

    var file: AlertMemoryFile { AlertMemoryFile(directory: stateDirectory) }
}

extension DatabaseOptions {
    /// Rules and ways of the configuration; the standard rules, and no way, where it says nothing of alerts.
    func alerts() throws(ConfigurationError) -> Configuration.Alerts {
        let configuration = try configurationIfPresent()
        if let error = configuration?.alertsError { throw error }
        return configuration?.alerts ?? Configuration.Alerts()
    }

    /// What finds out how things stand.
    func alertFactsReader() throws -> AlertFactsReader {
        let configuration = try? configurationIfPresent()
        return AlertFactsReader(
            databasePath: try namedDatabase(), configured: configuration?.headsets.map(\.name),
            commitInterval: (configuration?.limits ?? Configuration.Limits()).commitInterval, hostBoot: try HostBoot.current())
    }
}

extension AlertInstant {
    /// Now, on both clocks of this machine.
    static var now: AlertInstant {
        let offset = HostClock.offset()
        return AlertInstant(time: offset.at, unixNanoseconds: offset.offsetNanoseconds + offset.at.nanoseconds)
    }
}

extension Configuration.Alerts {
    /// The name of this machine in messages.
    static var machine: String { ProcessInfo.processInfo.hostName.printable }
}
