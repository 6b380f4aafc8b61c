import Foundation
import GRDB
import Testing

@testable import Export
@testable import eegsync

/// A database that a command writes, where another one has left its log.
@Suite("Beside the log of another database")
struct LeftLogTests {
    /// A database with its log, as a process that was killed leaves them, of which somebody has removed the database itself.
    private static func leaveLog(at path: String) throws -> DatabasePool {
        let pool = try DatabasePool(path: path)
        try pool.write { db in try db.execute(sql: "CREATE TABLE other (a TEXT); INSERT INTO other VALUES ('b')") }
        try FileManager.default.removeItem(atPath: path)
        return pool
    }

    @Test("no copy is written unless it is to be replaced", arguments: ["backup", "export"])
    func refused(command: String) throws {
        let database = try RecordedDatabase()
        try database.record()
        let path = database.directory.appendingPathComponent("copy.sqlite").path
        let arguments =
            (command == "backup" ? ["backup", path] : ["export", "1", "-o", path]) + ["--database", database.path]
        let pool = try Self.leaveLog(at: path)
        let held = try ProgramRun(arguments + ["--force"])
        #expect(held.exitCode == 73 && held.errors.contains("which a program has open"), "\(held.errors)")
        // As it is after kill -9: the files stay, and nobody holds them.
        let logs = ["-wal", "-shm"].map { path + $0 }
        let kept = try logs.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        try pool.close()
        for (log, bytes) in zip(logs, kept) { try bytes.write(to: URL(fileURLWithPath: log)) }
        let left = try ProgramRun(arguments)
        #expect(left.exitCode == 73 && left.errors.contains("is the log of another database"), "\(left.errors)")
        #expect(!FileManager.default.fileExists(atPath: path))
        let forced = try ProgramRun(arguments + ["--force"])
        #expect(forced.exitCode == 0, "\(forced.errors)")
        #expect(try ProgramRun(["recordings", "--database", path]).output.contains("night 3"))
    }

    @Test("what cannot be looked at counts as held, and what is not there as free")
    func unknown() throws {
        let directory = try TestDirectory()
        let path = try directory.write("a", to: "a")
        #expect(!LeftLog.isLocked(path, (first: 0, count: 1)))
        #expect(!LeftLog.isLocked(path + "-absent", (first: 0, count: 1)))
        // No command of fcntl(2): as on a file system, or a kernel, that does not know the one that is asked.
        #expect(LeftLog.isLocked(path, (first: 0, count: 1), command: -1))
    }

    @Test("a recording is not exported over the database that it is in")
    func itself() throws {
        let database = try RecordedDatabase()
        try database.record()
        let run = try ProgramRun(["export", "1", "--force", "-o", database.path, "--database", database.path])
        #expect(run.exitCode == 73 && run.errors.contains("it is the database itself"), "\(run.errors)")
    }
}
