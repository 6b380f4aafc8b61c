import Foundation
import GRDB
import GRDBSQLite
import Glibc

/// A database that is deleted, moved or replaced while it is open.
extension AcquisitionStore {
    /// Pages copied at a time: some 2 MiB to 8 MiB.
    private static let pagesPerStep: CInt = 2048

    /// What a path leads to, compared with the file that is open; nil where that cannot be seen, and for a database in memory.
    package func finding(at path: String) -> OpenedFile.Finding? { database.file?.finding(at: path) }

    /// Goes on without the name of the file, which leads elsewhere: what is read and written goes through the connection that
    /// is open, nothing is made beside the path, and nothing there is removed with the close.
    ///
    /// - Returns: whether the file could get its name back; else it is without it until it is closed.
    package func leavePath() -> Bool {
        guard let file = database.file else { return true }
        file.setLeft(true)
        database.writer.writeWithoutTransaction { db in
            // Whoever closes a log last removes it by its name, which may be another database's by now.
            var isPersistent: CInt = 1
            sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &isPersistent)
        }
        // Of one that was moved away, its log may have to follow it.
        guard file.present.map({ $0.names == 0 }) ?? false || file.finding(at: file.path) == .another else { return true }
        file.removeNames()
        return false
    }

    /// The file has its name again.
    package func returnToPath() { database.file?.setLeft(false) }

    /// Saves what the open database holds, where the name of its file was taken from it. To be called before ``close()``.
    ///
    /// One that has another name gets its log into it. One that has none is copied beside its path, into
    /// `<database>-rescued-<time>`; an existing file is never replaced.
    ///
    /// - Parameter progress: gets the share that is copied, 0 ... 1.
    /// - Returns: nil where the file has its name.
    /// - Throws: ``StorageError`` where it cannot be copied: it is gone with the close.
    package func rescue(progress: @escaping (Double) -> Void = { _ in }) throws(StorageError) -> RescuedDatabase? {
        guard let file = database.file, let finding = file.finding(at: file.path), finding != .same else { return nil }
        _ = leavePath()
        let present = file.present
        if let present, present.names > 0, (try? database.checkpoint()) != nil {
            file.removeNames()
            return .moved(to: present.path)
        }
        let target = try emptyFile(beside: file.path)
        do {
            let copy = try DatabaseQueue(path: target)
            try database.writer.writeWithoutTransaction { source in
                try copy.writeWithoutTransaction { copy in
                    try source.backup(to: copy, pagesPerStep: Self.pagesPerStep) { step in
                        progress(Double(step.completedPageCount) / Double(max(1, step.totalPageCount)))
                    }
                }
            }
            try copy.close()
        } catch {
            unlink(target)
            throw StorageError(error, path: target)
        }
        SchemaSnapshot.synchroniseDirectory(of: target)
        return .copied(to: target)
    }

    /// Makes a file that was not there, for its owner alone, in the directory of the database, which may have gone with it.
    private func emptyFile(beside path: String) throws(StorageError) -> String {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        if access(directory, F_OK) != 0 { mkdir(directory, 0o750) }
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withYear, .withMonth, .withDay, .withTime, .withTimeZone]
        let name = path + "-rescued-" + formatter.string(from: Date())
        var target = name
        var count = 1
        while true {
            let file = Glibc.open(target, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if file >= 0 {
                Glibc.close(file)
                return target
            }
            guard errno == EEXIST, count < 100 else {
                throw .cannotOpen(path: target, reason: String(cString: strerror(errno)))
            }
            count += 1
            target = "\(name)-\(count)"
        }
    }
}

/// What became of a database whose name was taken from it.
package enum RescuedDatabase: Hashable, Sendable {
    /// It has another name, under which everything is that was recorded.
    case moved(to: String)
    /// What it held is in a file of its own.
    case copied(to: String)
}
