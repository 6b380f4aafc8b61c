import Bluetooth
import Foundation
import Headsets
import Storage
import Testing

@testable import eegsync

/// `eegsync replay` of files as they lie about in laboratories.
@Suite struct ReplayFormatsTests {
    private static func hexadecimal(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    private static func cyton(_ number: Int) -> [UInt8] {
        CytonFrame(number: UInt8(number & 0xFF), eeg: (0..<8).map { Int32(number * 8 + $0) }).encoded()
    }

    private static func unicorn(_ number: Int) -> [UInt8] {
        UnicornFrame(
            battery: 8, eeg: (0..<8).map { Int32($0) }, motion: [Int16](repeating: 1, count: 6), counter: UInt32(number)
        ).encoded()
    }

    /// Two seconds of a Cyton with UTC, a byte-order mark, and two lines that are wrong.
    private static var text: String {
        var lines = (0..<500).map { number in
            String(format: "%.3f", 1_700_000_000.123 + Double(number) / 250) + "\t1101\t" + hexadecimal(cyton(number))
        }
        lines.insert("cut off", at: 100)
        lines.insert("1700000001.5\t1101\ta", at: 300)
        return "\u{FEFF}" + lines.joined(separator: "\n") + "\n"
    }

    private static func replay(
        _ file: String, _ model: String, in database: RecordedDatabase, _ options: [String] = [],
        input: Any = FileHandle.nullDevice
    ) throws -> [String: Any] {
        let path = database.directory.path + "/\(UUID().uuidString).sqlite"
        let run = try ProgramRun(
            ["replay", file, "--model", model, "--json", "--database", path] + options, input: input)
        #expect(run.exitCode == 0, "\(run.errors)")
        return try run.json()
    }

    @Test func secondsSince1970GiveTheTimesAndOneWrongLineCostsItself() throws {
        let database = try RecordedDatabase()
        let file = database.directory.appendingPathComponent("cyton.tsv")
        try Data(Self.text.utf8).write(to: file)
        let run = try ProgramRun(["replay", file.path, "--model", "cyton", "--database", database.path])
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.contains("2 lines left out; line 101 is not"), "\(run.output)")
        #expect(run.output.contains("--channels 16"), "\(run.output)")
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        let start = try #require(try store.recordings().first?.startUnixNanoseconds)
        // As far as the line of times is known after two seconds.
        #expect(abs(start - 1_700_000_000_123_000_000) < 10_000_000)
    }

    @Test func pipesAreFiles() throws {
        let database = try RecordedDatabase()
        let file = database.directory.appendingPathComponent("cyton.tsv")
        try Data(Self.text.utf8).write(to: file)
        let fifo = database.directory.appendingPathComponent("fifo").path
        #expect(mkfifo(fifo, 0o600) == 0)
        for name in ["-", "/dev/stdin", fifo] {
            let writer = Process()
            writer.executableURL = URL(fileURLWithPath: "/bin/sh")
            writer.arguments = ["-c", name == fifo ? "exec cat \"$0\" > \"$1\"" : "exec cat \"$0\"", file.path, fifo]
            let pipe = Pipe()
            writer.standardOutput = pipe
            try writer.run()
            let facts = try Self.replay(name, "cyton", in: database, input: name == fifo ? FileHandle.nullDevice : pipe)
            writer.waitUntilExit()
            #expect(facts["rows"] as? Int == 500)
            #expect(facts["skipped_lines"] as? Int == 2)
        }
        let directory = try ProgramRun(
            ["replay", database.directory.path, "--model", "cyton", "--database", database.directory.path + "/none.sqlite"])
        #expect(directory.exitCode == Failure.Code.noInput.rawValue)
    }

    @Test func bytesOfEverySerialModelAreCutAtItsOwnRate() throws {
        let database = try RecordedDatabase()
        let instants = Array(repeating: [Int32](repeating: 7, count: 8), count: 10)
        let explore = (0..<250).flatMap { number in
            ExplorePacket(
                kind: .eeg8, number: UInt8(number & 0xFF), ticks: UInt64(number) * 4000,
                content: ExplorePacket.content(ofInstants: instants, frequencyCode: 6)
            ).encoded()
        }
        let raw = (0..<512).flatMap { ThinkGearFrame.raw(Int16($0)).encoded() }
        let second =
            raw
            + ThinkGearFrame.power(poorSignal: 0, power: Array(repeating: 5, count: 8), attention: 1, meditation: 2).encoded()
        let streams: [(model: String, bytes: [UInt8], rows: Int)] = [
            ("cyton", (0..<2500).flatMap(Self.cyton), 2500), ("explore", explore, 2500),
            ("thinkgear", (0..<10).flatMap { _ in second }, 5120),
            ("unicorn", (0..<2500).flatMap(Self.unicorn), 2500),
        ]
        for (model, bytes, rows) in streams {
            let file = database.directory.appendingPathComponent("\(model).bytes")
            try Data(bytes).write(to: file)
            let facts = try Self.replay(file.path, model, in: database)
            let seconds = try #require(facts["duration_seconds"] as? Double)
            #expect(abs(seconds - 10) < 0.1, "\(model)")
            let audited = (facts["audit"] as? [String: Any])?["streams"] as? [[String: Any]] ?? []
            let eeg = audited.first { $0["stream"] as? String == "eeg" }
            #expect(eeg?["rows"] as? Int == rows, "\(model)")
            #expect(eeg?["missing"] as? Int == 0, "\(model)")
            let half = try Self.replay(file.path, model, in: database, ["--byte-rate", "1000"])
            #expect(abs((half["duration_seconds"] as? Double ?? 0) - Double(bytes.count) / 1000) < 1, "\(model)")
        }
    }

    @Test func aGanglionsFirmwareMayBeGivenAndIsNamedWhereItLacks() throws {
        let database = try RecordedDatabase()
        let file = database.directory.appendingPathComponent("ganglion.tsv")
        let lines = (0..<400).map { number in
            "\(Double(number) / 100)\t\(GanglionService.data)\t"
                + Self.hexadecimal([UInt8(number % 100)] + [UInt8](repeating: 1, count: 19))
        }
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
        let path = database.directory.path + "/none.sqlite"
        let run = try ProgramRun(["replay", file.path, "--model", "ganglion", "--database", path])
        #expect(run.exitCode == Failure.Code.dataError.rawValue)
        #expect(run.errors.contains("without its firmware version") && run.errors.contains("--firmware 2"), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: path))
        let facts = try Self.replay(file.path, "ganglion", in: database, ["--firmware", "3"])
        #expect(facts["rows"] as? Int == 840)
        let wrong = try ProgramRun(["replay", file.path, "--model", "muse", "--firmware", "3", "--database", path])
        #expect(wrong.exitCode == Failure.Code.usage.rawValue)
    }

    @Test func aCytonsChannelsMayBeGiven() throws {
        let database = try RecordedDatabase()
        let file = database.directory.appendingPathComponent("cyton.bytes")
        try Data((1..<2501).flatMap(Self.cyton)).write(to: file)
        let facts = try Self.replay(file.path, "cyton", in: database, ["--channels", "16"])
        let audited = (facts["audit"] as? [String: Any])?["streams"] as? [[String: Any]] ?? []
        #expect(audited.filter { $0["stream"] as? String == "eeg" }.map { $0["rows"] as? Int } == [1250, 1250])
        #expect(facts["assumed"] == nil)
    }
}
