import Export
import Storage
import YAMLReading

/// The end of a command that did not do what it was asked: a message for a person and an exit code for programs.
///
/// Every error boundary of the program is mapped here and nowhere else. The codes are those of `sysexits.h`.
struct Failure: Error, Hashable {
    /// What failed, on which object, and why.
    var problem: String
    /// What eegsync does next by itself.
    var consequence: String
    /// What a person can do.
    var remedy: String
    /// The exit code.
    var code: Code

    /// Exit codes of `sysexits.h` that eegsync uses.
    enum Code: Int32, Hashable, CaseIterable {
        /// Wrong command line.
        case usage = 64
        /// The input data is damaged, of a newer version, or does not pass the audit.
        case dataError = 65
        /// An input file or a named object is not there.
        case noInput = 66
        /// A service, such as a kind of central, is not available.
        case unavailable = 69
        /// A defect of eegsync.
        case software = 70
        /// The operating system refused something basic.
        case osError = 71
        /// An output file cannot be created.
        case cannotCreate = 73
        /// Reading or writing failed, or the disk is full.
        case ioError = 74
        /// It may work when it is tried again.
        case temporary = 75
        /// This user may not.
        case noPermission = 77
        /// The configuration is wrong.
        case configuration = 78

        /// True where the next start ends in the same way until a person corrects something: the unit does not restart then.
        var lasts: Bool {
            switch self {
            case .usage, .dataError, .noPermission, .configuration: true
            // A file that cannot be opened may be one for want of descriptors: a needless start costs less than a night.
            case .noInput, .unavailable, .software, .osError, .cannotCreate, .ioError, .temporary: false
            }
        }
    }

    /// The message as it is written to standard error.
    func message(style: TerminalStyle) -> String {
        """
        \(style.apply(.bad, to: "eegsync:")) \(problem.printableLines)
          What happens now: \(consequence.printableLines)
          What you can do: \(remedy.printableLines)
        """
    }
}

extension String {
    /// The text safe for a terminal, with its line ends kept.
    fileprivate var printableLines: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\n")
    }
}

extension Failure {
    /// The failure that an error of any boundary means.
    init(_ error: any Error) {
        switch error {
        case let error as Failure: self = error
        case let error as StorageError: self.init(storage: error)
        case let error as ExportError: self.init(export: error)
        case let error as ConfigurationError: self.init(configuration: error)
        default:
            self.init(
                problem: "an unexpected error: \(error)", consequence: "eegsync stops; what was committed is safe.",
                remedy: "report this message together with the command.", code: .software)
        }
    }

    /// Errors of the configuration file.
    init(configuration error: ConfigurationError) {
        let untouched = "nothing was started and no data was touched."
        switch error {
        case .unreadable(let file, let reason):
            self.init(
                problem: "the configuration \(file) cannot be read: \(reason).", consequence: untouched,
                remedy: "create it (Deploy/eegsync.yaml is an example), or name another one with --config.",
                code: .configuration)
        case .wrong(let file, let error):
            let problems = error.problems
            self.init(
                problem: "the configuration \(file) is wrong:\n" + problems.map { "    \($0)" }.joined(separator: "\n"),
                consequence: untouched, remedy: "correct what is named above; Deploy/eegsync.yaml is an example.",
                code: .configuration)
        case .noDatabase(let file):
            self.init(
                problem: "no database is named: neither --database nor EEGSYNC_DATABASE, and there is no \(file).",
                consequence: untouched, remedy: "name one with --database PATH, or write the configuration.",
                code: .configuration)
        }
    }

    /// Errors of the database.
    init(storage error: StorageError) {
        switch error {
        case .cannotOpen(let path, let reason):
            self.init(
                problem: "the database \(path) cannot be opened: \(reason).", consequence: "nothing was written.",
                remedy: "check the path and who may read it (ls -l); `eegsync record start` makes a new database.",
                code: .noInput)
        case .needsWriter(let path):
            self.init(
                problem:
                    "the database \(path) cannot be read by this user just now: SQLite needs \(path)-shm, which is there only "
                    + "while a program that may write has the database open, and this user may not create it.",
                consequence: "nothing was changed.",
                remedy:
                    "read it while `eegsync run` runs, or as a member of the group eegsync, or copy the file into a directory "
                    + "of your own and name the copy with --database.", code: .noPermission)
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
        case .alreadyRecording(let headset, let recording):
            self.init(
                problem: "the headset \(headset) is being recorded already (recording \(recording)).",
                consequence: "that recording goes on; no other was started.",
                remedy: "for a new one stop that one first: eegsync record stop \(headset).", code: .temporary)
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
        case .corrupt(let path, let detail):
            self.init(
                problem: "the database \(path) is damaged or is no database: \(detail).",
                consequence: "the file was left untouched.",
                remedy: "copy it somewhere safe, then try `sqlite3 FILE .recover`.", code: .dataError)
        case .diskFull(let detail):
            self.init(
                problem: "the disk of the database is full: \(detail).",
                consequence: "what was committed is safe; a running `eegsync run` buffers and resumes by itself.",
                remedy: "make room on the disk.", code: .ioError)
        case .readOnly(let detail):
            self.init(
                problem: "the database may not be written: \(detail).", consequence: "nothing was written.",
                remedy: "run the command as a member of the group eegsync, or mount the disk writable; the service may write "
                    + "where ReadWritePaths= of its unit says.", code: .noPermission)
        case .busy(let detail):
            self.init(
                problem: "another program held the database for too long: \(detail).", consequence: "nothing was written.",
                remedy: "close the program that writes to it and try again.", code: .temporary)
        case .inUse(let path, let pid):
            self.init(
                problem: "process \(pid) already acquires into \(path).", consequence: "this process stops; that one goes on.",
                remedy: "use that one, or stop it first (systemctl stop eegsync, or kill \(pid)).", code: .temporary)
        case .constraint(let detail):
            self.init(
                problem: "the database refused a row: \(detail).", consequence: "nothing of the transaction was stored.",
                remedy: "report this message; it is a defect of eegsync.", code: .software)
        case .spool(let path, let reason):
            self.init(
                problem: "what a process that died has left in \(path) cannot be read: \(reason).",
                consequence: "nothing was changed; a running `eegsync run` takes it over.",
                remedy: "start the daemon, or run the command as its user (sudo -u eegsync).", code: .noPermission)
        case .sqlite(let code, let detail):
            self.init(
                problem: "SQLite failed with code \(code): \(detail).", consequence: "nothing of the transaction was stored.",
                remedy: "check the disk, then try again.", code: .ioError)
        case .refused(let reason):
            self.init(
                problem: "\(reason).", consequence: "nothing was changed.",
                remedy: "`eegsync status` shows how things are.", code: .dataError)
        case .notFound(let what):
            self.init(
                problem: "there is no \(what).", consequence: "nothing was changed.",
                remedy: "`eegsync recordings` and `eegsync status` list what there is.", code: .noInput)
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
