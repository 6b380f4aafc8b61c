import Foundation
import Glibc
import Testing

@testable import eegsync

/// Where something else than the database may not be written.
@Suite struct DatabaseFileTests {
    private let database: RecordedDatabase

    init() throws {
        database = try RecordedDatabase()
        try database.record()
    }

    private func run(_ arguments: [String]) throws -> ProgramRun {
        try ProgramRun(arguments, environment: ["EEGSYNC_DATABASE": database.path])
    }

    private func expectWhole() throws {
        let audit = try run(["audit"])
        #expect(audit.exitCode == 0, "\(audit.errors)")
    }

    private static let writers = [
        ["export", "1", "--format", "csv", "--force", "-o"], ["export", "1", "--format", "edf", "--force", "-o"],
        ["export", "1", "--format", "xdf", "--force", "-o"], ["export", "1", "--format", "sqlite", "--force", "-o"],
        ["report", "1", "--force", "-o"], ["backup", "--force"], ["manifest", "1", "-o"], ["audit", "--continue"],
    ]

    @Test(arguments: writers) func nothingIsWrittenOverTheDatabase(command: [String]) throws {
        let refused = try run(command + [database.path])
        #expect(refused.exitCode == 73 && refused.errors.contains("it is the database itself"), "\(refused.errors)")
        try expectWhole()
    }

    @Test(arguments: writers, ["-wal", "-shm", "-journal", "-lock", "-keys", "-witness", "-spool", "-tap", "-unstored"])
    func norOverWhatBelongsToIt(command: [String], ending: String) throws {
        let path = database.path + ending
        // As of a process that was killed, and where there is none.
        for isThere in ending == "-keys" ? [false, true] : [false] {
            if isThere { try Data("precious".utf8).write(to: URL(fileURLWithPath: path)) }
            let refused = try run(command + [path])
            #expect(refused.exitCode == 73, "\(refused.errors)")
            #expect(refused.errors.contains("\(path) belongs to the database \(database.path)"), "\(refused.errors)")
            if isThere { #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious") }
        }
        if ending == "-journal" { #expect(access(path, F_OK) != 0) }
        try expectWhole()
    }

    @Test func anEarlierStateOfItStays() throws {
        let state = database.path + "-before-m0001_first"
        try Data("precious".utf8).write(to: URL(fileURLWithPath: state))
        #expect(try run(["backup", "--force", state]).exitCode == 73)
        #expect(try String(contentsOfFile: state, encoding: .utf8) == "precious")
        // A name that nothing has is a person's to choose.
        #expect(try run(["backup", database.path + "-monday"]).exitCode == 0)
    }

    @Test func aLinkIsNoWayAround() throws {
        let folder = database.directory.appendingPathComponent("links").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let link = folder + "/eeg.sqlite"
        #expect(symlink(database.path, link) == 0)
        for (output, named) in [(link, database.path), (database.path, link), (database.path + "-journal", link)] {
            let refused = try ProgramRun(["export", "1", "--format", "csv", "--force", "-o", output, "--database", named])
            #expect(refused.exitCode == 73, "\(refused.errors)")
        }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == database.path)
        try expectWhole()
    }

    @Test func aJournalThatIsInTheWayIsNamed() throws {
        let journal = database.path + "-journal"
        try FileManager.default.copyItem(atPath: database.path, toPath: journal)
        let refused = try run(["recordings"])
        #expect(refused.exitCode == 65 && refused.errors.contains("lies \(journal)"), "\(refused.errors)")
        #expect(refused.errors.contains("move \(journal) away"), "\(refused.errors)")
        try FileManager.default.removeItem(atPath: journal)
        try expectWhole()
    }

    @Test(arguments: ["-wal", "-shm"]) func noDatabaseIsMadeBesideTheLogOfAnother(ending: String) throws {
        let path = database.directory.appendingPathComponent("gone.sqlite").path
        try Data("frames".utf8).write(to: URL(fileURLWithPath: path + ending))
        let start = ["record", "start", "left", "--model", "muse", "--database", path]
        let refused = try ProgramRun(start)
        #expect(refused.exitCode == 73 && refused.errors.contains("\(path)\(ending) is"), "\(refused.errors)")
        #expect(access(path, F_OK) != 0)
        try FileManager.default.removeItem(atPath: path + ending)
        #expect(try ProgramRun(start).exitCode == 0)
    }

    @Test func aRecordingWithoutALinkSaysSo() throws {
        #expect(try run(["record", "start", "right", "--model", "muse"]).exitCode == 0)
        let shown = try run(["recordings", "show", "2"])
        #expect(shown.output.contains("there was no link to its headset yet"), "\(shown.output)")
    }
}

/// A process that has another file open than the database.
@Suite struct LostDatabaseTests {
    @Test("By the kernel's list of locks, of the file's number and of the part that SQLite locks of a database")
    func elsewhere() throws {
        let directory = try TestDirectory()
        let path = try directory.write("x", to: "eeg.sqlite")
        var file = stat()
        try #require(stat(path, &file) == 0)
        func lock(_ pid: Int, _ number: UInt64, _ first: Int = 1_073_741_826) -> String {
            "9: POSIX  ADVISORY  READ \(pid) fe:00:\(number) \(first) 1073742335\n"
        }
        let number = UInt64(file.st_ino)
        for (locks, expected) in [
            ("", false), (lock(7, number), false), (lock(7, number + 1), true), (lock(8, number + 1), false),
            (lock(7, number + 1) + lock(7, number), false), (lock(7, number + 1, 128), false),
        ] {
            try directory.write(locks, to: "proc/locks")
            let files = SystemFiles(root: directory.url.path)
            #expect(LostDatabase.isElsewhere(7, database: path, files: files) == expected, "\(locks)")
        }
        #expect(!LostDatabase.isElsewhere(7, database: path + "-absent", files: SystemFiles(root: directory.url.path)))
    }
}
