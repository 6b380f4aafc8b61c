package import Bluetooth

/// Why the database could not be opened, read or written.
package enum StorageError: Error, Hashable, Sendable {
    /// The file cannot be opened or created.
    case cannotOpen(path: String, reason: String)
    /// This user may read the file, but not write its directory, where SQLite needs a file that is there only while a program
    /// which may write has the database open.
    case needsWriter(path: String)
    /// This user may not reach or read the file, which members of the group may; nil where the group has no name.
    case denied(path: String, group: String?)
    /// The file system of the file is mounted read-only, and SQLite needs to write beside it even to read.
    case readOnlyFileSystem(path: String)
    /// The directory of the file does not exist (not mounted yet?).
    case directoryMissing(path: String)
    /// The file was written by a newer version of eegsync; it was left untouched. `snapshot` is a copy beside it that this
    /// version can go on with; nil where there is none.
    case newerSchema(path: String, unknownMigrations: [String], snapshot: String? = nil)
    /// The file has the schema of an older version of eegsync, a process of which acquires into it.
    case olderSchemaInUse(path: String, pid: Int32)
    /// The file is not a database, or is damaged.
    case corrupt(path: String, detail: String)
    /// No room is left on the file system.
    case diskFull(detail: String)
    /// The file or its file system is read-only, or this user may not write it.
    case readOnly(detail: String)
    /// Beside the file lies a rollback journal, from which SQLite would undo a transaction before anybody may read.
    case leftJournal(path: String)
    /// Another connection held the database for too long.
    case busy(detail: String)
    /// Another process acquires into this database.
    case inUse(path: String, pid: Int32)
    /// A constraint of the schema refused a row: a defect of this program.
    case constraint(detail: String)
    /// What waits for its transaction cannot be kept where it outlives the process.
    case spool(path: String, reason: String)
    /// Any other error of SQLite.
    case sqlite(code: Int32, detail: String)
    /// What was asked for is not in the database.
    case notFound(what: String)
    /// The headset is being recorded already.
    case alreadyRecording(headset: String, recording: Int64)
    /// What a person asked for contradicts what the database holds, such as a second recording of one headset.
    case refused(reason: String)

    /// What the error asks for.
    package var disposition: Disposition {
        switch self {
        case .diskFull, .busy, .readOnly, .readOnlyFileSystem, .directoryMissing, .spool: .retry
        case .cannotOpen, .needsWriter, .denied, .corrupt, .newerSchema, .olderSchemaInUse, .leftJournal, .inUse,
            .alreadyRecording, .refused:
            .waitForOperator
        // 10 is SQLITE_IOERR: a medium that failed once may work again. Extended codes keep the kind in the low byte.
        case .sqlite(let code, _): code & 0xFF == 10 ? .retry : .stop
        case .constraint, .notFound: .stop
        }
    }
}

extension StorageError: CustomStringConvertible {
    /// What happened, to which file, why; what eegsync does next; what a person can do.
    package var description: String {
        switch self {
        case .cannotOpen(let path, let reason):
            "The database \(path) cannot be opened: \(reason). Nothing was changed. "
                + "Check the path in the configuration, and that this user may read and write the file and its directory."
        case .needsWriter(let path):
            "The database \(path) cannot be read by this user just now: SQLite needs \(path)-shm, which is there only while a "
                + "program that may write has the database open, and this user may not create it. Nothing was changed. "
                + "Read while the daemon runs, or as a user who may write the directory, or read a copy elsewhere."
        case .denied(let path, let group):
            "This user may not read the database \(path). Nothing was changed. "
                + "Join the group \(group ?? "that owns it") (usermod -aG), and log in again."
        case .readOnlyFileSystem(let path):
            "The file system of the database \(path) is mounted read-only, and SQLite must write beside it even to read it. "
                + "Nothing was changed. Remount it writable, or read a copy elsewhere."
        case .directoryMissing(let path):
            "The directory \(path) of the database does not exist; it may not be mounted yet. "
                + "The daemon waits for it; commands stop here. Mount or create it."
        case .newerSchema(let path, let migrations, let snapshot):
            "The database \(path) was written by a newer version of eegsync "
                + "(it has \(migrations.joined(separator: ", "))). It was left untouched. Install that version or a later one"
                + (snapshot.map { ", or go back to \($0) with `eegsync downgrade`." } ?? ".")
        case .olderSchemaInUse(let path, let pid):
            "The database \(path) has the schema of an older eegsync, and process \(pid) of that version acquires into it. "
                + "Nothing was changed. Restart that process with this version."
        case .corrupt(let path, let detail):
            "The database \(path) is damaged or no SQLite database: \(detail). It was left as it is, nothing more is written. "
                + "Copy it, then try `sqlite3 \(path) .recover`, or give another path in the configuration."
        case .diskFull(let detail):
            "The file system of the database is full: \(detail). The transaction was undone, what was stored before is safe. "
                + "The daemon buffers and tries again. Make room."
        case .readOnly(let detail):
            "The database cannot be written: \(detail). The daemon buffers and tries again. "
                + "Check the permissions of the file and its directory, and whether the file system is mounted read-only."
        case .leftJournal(let path):
            "Beside the database \(path) lies \(path)-journal, by which SQLite would undo a transaction that another program "
                + "has begun, before anybody may read. Nothing was changed. A database that eegsync has written has no such "
                + "file: move it away where it is something else."
        case .busy(let detail):
            "Another program held the database for too long: \(detail). The transaction was undone and may be tried again. "
                + "End programs that keep a write transaction open."
        case .inUse(let path, let pid):
            "Another eegsync (process \(pid)) acquires into the database \(path). Nothing was changed. "
                + "Stop that process first, or give this one another database."
        case .constraint(let detail):
            "The database refused a row: \(detail). The transaction was undone, what was stored before is safe. "
                + "This is a defect of eegsync; please report it."
        case .spool(let path, let reason):
            "The spool \(path) cannot be used: \(reason). Transactions are made each second meanwhile, which loses nothing and "
                + "writes more to the disk. Check the directory's room and permissions."
        case .sqlite(let code, let detail):
            "SQLite failed with code \(code): \(detail). The transaction was undone. "
                + "Check the disk, then the database with `eegsync audit`."
        case .notFound(let what):
            "There is no \(what) in the database. Nothing was changed. `eegsync recordings` lists what there is."
        case .alreadyRecording(let headset, let recording):
            "The headset \(headset) is being recorded already (recording \(recording)). Nothing was changed. Stop that first."
        case .refused(let reason):
            "Refused: \(reason). Nothing was changed."
        }
    }
}
