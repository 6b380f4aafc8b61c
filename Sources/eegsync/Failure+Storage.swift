import Storage

extension Failure {
    /// Errors of the database.
    init(storage error: StorageError) {
        switch error {
        case .cannotOpen, .needsWriter, .denied, .readOnlyFileSystem, .directoryMissing, .newerSchema, .olderSchemaInUse,
            .leftJournal, .corrupt, .inUse, .spool:
            self.init(opening: error)
        case .alreadyRecording(let headset, let recording):
            self.init(
                problem: "the headset \(headset) is being recorded already (recording \(recording)).",
                consequence: "that recording goes on; no other was started.",
                remedy: "for a new one stop that one first: eegsync record stop \(headset).", code: .temporary)
        case .diskFull(let detail):
            self.init(
                problem: "the disk of the database is full: \(detail).",
                consequence: "what was committed is safe; a running `eegsync run` buffers and resumes by itself.",
                remedy: "make room on the disk.", code: .ioError)
        case .readOnly(let detail):
            self.init(
                problem: "the database may not be written: \(detail).", consequence: "nothing was written.",
                remedy:
                    "only its owner writes it; members of the group \(ControlRight.record.group) record and mark through the "
                    + "control service (systemctl start eegsync-control.socket). A disk may be mounted read-only, and the "
                    + "service writes where ReadWritePaths= of its unit says.", code: .noPermission)
        case .busy(let detail):
            self.init(
                problem: "another program held the database for too long: \(detail).",
                consequence: "nothing that is stored was changed.", remedy: "end the program that uses it and try again.",
                code: .temporary)
        case .constraint(let detail):
            self.init(
                problem: "the database refused a row: \(detail).", consequence: "nothing of the transaction was stored.",
                remedy: "report this message; it is a defect of eegsync.", code: .software)
        case .sqlite(let code, let detail):
            self.init(
                problem: "SQLite failed with code \(code): \(detail).", consequence: "nothing of the transaction was stored.",
                remedy: "check the disk, then try again.", code: .ioError)
        case .refused(let reason):
            self.init(
                problem: "\(reason).", consequence: "nothing was changed.",
                remedy: "`eegsync status` shows how things are.", code: .usage)
        case .notFound(let what):
            self.init(
                problem: "there is no \(what).", consequence: "nothing was changed.",
                remedy: "`eegsync recordings`, `eegsync schedule list` and `eegsync status` list what there is.", code: .noInput
            )
        }
    }

    private static func cannotOpen(_ path: String, _ reason: String) -> Failure {
        Failure(
            problem: "the database \(path) cannot be opened: \(reason).", consequence: "nothing was written.",
            remedy: "check the path and who may read it (ls -l); `eegsync record start` makes a new database.", code: .noInput)
    }

    /// Why a database cannot be opened.
    private init(opening error: StorageError) {
        switch error {
        case .cannotOpen(let path, let reason):
            self = LostDatabase.failure(at: path) ?? Self.cannotOpen(path, reason)
        case .needsWriter(let path):
            self.init(
                problem:
                    "the database \(path) cannot be read by this user just now: SQLite needs \(path)-shm, which is there only "
                    + "while a program that may write has the database open, and this user may not create it.",
                consequence: "nothing was changed.",
                remedy:
                    "read it while `eegsync run` runs, or as its owner (ls -l says who), or copy the file into a directory of "
                    + "your own and name the copy with --database. In a directory of mode 2750 eegsync leaves that file there.",
                code: .noPermission)
        case .denied(let path, let group):
            self.init(
                problem: "the database \(path) is closed to this user: Permission denied.", consequence: "nothing was changed.",
                remedy: group.map {
                    "join the group \($0): sudo usermod -aG \($0) $USER; then log in again (or: newgrp \($0))."
                } ?? "run the command as its owner (ls -ld says who), or with sudo.", code: .noPermission)
        case .readOnlyFileSystem(let path):
            self.init(
                problem: "the file system of the database \(path) is mounted read-only, and SQLite needs to write beside it "
                    + "even to read.",
                consequence: "nothing was changed.",
                remedy:
                    "remount it writable (mount -o remount,rw), or copy the file with its -wal into a directory of your own "
                    + "and name the copy with --database.", code: .noPermission)
        case .directoryMissing(let path):
            self.init(
                problem: "the directory of the database \(path) is not there.",
                consequence: "nothing was written; `eegsync run` waits for the directory.",
                remedy: "mount the disk or create the directory.", code: .noInput)
        case .newerSchema(let path, let migrations, let snapshot):
            self = Self.newerSchema(path, migrations, snapshot)
        case .olderSchemaInUse(let path, let pid):
            self.init(
                problem: "the database \(path) has the schema of an older eegsync, process \(pid) of which acquires into it.",
                consequence: "nothing was changed; that process goes on.",
                remedy: "restart it with this version: systemctl restart eegsync.", code: .temporary)
        case .leftJournal(let path):
            self.init(
                problem: "beside the database \(path) lies \(path)-journal, by which SQLite would undo a transaction that "
                    + "another program has begun, before anybody may read.",
                consequence: "nothing was changed.",
                remedy: "move \(path)-journal away where it is something else, such as a copy of yours: a database that "
                    + "eegsync has written has no such file. Where another program was killed while it wrote, copy both files, "
                    + "then let SQLite undo it: sqlite3 \(path) .tables", code: .dataError)
        case .corrupt(let path, let detail):
            self.init(
                problem: "the database \(path) is damaged or is no database: \(detail).",
                consequence: "the file was left untouched.",
                remedy: "copy it somewhere safe, then try `sqlite3 FILE .recover`.", code: .dataError)
        case .inUse(let path, let pid):
            self.init(
                problem: "process \(pid) already acquires into \(path).", consequence: "this process stops; that one goes on.",
                remedy: "use that one, or stop it first (systemctl stop eegsync, or kill \(pid)).", code: .temporary)
        case .spool(let path, let reason):
            self.init(
                problem: "what a process that died has left in \(path) cannot be read: \(reason).",
                consequence: "nothing was changed; a running `eegsync run` takes it over.",
                remedy: "start the daemon, or run the command as its user (sudo -u eegsync).", code: .noPermission)
        default:
            self.init(
                problem: "\(error)", consequence: "nothing was changed.", remedy: "check the database.", code: .ioError)
        }
    }

    private static func newerSchema(_ path: String, _ migrations: [String], _ snapshot: String?) -> Failure {
        Failure(
            problem: "the database \(path) was written by a newer version of eegsync (\(migrations.joined(separator: ", "))).",
            consequence: "the file was left untouched.", remedy: wayBack(to: snapshot), code: .dataError)
    }

    /// What a person can do who has an older version than the one that wrote the database.
    private static func wayBack(to snapshot: String?) -> String {
        guard let snapshot else {
            return "install that version or a later one; beside the database is no copy from before it was changed."
        }
        return "install that version or a later one. To stay with this one: `eegsync downgrade` goes back to \(snapshot), "
            + "the database as it was before the newer version changed it, and keeps what was recorded since then in a file "
            + "beside it; then `systemctl start eegsync`."
    }
}
