import Foundation
import Glibc
import Page
import Synchronization

/// Where the page keeps what it can compute again: a directory below that of the user, for one database and one process.
///
/// It is named after the database's path, and the number and the birth of its file: of a file that was restored, older
/// pictures say nothing. Another process that serves the same database has another one. Whoever has it holds a lock (flock(2)),
/// which the kernel takes back.
final class PageCache: Sendable {
    /// More processes of one user do not serve one database, or keep nothing.
    private static let countMaximum = 8

    private struct Claim {
        var directory: String
        /// The lock's file.
        var descriptor: Int32

        /// False where somebody has removed it.
        var isThere: Bool {
            var facts = stat()
            return fstat(descriptor, &facts) == 0 && facts.st_nlink > 0
        }
    }

    private let root: String
    /// Of all directories of the database's path.
    private let family: String
    /// Of those of its present file.
    private let name: String
    private let claim = Mutex<Claim?>(nil)

    /// - Parameters:
    ///   - root: the directory of all caches of this user.
    ///   - database: the database that is served.
    init(root: String, database: String) {
        self.root = root
        let file = ServedFile.Identity(database)
        // FNV-1a: a name, not a secret.
        let sum = Self.absolute(database).utf8.reduce(UInt64(14_695_981_039_346_656_037)) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        family = String(sum, radix: 16) + "-"
        name = family + "\(file?.number ?? 0)-\(String(file?.birth ?? 0, radix: 16))-"
    }

    deinit {
        claim.withLock { held in
            if let held { close(held.descriptor) }
        }
    }

    /// The directory, which is there, and is this process's own; nil where none can be made just now.
    var directory: String? {
        claim.withLock { held in
            if let held, held.isThere { return held.directory }
            if let held { close(held.descriptor) }
            held = make()
            return held?.directory
        }
    }

    /// Where exports are written; nil where it cannot be made.
    var exports: String? { directory.map { Self.exports(in: $0) } }

    private static func exports(in directory: String) -> String { directory + "/exports" }

    private func make() -> Claim? {
        let attributes = [FileAttributeKey.posixPermissions: 0o700]
        for number in 1...Self.countMaximum {
            let directory = "\(root)/\(name)\(number)"
            try? FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: attributes)
            guard let descriptor = Self.lock(directory) else { continue }
            removeAbandoned(but: directory)
            // Of a process that ended before.
            try? FileManager.default.removeItem(atPath: Self.exports(in: directory))
            return Claim(directory: directory, descriptor: descriptor)
        }
        return nil
    }

    /// Locks a directory; nil where another process has it, or where it is not there.
    private static func lock(_ directory: String) -> Int32? {
        let descriptor = open(directory + "/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        // A file system without locks is no reason to keep nothing.
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { return descriptor }
        close(descriptor)
        return nil
    }

    /// Removes what no process has: of earlier files of the database, and of its present one under the numbers of processes
    /// that have ended, where nobody would ever look for recordings that were deleted. Also what earlier versions kept for
    /// all databases together.
    private func removeAbandoned(but kept: String) {
        let manager = FileManager.default
        for other in (try? manager.contentsOfDirectory(atPath: root)) ?? []
        where other.hasPrefix(family) && "\(root)/\(other)" != kept {
            guard let descriptor = Self.lock("\(root)/\(other)") else { continue }
            try? manager.removeItem(atPath: "\(root)/\(other)")
            close(descriptor)
        }
        SignalPyramid.removeFiles(but: [], directory: root)
        try? manager.removeItem(atPath: Self.exports(in: root))
    }

    private static func absolute(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
