import Foundation
import Glibc

/// How SQLite reads a database file without a trace: neither the file nor its log and shared memory change, and nothing is made
/// beside it, whether or not this user could.
///
/// | file | beside it | is read |
/// |---|---|---|
/// | with a rollback journal | | as always: whoever reads makes nothing |
/// | with a log | `-wal` and `-shm`: a program may have it open, or has left both | with a shared memory that is not written |
/// | with a log | one of them at most: no program has it open | as it stands, and its log is copied with it |
struct TracelessAccess {
    let path: String
    /// The file as SQLite is to open it.
    let name: String
    /// True where no program has the file open: SQLite takes no lock, and looks at no log.
    let isAlone: Bool

    /// What a file of SQLite begins with, and what stands at offset 18 of one with a log
    /// (https://www.sqlite.org/fileformat.html#the_database_header).
    private static let beginning = Data("SQLite format 3\u{0}".utf8)
    private static let versionOffset = 18
    private static let logVersion: UInt8 = 2

    /// Nil where the file is none of SQLite, or cannot be read.
    init?(path: String) {
        guard let file = FileHandle(forReadingAtPath: path),
            let header = try? file.read(upToCount: Self.versionOffset + 1), header.count == Self.versionOffset + 1,
            header.starts(with: Self.beginning)
        else { return nil }
        self.path = path
        guard header[Self.versionOffset] == Self.logVersion else {
            (name, isAlone) = (path, false)
            return
        }
        var facts = stat()
        isAlone = ["-wal", "-shm"].contains { stat(path + $0, &facts) != 0 }
        // A parameter of SQLite's own (os_unix.c): without it, the first to open the file writes the shared memory anew.
        name = DatabaseOpening.uri(of: path, with: isAlone ? "immutable=1" : "readonly_shm=1")
    }

    /// What is another one once a program has written to the file or its log.
    var marks: [[Int]?] {
        ["", "-wal", "-shm"].map { suffix in
            var facts = stat()
            guard stat(path + suffix, &facts) == 0 else { return nil }
            return [Int(facts.st_size), Int(clamping: facts.st_ino), facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec]
        }
    }
}
