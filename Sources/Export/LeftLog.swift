import Glibc

/// What lies beside a path and belongs to another database that had it: a write-ahead log with the file that its readers
/// share, or a rollback journal. SQLite would take it for that of the database which gets the path, and write the pages of the
/// one into the other (https://www.sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use).
struct LeftLog {
    /// Of the database that is to get it.
    let path: String

    private static let endings = ["-wal", "-shm", "-journal"]
    /// Where SQLite locks the file that readers share, and the database itself (wal.c, os_unix.c, sqliteInt.h).
    private static let sharedLocks = (first: 120, count: 9)
    private static let databaseLocks = (first: 0x4000_0000, count: 512)
    /// F_OFD_GETLK, which Swift does not import (asm-generic/fcntl.h): unlike F_GETLK it finds locks of this process, too.
    private static let getLock: Int32 = 36

    /// The files that are there.
    private var present: [String] { Self.endings.map { path + $0 }.filter { access($0, F_OK) == 0 } }

    /// Throws where a database must not get the path.
    ///
    /// - Throws: ``ExportError/leftLog(path:log:isOpen:)``: a program has the other database open, or `isRemoved` is false.
    func check(isRemoved: Bool) throws {
        guard let log = present.first else { return }
        let isOpen = Self.isLocked(path + "-shm", Self.sharedLocks) || Self.isLocked(path, Self.databaseLocks)
        if isOpen || !isRemoved { throw ExportError.leftLog(path: path, log: log, isOpen: isOpen) }
    }

    /// Removes the files.
    ///
    /// - Throws: ``ExportError``.
    func remove() throws {
        for log in present where unlink(log) != 0 && errno != ENOENT {
            throw ExportError.cannotWrite(path: path, reason: "\(log) cannot be removed: \(String(cString: strerror(errno)))")
        }
    }

    /// Whether anybody holds a lock on a part of a file. What cannot be looked at counts as held.
    ///
    /// - Parameter command: of fcntl(2).
    static func isLocked(_ path: String, _ part: (first: Int, count: Int), command: Int32 = LeftLog.getLock) -> Bool {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return errno != ENOENT }
        defer { close(file) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        (lock.l_start, lock.l_len) = (part.first, part.count)
        guard fcntl(file, command, &lock) == 0 else { return true }
        return lock.l_type != Int16(F_UNLCK)
    }
}
