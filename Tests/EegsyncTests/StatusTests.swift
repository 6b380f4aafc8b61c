import Bluetooth
import Foundation
import Glibc
import Headsets
import Storage
import Testing

@testable import eegsync

/// `eegsync status`: what it offers, and `--watch`.
@Suite struct StatusTests {
    private static let clear = "\u{1B}[H\u{1B}[2J"

    /// What the status says about the only headset.
    private func headset(_ database: RecordedDatabase, _ options: [String] = []) throws -> [String: Any] {
        let run = try ProgramRun(["status", "--json", "--database", database.path] + options)
        #expect(run.exitCode == 0 || run.exitCode == 69, "\(run.errors)")
        return try #require((try run.json()["headsets"] as? [[String: Any]])?.first { $0["name"] as? String != "right" })
    }

    private func configuration(_ database: RecordedDatabase, naming headset: String) throws -> String {
        let file = database.directory.appendingPathComponent("\(headset).yaml").path
        try """
        database: \(database.path)
        central: {kind: simulation, headsets: []}
        headsets: [{name: \(headset), model: buffered-eeg}]
        """.write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }

    @Test func whatIsOfferedWorks() throws {
        let database = try RecordedDatabase()
        let store = try database.acquisitionStore()
        try database.record()
        try store.control.stopRecording(headset: "left", at: HostClock.now)
        // Ended by hand, as no daemon runs.
        var batch = WriteBatch(number: 2)
        batch.changes += [.recording(.stopped(RecordingID(rawValue: 1), at: HostClock.now))]
        try store.commit(batch)
        let unnamed = try headset(database, ["--config", try configuration(database, naming: "right")])
        #expect(unnamed["remedy"] as? String == "name it in the configuration, then: eegsync record start left")
        let named = try headset(database, ["--config", try configuration(database, naming: "left")])
        #expect(named["remedy"] as? String == "record it: eegsync record start left")
        let alone = try #require(try headset(database)["remedy"] as? String)
        #expect(alone == "record it: eegsync record start left --model buffered-eeg")
        let offered = Array(alone.split(separator: " ").map(String.init).drop { $0 != "eegsync" }.dropFirst())
        #expect(try ProgramRun(offered + ["--database", database.path]).exitCode == 0)
    }

    @Test func theExitCodeSaysWhetherWhatIsWantedHappens() throws {
        let database = try RecordedDatabase()
        let store = try ControlStore(path: database.path, hostBoot: try HostBoot.current())
        func run(_ options: [String] = []) throws -> (Int32, String?) {
            let run = try ProgramRun(["status", "--json", "--database", database.path] + options)
            return (run.exitCode, try run.json()["severity"] as? String)
        }
        #expect(try run() == (0, "idle"), "nothing is wanted")
        try store.startRecording(headset: "left", model: "buffered-eeg", at: HostClock.now)
        #expect(try run() == (69, "waiting"), "no daemon runs")
        try store.pause(at: HostClock.now)
        #expect(try run() == (0, "idle"), "a pause is wanted")
        try store.resume(at: HostClock.now)
        let unnamed = try ProgramRun(["status", "--config", try configuration(database, naming: "right")])
        #expect(unnamed.exitCode == 69)
        #expect(unnamed.output.contains("left is wanted, but the configuration names no such headset"), "\(unnamed.output)")
        #expect(unnamed.output.contains("eegsync record stop left"))
        try store.stopRecording(headset: "left", at: HostClock.now)
        #expect(try run() == (0, "idle"), "nothing is wanted any more")
    }

    @Test func aConfigurationOfAnotherDatabaseSaysNothingOfThisOne() throws {
        let database = try RecordedDatabase()
        let other = try RecordedDatabase()
        try database.record()
        let file = try configuration(other, naming: "right")
        let run = try ProgramRun(["status", "--json", "--database", database.path, "--config", file])
        let headsets = try #require(try run.json()["headsets"] as? [[String: Any]])
        #expect(headsets.map { $0["name"] as? String } == ["left"])
    }

    @Test func nobodyIsOfferedToRecordAReplay() throws {
        let database = try RecordedDatabase()
        let file = database.directory.appendingPathComponent("short.bytes")
        try Data((0..<1024).flatMap { ThinkGearFrame.raw(Int16($0)).encoded() }).write(to: file)
        let replay = try ProgramRun(["replay", file.path, "--model", "thinkgear", "--database", database.path])
        #expect(replay.exitCode == 0, "\(replay.errors)")
        for options in [[], ["--config", try configuration(database, naming: "right")]] {
            let played = try headset(database, options)
            #expect(played["name"] as? String == "replay-thinkgear")
            #expect(played["remedy"] == nil)
            #expect((played["sentence"] as? String)?.contains("replayed") == true)
        }
    }

    @Test func aFrameReplacesTheLastOneOnATerminalOnly() throws {
        let database = try RecordedDatabase()
        try database.record()
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        let facts = try StatusFacts(store: store, configuration: nil, now: HostClock.now)
        let text = facts.lines(style: .plain).joined(separator: "\n") + "\n"
        #expect(facts.frame(isTerminal: true, style: .plain) == Self.clear + text)
        #expect(facts.frame(isTerminal: false, style: .plain) == text + "\n")
    }

    /// As `eegsync status` has it, with a headset that records a sample less each second by its design.
    private static func facts(_ stream: StatusFacts.Stream, of database: RecordedDatabase) throws -> StatusFacts {
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        var facts = try StatusFacts(store: store, configuration: nil, now: HostClock.now)
        facts.headsets[0].streams = [stream]
        return facts
    }

    private static let longStream = StatusFacts.Stream(
        name: "accelerometer", view: "accelerometer_1234", samplingFrequency: 256, rowsPerSecond: 255.9, rows: 453_600_000,
        missing: 123_456, gaps: 100_012, missingByDesign: 100_000, gapsByDesign: 100_000, recovered: 0, hasOpenGap: true,
        newestRowSeconds: 0.4, signals: [])

    @Test func theTableFitsATerminalOf80Columns() throws {
        let database = try RecordedDatabase()
        try database.record()
        let facts = try Self.facts(Self.longStream, of: database)
        let table = facts.lines(style: .plain, columns: 80).filter { $0.hasPrefix("  ") }
        #expect(table.allSatisfy { $0.displayWidth <= 80 }, "\(table)")
        #expect(table.contains("  views  accelerometer_1234"), "\(table)")
        #expect(facts.lines(style: .plain, columns: nil).contains { $0.hasSuffix("  accelerometer_1234") })
    }

    @Test func whatAHeadsetNeverSendsCountsNeitherAsMissingNorAsAGap() throws {
        let database = try RecordedDatabase()
        try database.record(byDesign: 3)
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        let stream = try #require(try headset(database)["streams"] as? [[String: Any]]).first
        #expect(stream?["gaps"] as? Int == 4 && stream?["gaps_by_design"] as? Int == 3, "\(stream ?? [:])")
        #expect(stream?["missing"] as? Int == 203 && stream?["missing_by_design"] as? Int == 3)
        let recording = try #require(try store.recordings().first)
        #expect((recording.gaps, recording.gapsByDesign, recording.missing, recording.missingByDesign) == (4, 3, 203, 3))
        let status = try StatusFacts(store: store, configuration: nil, now: HostClock.now).lines(style: .plain, columns: nil)
        #expect(status.contains { $0.contains("  200     1  eeg") }, "\(status)")
        let recordings = RecordingsFacts(recordings: [recording]).lines(style: .plain)
        #expect(recordings.last?.contains("  200     1  eeg") == true, "\(recordings)")
    }

    @Test func aKernelWithoutBluetoothIsNotTheUsersFaultNorBluetoothds() {
        #expect(AdapterState.unreachable.words == "the kernel has no Bluetooth, or keeps it from eegsync")
        #expect(!AdapterState.unreachable.remedy.contains("group"))
        // What the kernel's own route says while its channel is broken.
        #expect(!AdapterState.unknown.words.contains("bluetoothd"))
        #expect(AdapterState.allCases.count == Set(AdapterState.allCases.map(\.words)).count + 1, "unknown, and on, start")
    }

    @Test func aDaemonThatMayNotChooseConnectionParametersIsSaidToBeOne() throws {
        let database = try RecordedDatabase()
        let store = try AcquisitionStore(path: database.path, hostBoot: try HostBoot.current())
        var facts = try StatusFacts(store: store, configuration: nil, now: HostClock.now)
        #expect(facts.choosesConnectionParameters == nil)
        for (chooses, isSaid) in [(nil, false), (true, false), (false, true)] as [(Bool?, Bool)] {
            facts.choosesConnectionParameters = chooses
            #expect(facts.lines(style: .plain).contains { $0.contains("CAP_NET_ADMIN") } == isSaid)
        }
    }

    @Test func watchingATerminalGoesOnUntilItIsInterrupted() throws {
        let database = try RecordedDatabase()
        try database.record()
        let terminal = try Terminal()
        let process = Process()
        process.executableURL = try ProgramRun.program
        process.arguments = ["status", "--watch", "--database", database.path]
        process.environment = ["TERM": "xterm"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = terminal.slave
        process.standardError = FileHandle.nullDevice
        // What a shell starts in the background ignores it, and so would what is started here.
        signal(SIGINT, SIG_DFL)
        try process.run()
        // The third begins where the second is whole.
        let shown = terminal.read(until: { $0.components(separatedBy: Self.clear).count >= 4 })
        process.interrupt()
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGINT)
        let frames = shown.components(separatedBy: Self.clear)
        #expect(frames.first?.isEmpty == true)
        for frame in frames.dropFirst().dropLast() {
            #expect(frame.contains("left") && frame.contains("2,300") && frame.contains("eegsync run does not run"), "\(frame)")
            #expect(frame.contains("\u{1B}[33m"), "with colours")
        }
    }
}
