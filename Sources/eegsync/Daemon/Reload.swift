import Logging
import ServiceLifecycle
import UnixSignals

/// Reads the configuration again on SIGHUP. A wrong one changes nothing.
actor Reload: Service {
    private let file: String
    /// As the process began with it: what was made of that stays, as long as the process runs.
    private let configuration: Configuration
    private let hangups: UnixSignalsSequence
    private let daemon: Daemon
    private let log: DaemonLog

    init(file: String, configuration: Configuration, hangups: UnixSignalsSequence, daemon: Daemon, log: DaemonLog) {
        self.file = file
        self.configuration = configuration
        self.hangups = hangups
        self.daemon = daemon
        self.log = log
    }

    func run() async {
        for await _ in hangups.cancelOnGracefulShutdown() {
            ServiceNotification.reloading()
            await reload()
            daemon.ready()
        }
    }

    private func reload() async {
        let new: Configuration
        do {
            new = try ConfigurationFile.load(path: file)
        } catch {
            log.log(.error, "the configuration is not used, the old one stays: \(Failure(error).problem)")
            return
        }
        guard new.databasePath == configuration.databasePath else {
            log.log(
                .error,
                "the configuration is not used, the old one stays: it names another database. Restart eegsync for that.",
                ["database": "\(configuration.databasePath)", "new": "\(new.databasePath)"])
            return
        }
        if let sentence = new.alertsSentence { log.log(.error, sentence) }
        for change in configuration.changesOfNextStart(in: new) { log.log(.warning, "\(change)") }
        log.setLevel(new.logLevel)
        await daemon.setHeadsets(new.knownHeadsets)
        log.log(
            .notice, "the configuration was read again",
            ["headsets": "\(new.headsets.map(\.name).joined(separator: " "))", "log_level": "\(new.logLevel.rawValue)"])
    }
}
