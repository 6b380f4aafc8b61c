import ArgumentParser
import Foundation
import Storage

/// Which database a command works on.
struct DatabaseOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file.", valueName: "path"), completion: .file(extensions: ["yaml", "yml"]))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The database. Without it: the one that --config names, else $EEGSYNC_DATABASE, else that of the configuration.",
            valueName: "path"),
        completion: .file(extensions: ["sqlite"]))
    var database: String?

    /// The file that a configuration is looked for in.
    var configurationPath: String { config ?? Configuration.defaultPath }

    /// The configuration.
    ///
    /// - Throws: ``ConfigurationError``.
    func configuration() throws(ConfigurationError) -> Configuration {
        try ConfigurationFile.load(path: configurationPath)
    }

    /// The configuration where there is one. A file that was named, or is there, must be right.
    func configurationIfPresent() throws(ConfigurationError) -> Configuration? {
        if config == nil && !FileManager.default.fileExists(atPath: Configuration.defaultPath) { return nil }
        return try configuration()
    }

    /// The path of the database: as the command says, by itself or by a configuration, else the environment, else the
    /// configuration.
    func databasePath(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> String {
        if let database, !database.isEmpty { return database }
        if config == nil, let named = environment["EEGSYNC_DATABASE"], !named.isEmpty { return named }
        guard let configuration = try configurationIfPresent() else { throw .noDatabase(file: configurationPath) }
        return configuration.databasePath
    }

    /// Opens the database for looking only.
    func openReadOnly() throws -> ReadOnlyStore {
        try ReadOnlyStore(path: try databasePath(), hostBoot: try HostBoot.current())
    }

    /// Opens the database for writing an operator's wish, and notes what time it is, so that the wish has one.
    func openForControl() throws -> ControlStore {
        let store = try ControlStore(path: try databasePath(), hostBoot: try HostBoot.current())
        try store.noteClockOffset(HostClock.offset())
        return store
    }
}

/// By which clock times are printed.
struct TimeOptions: ParsableArguments {
    @Flag(help: "Print times in UTC instead of the time of this machine; --json always does.")
    var utc = false

    var clock: WallClock { utc ? .utc : .local }
}

/// How facts are printed.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON document for programs.")
    var json = false
}
