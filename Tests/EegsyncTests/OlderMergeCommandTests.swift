import Foundation
import GRDB
import Glibc
import Testing

@testable import eegsync

/// `eegsync merge` of a file that an older version has written.
@Suite struct OlderMergeCommandTests {
    /// The database of a demo, and that of another one as an older version had it, each in a directory of its own.
    private struct Databases {
        let directory: RecordedDatabase
        let here: String
        let other: String

        init() throws {
            let made = try RecordedDatabase()
            let paths = try [11, 12].map { seed in
                let path = made.directory.appendingPathComponent("demo\(seed)").path
                let demo = try ProgramRun(["demo", "--directory", path, "--seconds", "40", "--seed", "\(seed)"])
                #expect(demo.exitCode == 0, "\(demo.errors)")
                return path + "/eegsync.sqlite"
            }
            (directory, here, other) = (made, paths[0], paths[1])
            try change(
                """
                DROP TABLE whole_confirmation;
                DELETE FROM grdb_migrations WHERE identifier = 'm0038_whole_confirmation'
                """)
        }

        /// Changes the other database as another program does.
        func change(_ sql: String) throws {
            let queue = try DatabaseQueue(path: other)
            try queue.write { db in try db.execute(sql: sql) }
            try queue.close()
        }

        func merge(_ options: String...) throws -> ProgramRun {
            try ProgramRun(["merge", other, "--database", here] + options)
        }

        /// The names of all files beside a database.
        func names(beside path: String) throws -> [String] {
            let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
            return try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        }

        /// What is hidden beside the database that is merged into.
        func hidden() throws -> [String] { try names(beside: here).filter { $0.hasPrefix(".") } }
    }

    @Test func itIsReadThroughACopyAndThisIsSaid() throws {
        let databases = try Databases()
        let (bytes, names) = (
            try Data(contentsOf: URL(fileURLWithPath: databases.other)), try databases.names(beside: databases.other)
        )
        let words = "is of an older version of eegsync, and was read through a copy that was brought up to date."
        let rehearsed = try databases.merge("--dry-run", "--json")
        #expect(rehearsed.exitCode == 0, "\(rehearsed.errors)")
        #expect(try rehearsed.json()["is_of_older_version"] as? Bool == true)
        let merged = try databases.merge()
        #expect(merged.exitCode == 0 && merged.output.contains("\(databases.other) \(words)"), "\(merged.errors)")
        let again = try databases.merge()
        #expect(again.exitCode == 0 && again.output.contains("Nothing new"), "\(again.output)")
        #expect(try databases.hidden().isEmpty)
        #expect(try Data(contentsOf: URL(fileURLWithPath: databases.other)) == bytes)
        #expect(try databases.names(beside: databases.other) == names)
        #expect(try ProgramRun(["audit", "--database", databases.here]).exitCode == 0)
        // Of this version it is read as it is.
        #expect(try ProgramRun(["resume", "--database", databases.other]).exitCode == 0)
        let present = try databases.merge("--json")
        #expect(present.exitCode == 0, "\(present.errors)")
        #expect(try present.json()["is_of_older_version"] as? Bool == false)
    }

    @Test func ofASpoiledFileNothingIsLeft() throws {
        let databases = try Databases()
        try databases.change("UPDATE sample SET c1 = c1 + 1 WHERE n = 100")
        let changed = try databases.merge()
        #expect(changed.exitCode == 65 && changed.errors.contains("audit of \(databases.other) fails"), "\(changed.errors)")
        #expect(try databases.hidden().isEmpty)
        let file = URL(fileURLWithPath: databases.other)
        let whole = try Data(contentsOf: file)
        try whole.prefix(whole.count / 2).write(to: file)
        let cut = try databases.merge()
        #expect(cut.exitCode == 65 && cut.errors.contains(databases.other), "\(cut.errors)")
        #expect(try databases.hidden().isEmpty)
    }

    @Test func aNewerFileIsRefused() throws {
        let databases = try Databases()
        try databases.change("INSERT INTO grdb_migrations VALUES ('m9999_future')")
        let refused = try databases.merge()
        #expect(refused.exitCode == 65 && refused.errors.contains("newer version"), "\(refused.errors)")
        #expect(try databases.hidden().isEmpty)
    }

    @Test func whatAKilledMergeHasLeftIsRemovedByTheNextOne() throws {
        let databases = try Databases()
        let left = URL(fileURLWithPath: databases.here).deletingLastPathComponent()
            .appendingPathComponent(".eegsync.sqlite.1-1.eegsync-partial")
        try FileManager.default.createDirectory(at: left, withIntermediateDirectories: false)
        try Data([1]).write(to: left.appendingPathComponent("eegsync.sqlite"))
        // Whatever it merges.
        #expect(try ProgramRun(["merge", databases.here + "-not", "--database", databases.here]).exitCode == 66)
        #expect(try databases.hidden().isEmpty)
    }

    /// A signal that comes while the copy is there.
    @Test(arguments: [SIGINT, SIGTERM, SIGKILL]) func aSignalLeavesNothing(number: Int32) throws {
        let databases = try Databases()
        var wasHit = false
        // Of a merge that was faster than this test another one is begun; none changes anything.
        for _ in 0..<20 where !wasHit {
            let process = Process()
            process.executableURL = try ProgramRun.program
            process.arguments = ["merge", databases.other, "--database", databases.here, "--dry-run"]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            while process.isRunning {
                guard try !databases.hidden().isEmpty else { continue }
                kill(process.processIdentifier, number)
                break
            }
            process.waitUntilExit()
            wasHit = process.terminationReason == .uncaughtSignal
            if wasHit { #expect(process.terminationStatus == number) }
        }
        #expect(wasHit)
        if number == SIGKILL {
            // Nobody can remove it but the next one.
            #expect(try databases.merge("--dry-run").exitCode == 0)
        }
        #expect(try databases.hidden().isEmpty)
        #expect(try databases.merge().exitCode == 0)
    }
}
