public import Bluetooth

/// Why the database could not be opened, read or written.
public enum StorageError: Error, Hashable, Sendable {
    /// The file cannot be opened or created.
    case cannotOpen(path: String, reason: String)
    /// The directory of the file does not exist (not mounted yet?).
    case directoryMissing(path: String)
    /// The file was written by a newer version of eegsync; it was left untouched.
    case newerSchema(path: String, unknownMigrations: [String])
    /// The file is not a database, or is damaged.
    case corrupt(path: String, detail: String)
    /// No room is left on the file system.
    case diskFull(detail: String)
    /// The file or its file system is read-only, or this user may not write it.
    case readOnly(detail: String)
    /// Another connection held the database for too long.
    case busy(detail: String)
    /// Another process acquires into this database.
    case inUse(path: String, pid: Int32)
    /// A constraint of the schema refused a row: a defect of this program.
    case constraint(detail: String)
    /// Any other error of SQLite.
    case sqlite(code: Int32, detail: String)
    /// What was asked for is not in the database.
    case notFound(what: String)

    /// What the error asks for.
    public var disposition: Disposition {
        switch self {
        case .diskFull, .busy, .readOnly, .directoryMissing: .retry
        case .cannotOpen, .corrupt, .newerSchema, .inUse: .waitForOperator
        case .constraint, .sqlite, .notFound: .stop
        }
    }
}
