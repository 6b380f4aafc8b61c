import ArgumentParser
import CLinux
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// `eegsync run`: the daemon.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the daemon: keep headsets connected and record what is wanted.",
        discussion: """
            Runs in the foreground and logs to standard error; Deploy/eegsync.service runs it under systemd. What is recorded \
            is decided by `eegsync record`.

            SIGTERM and SIGINT end it in order: links are closed, the last batch is committed, recordings stay open and go on \
            when it is started again. SIGHUP reads the configuration again. A crash or kill -9 costs nothing that was \
            committed, a power cut nothing that a headset with a memory was allowed to forget; it is asked for the rest.

            EXAMPLE
              eegsync run --config /etc/eegsync/eegsync.yaml
            """)

    @Option(help: ArgumentHelp("The configuration file.", valueName: "path"), completion: .file(extensions: ["yaml", "yml"]))
    var config: String = Configuration.defaultPath

    func run() async throws {
        let configuration = try ConfigurationFile.load(path: config)
        Self.ignoreSignals()
        clinux_return_freed_memory()
        // Trapped before anything else, so that an early reload does not end the process.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        let log = DaemonLog(level: configuration.logLevel)
        let daemon = Daemon(configuration: configuration, choice: CentralChoice(configuration.central), log: log)
        let reload = Reload(file: config, configuration: configuration, hangups: hangups, daemon: daemon, log: log)
        var quiet = Logger(label: "lifecycle", factory: { StreamLogHandler.standardError(label: $0) })
        // The group's own lines repeat what the daemon says.
        quiet.logLevel = .critical
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: daemon, successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .cancelGroup),
                    .init(service: reload, successTerminationBehavior: .ignore),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet))
        try await group.run()
    }

    private static func ignoreSignals() {
        // Both then come as errors of the call: a closed pipe for the log, and a file that may not grow.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }
}
