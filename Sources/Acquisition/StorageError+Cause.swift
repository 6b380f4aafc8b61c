import Storage

extension StorageError {
    /// The kind of the error, without the words that differ from time to time: one kind is reported once.
    var cause: String {
        switch self {
        case .cannotOpen, .needsWriter, .denied, .leftJournal: "the file cannot be opened"
        case .directoryMissing: "the directory is missing"
        case .newerSchema: "the database is newer"
        case .olderSchemaInUse: "an older version acquires"
        case .corrupt: "the database is damaged"
        case .diskFull: "the disk is full"
        case .readOnly, .readOnlyFileSystem: "the database is read-only"
        case .busy: "another program holds the database"
        case .inUse: "another process acquires"
        case .constraint: "a row was refused"
        case .spool: "the spool takes nothing"
        case .sqlite(let code, _): "SQLite error \(code)"
        case .notFound: "something is missing"
        case .alreadyRecording, .refused: "a wish was refused"
        }
    }
}
