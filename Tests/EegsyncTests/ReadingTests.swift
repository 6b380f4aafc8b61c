import Foundation
import GRDB
import Glibc
import Storage
import Testing

@testable import eegsync

/// Commands that only read, for a user who may not write, and beside others who read too long.
@Suite struct ReadingTests {
    private let database: RecordedDatabase

    init() throws {
        database = try RecordedDatabase()
        try database.record()
    }

    /// Runs the program as a user who may read the database and write neither it nor its directory.
    private func runAsReader(_ arguments: [String]) throws -> ProgramRun {
        let directory = database.directory.path
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) { chmod("\(directory)/\(name)", 0o444) }
        chmod(directory, 0o555)
        defer {
            chmod(directory, 0o755)
            for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
                chmod("\(directory)/\(name)", 0o644)
            }
        }
        // Root may write whatever the mode says.
        let prefix = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        return try ProgramRun(arguments + ["--database", database.path], under: geteuid() == 0 ? prefix : [])
    }

    /// A directory that everybody may write.
    private func openDirectory() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        chmod(url.path, 0o777)
        return url
    }

    @Test(arguments: [
        ["recordings"], ["gaps", "1"], ["audit"], ["status"], ["export", "1", "-o", "@.edf"],
        ["export", "1", "-o", "@.sqlite"],
        ["export", "1", "-o", "@.csv"],
    ])
    func readingNeedsNoRightToWriteWhileADaemonRuns(arguments: [String]) throws {
        let output = try openDirectory()
        defer { try? FileManager.default.removeItem(at: output) }
        let daemon = try ControlStore(path: database.path, hostBoot: try HostBoot.current())
        let run = try runAsReader(arguments.map { $0.hasPrefix("@") ? output.path + "/a" + $0.dropFirst() : $0 })
        // The recording is wanted, and nobody records it.
        #expect(run.exitCode == (arguments == ["status"] ? 69 : 0), "\(run.errors)")
        try daemon.close()
    }

    /// Who watches must know that the daemon has ended in order, when nothing that readers share is left.
    @Test func alertsNeedNoDaemonAndNoRightToWrite() throws {
        #expect(!FileManager.default.fileExists(atPath: database.path + "-shm"))
        let run = try runAsReader(["alerts", "check"])
        #expect(run.exitCode != 3, "\(run.output)")
        #expect(run.output.contains("'left silence'="), "\(run.output)")
        #expect(!FileManager.default.fileExists(atPath: database.path + "-shm"))
    }

    @Test(arguments: [["recordings"], ["export", "1", "-o", "/tmp/never.edf"]])
    func whatReadingNeedsWithoutADaemonIsSaid(arguments: [String]) throws {
        #expect(!FileManager.default.fileExists(atPath: database.path + "-shm"))
        let run = try runAsReader(arguments)
        #expect(run.exitCode == Failure.Code.noPermission.rawValue)
        #expect(run.errors.contains("needs \(database.path)-shm"), "\(run.errors)")
        #expect(run.errors.contains("copy the file into a directory of your own"))
    }

    @Test(arguments: [["status"], ["recordings"], ["mark", "x"], ["export", "1", "-o", "/tmp/never.edf"]])
    func aClosedDirectoryIsNoAbsentDatabase(arguments: [String]) throws {
        let prefix = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        let isRoot = geteuid() == 0
        for (mode, name) in [(mode_t(0o750), "daemon"), (0o700, nil)] as [(mode_t, String?)] {
            if isRoot { #expect(chown(database.directory.path, 0, 1) == 0) }
            chmod(database.directory.path, isRoot ? mode : 0)
            defer { chmod(database.directory.path, 0o755) }
            let run = try ProgramRun(arguments + ["--database", database.path], under: isRoot ? prefix : [])
            #expect(run.exitCode == 77, "\(run.errors)")
            #expect(run.errors.contains("is closed to this user") && !run.errors.contains("is not there"), "\(run.errors)")
            if isRoot { #expect(run.errors.contains(name.map { "usermod -aG \($0) $USER" } ?? "with sudo"), "\(run.errors)") }
        }
    }

    @Test func aReadOnlyFileSystemIsSaidToBeOne() {
        for error in [StorageError.readOnlyFileSystem(path: "/d.sqlite")] {
            #expect(Failure(error).code == .noPermission && Failure(error).remedy.contains("remount"))
        }
    }

    @Test func noStatementOfSQLReachesAPerson() throws {
        let writer = try DatabaseQueue(path: database.path)
        let run = try writer.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE")
            defer { try? db.execute(sql: "ROLLBACK") }
            return try ProgramRun(["mark", "x", "--database", database.path])
        }
        #expect(run.exitCode == 75)
        #expect(run.errors.contains("database is locked (SQLite code 5)"), "\(run.errors)")
        for word in ["INSERT", "SELECT", "BEGIN", "while executing"] { #expect(!run.errors.contains(word), "\(run.errors)") }
    }

    @Test func aCopyInADirectoryThatMayBeWrittenIsRead() throws {
        let copy = try openDirectory()
        defer { try? FileManager.default.removeItem(at: copy) }
        let path = copy.appendingPathComponent("copy.sqlite").path
        try FileManager.default.copyItem(atPath: database.path, toPath: path)
        let prefix = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        let run = try ProgramRun(["recordings", "--database", path], under: geteuid() == 0 ? prefix : [])
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    @Test func aForgottenTransactionIsNamed() throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let reader = try DatabaseQueue(path: database.path, configuration: configuration)
        let writer = try DatabaseQueue(path: database.path)
        func status() throws -> (grown: [String: Any]?, text: String) {
            let text = try ProgramRun(["status", "--database", database.path]).output
            let run = try ProgramRun(["status", "--json", "--database", database.path])
            return (try run.json()["grown_log"] as? [String: Any], text)
        }
        try reader.inDatabase { db in
            try db.execute(sql: "BEGIN")
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sample")
            try #expect(status().grown == nil)
            try writer.write { db in
                try db.execute(sql: "CREATE TABLE filler (bytes BLOB); INSERT INTO filler VALUES (zeroblob(70000000))")
            }
            let (grown, text) = try status()
            let holders = try #require(grown?["holders"] as? [[String: Any]])
            #expect(holders.map { $0["pid"] as? Int } == [Int(getpid())])
            #expect(holders.map { $0["has_transaction"] as? Bool } == [true])
            #expect(text.contains("goes on growing while a transaction is open in"))
            #expect(text.contains("(pid \(getpid()))"))
            #expect(text.contains("kill \(getpid())"))
            let doctor = try ProgramRun(["doctor", "--database", database.path]).output
            #expect(doctor.contains("write-ahead log") && doctor.contains("kill \(getpid())"), "\(doctor)")
            try db.execute(sql: "COMMIT")
        }
        let (_, text) = try status()
        #expect(text.contains("the database is also open in") && text.contains("(pid \(getpid()))"), "\(text)")
    }

    @Test func locksOfOthersThanReadersAreNotTakenForReaders() throws {
        let root = try openDirectory()
        defer { try? FileManager.default.removeItem(at: root) }
        let store = try ControlStore(path: database.path, hostBoot: try HostBoot.current())
        var file = stat()
        #expect(stat(database.path + "-shm", &file) == 0)
        let inode = file.st_ino
        try FileManager.default.createDirectory(atPath: root.path + "/proc/812", withIntermediateDirectories: true)
        try """
        1: POSIX  ADVISORY  READ 811 fd:00:\(inode) 128 128
        2: POSIX  ADVISORY  READ 812 fd:00:\(inode) 127 128
        3: POSIX  ADVISORY  WRITE 813 fd:00:\(inode) 120 127
        4: POSIX  ADVISORY  READ 814 fd:00:9\(inode) 124 124
        4: -> POSIX  ADVISORY  READ 815 fd:00:\(inode) 124 124
        5: OFDLCK ADVISORY  READ -1 fd:00:\(inode) 124 124
        6: FLOCK  ADVISORY  WRITE 816 fd:00:\(inode) 0 EOF
        """.write(toFile: root.path + "/proc/locks", atomically: true, encoding: .utf8)
        try "sqlite3\n".write(toFile: root.path + "/proc/812/comm", atomically: true, encoding: .utf8)
        let inspection = WriteAheadLogInspection(files: SystemFiles(root: root.path))
        #expect(inspection.grownLog(of: store) == nil)
        let grown = try #require(inspection.grownLog(of: store, bound: 0))
        #expect(grown.holders == [GrownLog.Holder(pid: 812, name: "sqlite3", hasTransaction: true)])
        try store.close()
    }
}
