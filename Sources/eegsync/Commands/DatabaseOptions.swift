import ArgumentParser
import Export
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

    /// The path of the database. Where a link was named it is what that leads to: what belongs to the database is beside it.
    func databasePath(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> String {
        DatabaseFiles.resolve(try namedDatabase(environment: environment))
    }

    /// The path as a person has given it: the command says it, by itself or by a configuration, else the environment, else the
    /// configuration. For who looks for long, and is to notice that a link leads elsewhere.
    func namedDatabase(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> String {
        if let database, !database.isEmpty { return database }
        if config == nil, let named = environment["EEGSYNC_DATABASE"], !named.isEmpty { return named }
        guard let configuration = try configurationIfPresent() else { throw .noDatabase(file: configurationPath) }
        return configuration.databasePath
    }

    /// Whether the command itself or the environment names the database, where a slip of the pen may be, and no configuration.
    func statesDatabase(environment: [String: String] = ProcessInfo.processInfo.environment) -> Bool {
        if let database, !database.isEmpty { return true }
        return config == nil && environment["EEGSYNC_DATABASE"]?.isEmpty == false
    }

    /// Opens the database for looking only.
    func openReadOnly() throws -> ReadOnlyStore {
        let path = try databasePath()
        if let failure = LostDatabase.failure(at: path) { throw failure }
        return try ReadOnlyStore(path: path, hostBoot: try HostBoot.current())
    }

    /// Opens the database for writing an operator's wish, and notes what time it is, so that the wish has one.
    ///
    /// - Parameter creates: whether a database is made where none is. Otherwise the path may have been mistyped, and a wish in
    ///   a new database would reach nobody.
    /// - Throws: ``Failure``, `StorageError`; `cannotOpen` where the database is not there and is not to be made.
    func openForControl(creates: Bool = false) throws -> ControlStore {
        let path = try databasePath()
        if let failure = LostDatabase.failure(at: path) { throw failure }
        if let failure = LostDatabase.replacement(at: path) { throw failure }
        if creates, let failure = LostDatabase.reasonNotToCreate(path) { throw failure }
        if !creates, Self.isAbsent(path) { throw StorageError.cannotOpen(path: path, reason: "it is not there") }
        let store = try ControlStore(path: path, hostBoot: try HostBoot.current())
        try store.noteClockOffset(HostClock.offset())
        return store
    }

    /// Refuses a path to write to that is the database's, or that of a file which belongs to it.
    ///
    /// - Throws: `ExportError.ofDatabase`.
    func refuseOwnFile(_ path: String) throws {
        guard let database = try? databasePath(), DatabaseFiles(of: database).has(path) else { return }
        throw ExportError.ofDatabase(path: path, database: database)
    }

    /// True where a directory has no file of the name. Of a directory that is not there, or is closed, opening says more.
    private static func isAbsent(_ path: String) -> Bool {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return access(path, F_OK) != 0 && errno == ENOENT && access(directory, F_OK) == 0
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
