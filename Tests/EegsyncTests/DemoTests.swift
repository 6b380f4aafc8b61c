import Export
import Foundation
import Glibc
import Storage
import Testing

@testable import eegsync

/// `eegsync demo`, as a person runs it.
@Suite struct DemoTests {
    @Test func everythingGoesWrongAndNothingIsMissingUnnoticed() throws {
        let directory = try RecordedDatabase()
        let path = directory.directory.appendingPathComponent("demo").path
        let run = try ProgramRun(["demo", "--directory", path, "--seconds", "60", "--seed", "3", "--json"])
        #expect(run.exitCode == 0, "\(run.errors)")
        let facts = try run.json()
        let timeline = facts["timeline"] as? [[String: Any]] ?? []
        let kinds = timeline.compactMap { $0["kind"] as? String }
        for kind in [
            "duplicatedNotification", "lostNotification", "counterWrap", "outOfRange", "linkLost", "inRange", "daemonKilled",
            "restarted",
            "reboot", "epoch", "gap", "recovered", "stopped",
        ] {
            #expect(kinds.contains(kind), "\(kind) is not in the timeline")
        }
        #expect(kinds.count { $0 == "counterWrap" } == 1, "after the reboot the counter begins at 0")
        let away = try #require(kinds.firstIndex(of: "outOfRange"))
        #expect(kinds[away...].first { $0 == "searching" || $0 == "linkLost" } == "linkLost")
        let times = timeline.compactMap { $0["seconds"] as? Double }
        #expect(times == times.sorted())
        // Samples flow after the start and after each of: out of range, kill, reboot; within the ten seconds of the promise.
        let returns = timeline.filter { $0["kind"] as? String == "streaming" }
        #expect(returns.count >= 4)
        #expect(returns.allSatisfy { ($0["latency_milliseconds"] as? Double ?? .infinity) < 10_000 && $0["layer"] != nil })
        let audit = facts["audit"] as? [String: Any]
        #expect(audit?["holds"] as? Bool == true)
        let stream = (audit?["streams"] as? [[String: Any]])?.first
        let expected = try #require(stream?["expected"] as? Int)
        #expect((14_500...15_000).contains(expected))
        #expect((stream?["recovered"] as? Int ?? 0) > 2000)
        // Only what went with the memory at the reboot stays missing.
        #expect((1...500).contains(stream?["missing"] as? Int ?? 0))
        try Self.checkFiles(facts, expected: expected)
        // The same directory is not used twice.
        let again = try ProgramRun(["demo", "--directory", path])
        #expect(again.exitCode == 73)
        #expect(again.errors.contains("left untouched"))
    }

    /// EDF and BDF hold as many samples as the audit expects, and whatever fills the last data record.
    private static func checkFiles(_ facts: [String: Any], expected: Int) throws {
        let files = facts["files"] as? [[String: Any]] ?? []
        #expect(files.count == ExportFormat.allCases.count { !$0.isWholeRecording && !$0.isDirectory })
        for file in files {
            let path = try #require(file["path"] as? String)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            if ![".edf", ".bdf"].contains(where: path.hasSuffix) { continue }
            let stream = try #require((file["streams"] as? [[String: Any]])?.first)
            #expect((stream["rows"] as? Int ?? 0) + (stream["filled"] as? Int ?? 0) == expected)
            // The header's own count: data records times the first signal's samples in each.
            let header = String(decoding: bytes.prefix(8192).map { $0 & 0x7F }, as: UTF8.self).map { String($0) }
            func number(_ start: Int, _ length: Int) -> Int {
                Int(header[start..<start + length].joined().trimmingCharacters(in: .whitespaces)) ?? -1
            }
            let records = number(236, 8)
            let samples = number(256 + number(252, 4) * 216, 8)
            #expect((0..<samples).contains(records * samples - expected), "\(path)")
        }
    }

    @Test func theKillIsReal() throws {
        let database = try RecordedDatabase()
        let process = try DemoProcess(
            ["--database", database.path, "--seed", "1", "--seconds", "30", "--start", "1700000000000000000"],
            program: try ProgramRun.program)
        var reached: (rows: Int, digest: UInt64)?
        while reached == nil, let message = try process.next() {
            if case .reached(let rows, let digest) = message { reached = (rows, digest) }
        }
        let interruption = try #require(reached)
        #expect(interruption.rows > 0)
        // While it lives, nobody else may acquire into its database; once it is killed, the lock is free.
        #expect(throws: StorageError.inUse(path: database.path, pid: process.identifier)) {
            try AcquisitionLock(database: database.path)
        }
        #expect(process.kill())
        let audit = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current()).audit()
        #expect(audit.holds)
        let rows = audit.streams.reduce(0) { $0 + $1.rows }
        #expect(rows > 1000)
        // A process in another world does not go on.
        let stranger = try ProgramRun([
            "demo-acquisition", "--database", database.path, "--seed", "1", "--seconds", "30", "--start",
            "1700000000000000000", "--world-digest", "\(interruption.digest &+ 1)",
        ])
        #expect(stranger.exitCode == 70)
        let second = try ProgramRun([
            "demo-acquisition", "--database", database.path, "--seed", "1", "--seconds", "30", "--start",
            "1700000000000000000", "--world-digest", "\(interruption.digest)",
        ])
        #expect(second.exitCode == 0, "\(second.errors)")
        let after = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current()).audit()
        #expect(after.holds)
        #expect(after.streams.reduce(0) { $0 + $1.rows } > rows + 2500)
    }

    /// However the demo ends: Ctrl-C in a terminal reaches it alone, as the process that acquires is in a group of its own.
    @Test func whatAcquiresEndsWithTheDemo() throws {
        let database = try RecordedDatabase()
        let demo = Process()
        demo.executableURL = try ProgramRun.program
        demo.arguments = [
            "demo", "--seconds", "86400", "--directory", database.directory.appendingPathComponent("demo").path,
        ]
        demo.standardOutput = FileHandle.nullDevice
        demo.standardError = FileHandle.nullDevice
        try demo.run()
        var child: Int32?
        while child == nil, demo.isRunning { child = try Self.processes(startedBy: demo.processIdentifier).first }
        kill(demo.processIdentifier, SIGKILL)
        demo.waitUntilExit()
        let acquisition = try #require(child)
        let end = ContinuousClock().now + .seconds(20)
        while Self.parent(of: acquisition) != nil, ContinuousClock().now < end { sched_yield() }
        #expect(Self.parent(of: acquisition) == nil)
        if Self.parent(of: acquisition) != nil { kill(acquisition, SIGKILL) }
    }

    private static func processes(startedBy parent: Int32) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.filter {
            Self.parent(of: $0) == parent
        }
    }

    /// The parent of a process; nil where it has ended, whether or not somebody has asked how.
    private static func parent(of process: Int32) -> Int32? {
        guard let bytes = FileManager.default.contents(atPath: "/proc/\(process)/stat") else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 1, !["Z", "X"].contains(fields[0]) else { return nil }
        return Int32(fields[1])
    }

    @Test func aDefectThatLosesRowsIsNoticed() throws {
        let directory = try RecordedDatabase()
        let run = try ProgramRun([
            "demo", "--directory", directory.directory.path, "--seconds", "30", "--defect", "loseRows",
        ])
        #expect(run.exitCode == 65, "\(run.output) \(run.errors)")
        #expect(run.output.contains("The audit fails"))
    }

    @Test("A file that holds other samples than the recording is noticed, whether or not its format fills what is missing")
    func exports() throws {
        let database = try RecordedDatabase()
        let recording = try database.record()
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        let exporter = try Exporter(store: store, recording: recording)
        let files = try ExportFormat.allCases.filter { !$0.isDirectory }.flatMap { format in
            let path = database.directory.appendingPathComponent("a.\(format.rawValue)").path
            let report = try exporter.export(ExportRequest(format: format, path: path))
            return ExportFacts(recording: recording.rawValue, report: report).files
        }
        var facts = DemoFacts(
            seed: 1, seconds: 10, wallSeconds: 1, database: database.path, timeline: [],
            audit: AuditFacts(try store.audit()), files: files)
        #expect(facts.exportsAreWhole)
        for index in files.indices {
            facts.files = files
            facts.files[index].streams[0].rows -= 1
            #expect(!facts.exportsAreWhole, "a row fewer in \(files[index].path)")
            facts.files = files
            facts.files[index].streams[0].filled += 1
            #expect(!facts.exportsAreWhole, "a filled sample more in \(files[index].path)")
            facts.files[index].streams = []
            #expect(!facts.exportsAreWhole, "nothing in \(files[index].path)")
        }
        facts.files = []
        #expect(!facts.exportsAreWhole)
    }

    @Test func aLengthThatIsNoneIsRefused() throws {
        for seconds in ["0", "29", "86401", "-5", "x"] {
            #expect(try ProgramRun(["demo", "--seconds", seconds, "--directory", "/absent/x"]).exitCode == 64, "\(seconds)")
        }
        #expect(try ProgramRun(["demo", "--directory", "/proc/demo"]).exitCode == 73)
    }
}
