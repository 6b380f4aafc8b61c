import CLinux
import Foundation
import GRDB
import Glibc
import Simulation
import Testing

/// `kill -9` of `eegsync merge` at random instants: a recording is here whole or not at all, and the next merge ends the work.
@Suite(.timeLimit(.minutes(5))) struct MergeKillTests {
    /// Decides the instants. Another seed is another test.
    private static let seed: UInt64 = 2_037
    private static let killCount = 20
    /// How many of them must hit a merge that still runs, or nothing was tried.
    private static let hitCount = 5

    /// What a database has of one recording, by its universal identifier: rows, the sum of what is in them, gaps, annotations.
    private typealias Contents = [String: [Int64]]

    @Test func aKilledMergeIsWholeOrNothing() async throws {
        try await OwnThread.run { try Self.killMerges() }
    }

    private static func killMerges() throws {
        let fixture = try DaemonFixture()
        let databases = try (1...4).map { try demo($0, in: fixture.directory) }
        let (here, other) = (databases[0], databases[1])
        for more in databases[2...] { try #require(try run(["merge", more, "--database", other]).end() == 0) }
        let (before, wanted) = (try contents(here), try contents(other))
        #expect(wanted.count == 3 && before.count == 1)
        let whole = wanted.merging(before) { first, _ in first }

        let unhurt = fixture.directory.appendingPathComponent("unhurt.sqlite").path
        try FileManager.default.copyItem(atPath: here, toPath: unhurt)
        let started = clinux_boottime_nanoseconds()
        #expect(try run(["merge", other, "--database", unhurt]).end() == 0)
        let duration = UInt64(clinux_boottime_nanoseconds() - started)
        #expect(try contents(unhurt) == whole)

        var generator = SeededGenerator(seed: seed, purpose: 1)
        var hits = 0
        for number in 1...killCount {
            let path = fixture.directory.appendingPathComponent("killed\(number).sqlite").path
            try FileManager.default.copyItem(atPath: here, toPath: path)
            let merge = try run(["merge", other, "--database", path])
            OwnThread.spin(nanoseconds: Int64(generator.next() % duration))
            merge.kill()
            if merge.end() == -SIGKILL { hits += 1 }
            let found = try contents(path)
            #expect(found.allSatisfy { whole[$0.key] == $0.value }, "kill \(number): half of a recording is here")
            #expect(before.allSatisfy { found[$0.key] == $0.value }, "kill \(number): what was here has changed")
            #expect(try run(["audit", "--database", path]).end() == 0, "kill \(number)")
            #expect(try run(["merge", other, "--database", path]).end() == 0, "kill \(number)")
            #expect(try contents(path) == whole, "kill \(number): the next merge did not end the work")
        }
        #expect(hits >= hitCount, "only \(hits) of \(killCount) kills hit a merge that ran")
    }

    @Test func theComparisonBites() throws {
        let fixture = try DaemonFixture()
        let path = try Self.demo(5, in: fixture.directory)
        let known = try Self.contents(path)
        for change in ["DELETE FROM sample WHERE n = 100", "UPDATE sample SET c1 = c1 + 1 WHERE n = 100", "DELETE FROM gap"] {
            let copy = fixture.directory.appendingPathComponent("copy\(change.hashValue).sqlite").path
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            try DatabaseQueue(path: copy).write { try $0.execute(sql: change) }
            #expect(try Self.contents(copy) != known, "\(change)")
        }
    }

    /// The database of a recording of its own, in which something is missing.
    private static func demo(_ number: Int, in directory: URL) throws -> String {
        let path = directory.appendingPathComponent("demo\(number)").path
        let arguments = ["demo", "--directory", path, "--seconds", "40", "--seed", "\(number)"]
        try #require(try run(arguments).end() == 0)
        return path + "/eegsync.sqlite"
    }

    private static func contents(_ path: String) throws -> Contents {
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration).read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT uuid,
                        (SELECT count(*) FROM sample JOIN stream ON stream.id = stream_id WHERE recording_id = recording.id),
                        (SELECT coalesce(sum(c1), 0) + coalesce(sum(c2), 0) FROM sample JOIN stream ON stream.id = stream_id
                            WHERE recording_id = recording.id),
                        (SELECT count(*) FROM gap JOIN stream ON stream.id = stream_id WHERE recording_id = recording.id),
                        (SELECT count(*) FROM annotation WHERE recording_id = recording.id)
                    FROM recording
                    """)
            return Dictionary(uniqueKeysWithValues: rows.map { row in (row[0], (1...4).map { row[$0] }) })
        }
    }

    /// The built program with arguments, as a process.
    private struct Run {
        let process = Process()

        /// - Returns: the exit code, or minus the signal that ended it.
        func end() -> Int32 {
            process.waitUntilExit()
            return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        }

        func kill() { Glibc.kill(process.processIdentifier, SIGKILL) }
    }

    private static func run(_ arguments: [String]) throws -> Run {
        let run = Run()
        run.process.executableURL = try RunningDaemon.program()
        run.process.arguments = arguments
        run.process.standardOutput = FileHandle.nullDevice
        run.process.standardError = FileHandle.nullDevice
        run.process.standardInput = FileHandle.nullDevice
        try run.process.run()
        return run
    }
}
