import Foundation
import GRDB
import Glibc

/// A copy of a database from before its schema was changed: the file `<database>-before-<first new migration>`.
///
/// It is there for an older version of the program, which refuses the changed database and can go on with the copy. It holds
/// what the database holds, and has its owner; of versions that kept keys of pairings in the database it holds those, too, so
/// that nobody but the owner may read it.
struct SchemaSnapshot: Hashable {
    let database: String
    /// The first of the migrations that the database lacked.
    let migration: String

    var path: String { database + Self.infix + migration }

    private static let infix = "-before-"
    /// Pages copied at a time: 2 MiB, or 8 MiB of a database of 4-KiB pages, of which a slow card makes progress known every
    /// second.
    private static let pagesPerStep: CInt = 2048

    /// The copy for a program whose first unknown migration is named; nil where there is none.
    static func existing(of database: String, before migration: String) -> String? {
        let path = SchemaSnapshot(database: database, migration: migration).path
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }

    /// The names of all copies of a database, without their directory, sorted.
    static func files(of database: String) -> [String] {
        let url = URL(fileURLWithPath: database)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)) ?? []
        return names.filter { $0.hasPrefix(url.lastPathComponent + infix) && !$0.hasSuffix(unfinished) }.sorted()
    }

    /// Closes all copies of a database to everybody but their owner.
    static func makeSecret(of database: String) {
        let directory = URL(fileURLWithPath: database).deletingLastPathComponent()
        for name in files(of: database) { chmod(directory.appendingPathComponent(name).path, 0o600) }
    }

    private static let unfinished = ".unfinished"

    /// What a copy of a database needs on the disk, in bytes.
    static func bytes(of database: String) -> Int64 {
        ["", "-wal"].reduce(0) { sum, suffix in
            var facts = stat()
            return stat(database + suffix, &facts) == 0 ? sum + Int64(facts.st_size) : sum
        }
    }

    /// Makes the copy. It has its name only when it is whole and on the disk; an older one of the name is replaced.
    ///
    /// - Parameters:
    ///   - configuration: how the database is opened for reading.
    ///   - progress: called at once, and after each step, with the share that is done, 0 ... 1.
    func make(_ configuration: Configuration, progress: @escaping (Double) -> Void) throws {
        // The first step may take a while on a slow card, and whoever waits for the start must know that it will.
        progress(0)
        let temporary = path + Self.unfinished
        unlink(temporary)
        let file = Glibc.open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StorageError.cannotOpen(path: temporary, reason: String(cString: strerror(errno))) }
        defer { Glibc.close(file) }
        do {
            try copy(to: temporary, configuration, progress: progress)
            var original = stat()
            guard stat(database, &original) == 0 else { throw POSIXError(.ENOENT) }
            // Fails where somebody else owns the database.
            _ = fchown(file, original.st_uid, original.st_gid)
            guard fchmod(file, 0o600) == 0, fsync(file) == 0, rename(temporary, path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        } catch {
            unlink(temporary)
            throw error
        }
        Self.synchroniseDirectory(of: database)
    }

    /// Waits until names in the directory of a file survive a power cut.
    static func synchroniseDirectory(of path: String) {
        let directory = Glibc.open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        Glibc.close(directory)
    }

    private func copy(to target: String, _ configuration: Configuration, progress: @escaping (Double) -> Void) throws {
        let source = try DatabaseQueue(path: database, configuration: configuration)
        defer { try? source.close() }
        var targetConfiguration = Configuration.ofOrdinaryPriority
        targetConfiguration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
        let copy = try DatabaseQueue(path: target, configuration: targetConfiguration)
        defer { try? copy.close() }
        // In one transaction that only reads: commands may go on writing, and what they write is not in the copy.
        try source.read { source in
            _ = try Int64.fetchOne(source, sql: "SELECT count(*) FROM sqlite_schema")
            try copy.writeWithoutTransaction { copy in
                try source.backup(to: copy, pagesPerStep: Self.pagesPerStep) { step in
                    progress(step.totalPageCount > 0 ? Double(step.completedPageCount) / Double(step.totalPageCount) : 1)
                }
            }
        }
    }
}
