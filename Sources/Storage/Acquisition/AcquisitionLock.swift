import Foundation
import Glibc
import Synchronization

/// Proof that this process alone acquires into a database.
///
/// An flock(2) on the file `<database>-lock`, which also holds the pid in words. The kernel gives the lock back when the
/// process ends in whatever way, `kill -9` included, so there is no stale lock. The file stays: removing it would let two
/// processes lock two different files of the same name.
package final class AcquisitionLock: Sendable {
    private static let updating = "updating"
    private let descriptor: Mutex<Int32>

    /// Takes the lock.
    ///
    /// - Parameters:
    ///   - path: the database file; its directory must exist.
    ///   - isUpdating: the schema is not yet what this version wants; until ``noteUpdated()``.
    /// - Throws: ``StorageError/inUse(path:pid:)`` with the holder's pid (0 if it could not be read), or
    ///   ``StorageError/readOnly(detail:)``, ``StorageError/cannotOpen(path:reason:)``.
    package init(database path: String, isUpdating: Bool = false) throws(StorageError) {
        let lockPath = Self.path(of: path)
        // Closed on exec, so that no child process keeps the lock.
        // No link is followed: what it leads to would be overwritten with the pid.
        let file = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw StorageError.companion(lockPath) }
        FileModes(database: path).share(file, isSecret: true)
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let holder = Self.words(in: file).first.flatMap { Int32($0) }
            Glibc.close(file)
            throw StorageError.inUse(path: path, pid: holder ?? 0)
        }
        Self.write("\(getpid())" + (isUpdating ? " \(Self.updating)" : ""), to: file)
        self.descriptor = Mutex(file)
    }

    /// The file that is locked: one for each database, whatever links lead to that.
    package static func path(of database: String) -> String { DatabaseFiles.resolve(database) + "-lock" }

    /// The schema is what this version wants.
    func noteUpdated() {
        descriptor.withLock { file in
            if file >= 0 { Self.write("\(getpid())", to: file) }
        }
    }

    /// Whether a process holds the lock of a database, and creates it or changes its schema.
    ///
    /// The word may have outlived a process that was killed. So where it stands the lock is tried; a process that begins to
    /// acquire at that moment finds the word, too, and waits.
    package static func holderIsUpdating(database path: String) -> Bool {
        let file = open(Self.path(of: path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return false }
        defer { Glibc.close(file) }
        return words(in: file).dropFirst().contains(updating) && flock(file, LOCK_SH | LOCK_NB) != 0
    }

    deinit { release() }

    /// Gives the lock back; nothing happens the second time.
    package func release() {
        descriptor.withLock { file in
            if file >= 0 { Glibc.close(file) }
            file = -1
        }
    }

    private static func write(_ line: String, to file: Int32) {
        let text = Array("\(line)\n".utf8)
        // A full disk must not stop the acquisition for want of a few bytes: the lock holds without its words.
        _ = ftruncate(file, 0)
        _ = pwrite(file, text, text.count, 0)
    }

    /// What is written in the file.
    private static func words(in file: Int32) -> [String] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = pread(file, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split { $0.isWhitespace }.map(String.init)
    }
}
