import Storage

/// Why nothing is stored although a process acquires, and what a person can do about it.
struct StorageSituation: Hashable, Encodable {
    /// What keeps rows from being stored.
    enum Cause: String, Encodable, Hashable, CaseIterable {
        /// A signal has stopped the process.
        case processStopped
        /// The process records into a file that had the database's name before.
        case replaced
        /// The process records into a file that has no name any more.
        case deleted
        /// No room is left where the database is.
        case diskFull
        /// The file system may not be written.
        case readOnly
        /// Another program is inside a transaction that writes.
        case writeLock
        /// The database does not take what is written, for another reason.
        case refused
        /// The process lives and commits nothing.
        case silent
    }

    var cause: Cause
    /// Completes "nothing is stored: ...".
    var sentence: String
    /// What a person can do.
    var remedy: String

    /// A file system with less room than this, in bytes, counts as full: a commit of a second is smaller, but SQLite's log
    /// grows by its own measure before it begins anew.
    private static let fullBytes: Int64 = 4_000_000

    /// Nil where nothing speaks against that everything is stored.
    init?(_ facts: StorageFacts) {
        let process = "eegsync run (pid \(facts.process.pid))"
        if facts.process.isStopped {
            self.init(
                .processStopped, "\(process) is stopped by a signal; what is sent meanwhile is lost or waits in the headset",
                "let it go on: kill -CONT \(facts.process.pid), or `fg` in the terminal in which Ctrl-Z was pressed")
            return
        }
        if facts.isGone {
            self.init(
                .deleted, "\(process) records into a file that nobody finds: it was deleted or moved",
                "end it in order, never by kill -9: systemctl stop eegsync; it writes what it holds into a file beside the one "
                    + "that is gone, and names that in its log. Give it the name of the database, then: systemctl start "
                    + "eegsync"
            )
            return
        }
        if facts.isElsewhere {
            self.init(
                .replaced, "\(process) records into another file, which had this name before this one was put here",
                "end it in order, never by kill -9: systemctl stop eegsync; it writes what it holds into a file of its own "
                    + "beside this one, and names that in its log. Decide which of the two is to go on, then: "
                    + "systemctl start eegsync"
            )
            return
        }
        guard facts.hasUnstored || facts.isOverdue else { return nil }
        if facts.isReadOnly {
            self.init(
                .readOnly, "the file system of the database is mounted read-only",
                "see `dmesg` (a failing card is made read-only), then: mount -o remount,rw; eegsync goes on by itself")
        } else if let free = facts.freeBytes, free >= Self.fullBytes, free < facts.reservedBytes {
            self.init(
                .diskFull,
                "the disk of the database is full (\(Quantity.bytes(free)) free, and the last "
                    + "\(Quantity.bytes(facts.reservedBytes)) are kept free)",
                "make room on it, or let recordings go (eegsync prune); eegsync keeps what comes in memory up to a bound, and "
                    + "goes on by itself")
        } else if let free = facts.freeBytes, free < Self.fullBytes {
            self.init(
                .diskFull, "the disk of the database is full (\(Quantity.bytes(free)) free)",
                "make room on it; eegsync keeps what comes in memory up to a bound, and goes on by itself")
        } else if let holder = facts.lockHolders.first {
            self.init(
                .writeLock,
                "\(holder.name.printable) (pid \(holder.pid)) holds the database's write lock",
                "end its transaction there (COMMIT, ROLLBACK or .quit), or that program: kill \(holder.pid); eegsync goes on "
                    + "by itself")
        } else if facts.hasUnstored {
            self.init(
                .refused, "the database does not take what is written",
                "read why: journalctl -u eegsync -e; eegsync keeps what comes in memory up to a bound, and tries again")
        } else {
            self.init(
                .silent, "\(process) commits nothing",
                "read why: journalctl -u eegsync -e; or restart it: systemctl restart "
                    + "eegsync")
        }
    }

    private init(_ cause: Cause, _ sentence: String, _ remedy: String) {
        (self.cause, self.sentence, self.remedy) = (cause, sentence, remedy)
    }
}

/// What is known of the way from the acquiring process to the disk.
struct StorageFacts: Hashable {
    var process: DaemonProcess
    /// True where no file has the database's name.
    var isGone = false
    /// True where the process has another file open than the one that has the database's name.
    var isElsewhere = false
    /// True where the process has noted that rows wait which the database does not take.
    var hasUnstored = false
    /// True where something should have been committed by now and was not.
    var isOverdue = false
    var isReadOnly = false
    var freeBytes: Int64?
    /// What of the disk is kept free.
    var reservedBytes: Int64 = 0
    /// Others that are inside a transaction that writes.
    var lockHolders: [GrownLog.Holder] = []
}
