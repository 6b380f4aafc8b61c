import Foundation
import Glibc
import Synchronization

/// Proof that this process alone acquires into a database.
///
/// An flock(2) on the file `<database>-lock`, which also holds the pid in words. The kernel gives the lock back when the
/// process ends in whatever way, `kill -9` included, so there is no stale lock. The file stays: removing it would let two
/// processes lock two different files of the same name.
package final class AcquisitionLock: Sendable {
    private let descriptor: Mutex<Int32>

    /// Takes the lock.
    ///
    /// - Parameter path: the database file; its directory must exist.
    /// - Throws: ``StorageError/inUse(path:pid:)`` with the holder's pid (0 if it could not be read), or
    ///   ``StorageError/readOnly(detail:)``, ``StorageError/cannotOpen(path:reason:)``.
    package init(database path: String) throws(StorageError) {
        let lockPath = path + "-lock"
        // Closed on exec, so that no child process keeps the lock.
        // No link is followed: what it leads to would be overwritten with the pid.
        let file = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw StorageError.companion(lockPath) }
        FileModes(database: path).share(file, isSecret: true)
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let holder = Self.readPID(from: file)
            Glibc.close(file)
            throw StorageError.inUse(path: path, pid: holder)
        }
        let text = Array("\(getpid())\n".utf8)
        // A full disk must not stop the acquisition for want of a few bytes: the lock holds without its words.
        _ = ftruncate(file, 0)
        _ = pwrite(file, text, text.count, 0)
        self.descriptor = Mutex(file)
    }

    deinit { release() }

    /// Gives the lock back; nothing happens the second time.
    package func release() {
        descriptor.withLock { file in
            if file >= 0 { Glibc.close(file) }
            file = -1
        }
    }

    private static func readPID(from file: Int32) -> Int32 {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(file, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(0, count)).prefix { $0 >= 0x30 && $0 <= 0x39 }
        return Int32(String(decoding: digits, as: UTF8.self)) ?? 0
    }
}
