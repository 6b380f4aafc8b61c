import Bluetooth
import Foundation
import Headsets
import Simulation
import Storage
import Testing

@testable import eegsync

/// `eegsync replay`, with 322 s of a real MindWave (akloster/python-mindwave, BSD) where that file is present.
@Suite struct ReplayCommandTests {
    private static let recordingPath = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../shared/data/mindwave-rfcomm-baseline.bytes").standardizedFileURL.path

    private static func isPresent() -> Bool {
        if FileManager.default.fileExists(atPath: recordingPath) { return true }
        print("note: \(recordingPath) is absent; the tests on it are skipped")
        return false
    }

    /// The raw values of a recording's stream `eeg` by n, all of which are checked to be in order.
    private static func raw(_ path: String) throws -> [Int64: Int32] {
        let store = try ReadOnlyStore(path: path, hostBoot: try HostBoot.current())
        let reader = try store.reader(of: RecordingID(rawValue: 1))
        let stream = try #require(reader.contents.streams.first { $0.description.name == "eeg" })
        var values: [Int64: Int32] = [:]
        let range = (stream.firstN ?? 0)...(stream.lastN ?? 0)
        try reader.forEachChunk(of: stream.id, in: range, rowsPerChunk: 4096) { chunk in
            for row in chunk.n.indices { values[chunk.n[row]] = chunk.values[row] }
        }
        return values
    }

    @Test func theRealRecordingIsStoredWhole() throws {
        guard Self.isPresent() else { return }
        let database = try RecordedDatabase()
        let run = try ProgramRun(
            ["replay", Self.recordingPath, "--model", "thinkgear", "--database", database.path, "--json"])
        #expect(run.exitCode == 0, "\(run.errors)")
        let facts = try run.json()
        #expect(facts["damaged_samples"] as? Int == 0)
        #expect((facts["missing"] as? [Any])?.isEmpty == true)
        let streams = (facts["audit"] as? [String: Any])?["streams"] as? [[String: Any]] ?? []
        #expect(streams.map { $0["stream"] as? String } == ["eeg", "power", "esense"])
        #expect(streams.map { $0["rows"] as? Int } == [165_093, 322, 322])
        // Read by Tests/Readers with MNE, where the directory is named.
        let directory = ProcessInfo.processInfo.environment["EEGSYNC_EXPORT_FIXTURES"] ?? database.directory.path
        let file = directory + "/mindwave-replay.edf"
        let export = try ProgramRun(
            ["export", "1", "--stream", "eeg", "-o", file, "--force", "--json", "--database", database.path])
        #expect(export.exitCode == 0, "\(export.errors)")
        let exported = (try export.json()["files"] as? [[String: Any]])?.first?["streams"] as? [[String: Any]]
        #expect(exported?.first?["rows"] as? Int == 165_093)
        #expect(exported?.first?["filled"] as? Int == 0)
        // A second replay is a second recording in the same file.
        let again = try ProgramRun(
            ["replay", Self.recordingPath, "--model", "thinkgear", "--database", database.path, "--json"])
        #expect(try again.json()["recording"] as? Int == 2)
        #expect(try ProgramRun(["audit", "--database", database.path]).exitCode == 0)
    }

    @Test func flippedBitsCostTheirFramesAndNothingElse() throws {
        guard Self.isPresent() else { return }
        let database = try RecordedDatabase()
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: Self.recordingPath)))
        try Self.replay(bytes, in: database, name: "whole")
        var generator = SeededGenerator(seed: 20, purpose: 0)
        // One in each of 500 parts: two in one frame might cancel in its 8-bit sum. The ends have no good frame on one side.
        let flips = 500
        let partLength = (bytes.count - 200) / flips
        for part in 0..<flips {
            let position = 100 + part * partLength + Int(generator.next() % UInt64(partLength))
            bytes[position] ^= 1 << UInt8(generator.next() % 8)
        }
        let facts = try Self.replay(bytes, in: database, name: "flipped")
        let missing = facts["missing"] as? [[String: Any]] ?? []
        #expect(Set(missing.map { $0["cause"] as? String }) == ["packetDamaged"])
        let lost = Dictionary(
            uniqueKeysWithValues: missing.map { ($0["stream"] as? String ?? "", $0["samples"] as? Int ?? 0) })
        // Every flip damages one frame: a raw sample, or a power set with its eSense values.
        #expect((lost["eeg"] ?? 0) + (lost["power"] ?? 0) == flips)
        #expect(lost["power"] == lost["esense"])
        let audit = facts["audit"] as? [String: Any]
        #expect(audit?["holds"] as? Bool == true)
        let streams = audit?["streams"] as? [[String: Any]] ?? []
        #expect(streams.map { $0["expected"] as? Int } == [165_093, 322, 322])
        let whole = try Self.raw(database.directory.path + "/whole.sqlite")
        let flipped = try Self.raw(database.directory.path + "/flipped.sqlite")
        #expect(flipped.count == 165_093 - (lost["eeg"] ?? 0))
        #expect(flipped.allSatisfy { whole[$0.key] == $0.value })
        // The comparison bites: a stream that is one sample off agrees almost nowhere.
        #expect(flipped.count { whole[$0.key + 1] != $0.value } > 50_000)
    }

    @discardableResult
    private static func replay(_ bytes: [UInt8], in database: RecordedDatabase, name: String) throws -> [String: Any] {
        let file = database.directory.appendingPathComponent("\(name).bytes")
        try Data(bytes).write(to: file)
        let run = try ProgramRun([
            "replay", file.path, "--model", "thinkgear", "--json", "--database", database.directory.path + "/\(name).sqlite",
        ])
        #expect(run.exitCode == 0, "\(run.errors)")
        return try run.json()
    }

    @Test func linesOfTextKeepTheirTimes() throws {
        let database = try RecordedDatabase()
        let lines = (0..<600).map { number in
            let second = String(format: "%09.6f", Double(number) * 10 / 512)
            let frames = (0..<10).flatMap { ThinkGearFrame.raw(Int16(number + $0)).encoded() }
            return "2025-03-01T09:30:\(second)Z\t1101\t" + frames.map { String(format: "%02x", $0) }.joined()
        }
        let file = database.directory.appendingPathComponent("capture.tsv")
        try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        let run = try ProgramRun(["replay", file.path, "--model", "thinkgear", "--database", database.path])
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.contains("The audit holds") && run.output.contains("6,000"))
        let recordings = try ProgramRun(["recordings", "--json", "--database", database.path]).json()
        let recording = (recordings["recordings"] as? [[String: Any]])?.first
        #expect(recording?["label"] as? String == "capture.tsv")
        #expect(recording?["state"] as? String == "stopped")
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        let start = try #require(try store.recordings().first?.startUnixNanoseconds)
        // 2025-03-01T09:30:00Z; ten samples came at once, the first of them 18 ms before.
        #expect(abs(start - 1_740_821_400_000_000_000 + 17_600_000) < 5_000_000)
    }

    @Test func aStreamOfWhichNothingCameIsNamed() throws {
        let database = try RecordedDatabase()
        let file = try Self.athena(in: database, hasMotion: true)
        let run = try ProgramRun(["replay", file, "--model", "muse", "--database", database.path])
        #expect(run.exitCode == 0, "\(run.errors)")
        // Its EEG has another width than that of the usual preset, and is there all the same.
        #expect(run.output.contains("Nothing came of optics, optics-2, reference: check --model"), "\(run.output)")
        #expect(run.output.contains("The audit holds"), "\(run.output)")
    }

    @Test func aPresetThatIsNotTheUsualOneIsFollowedAndMayBeNamed() throws {
        let database = try RecordedDatabase()
        let file = try Self.athena(in: database, hasMotion: false)
        for preset in [[], ["--preset", "p1035"]] {
            let path = "\(database.directory.path)/\(preset.count).sqlite"
            let run = try ProgramRun(["replay", file, "--model", "muse", "--json", "--database", path] + preset)
            #expect(run.exitCode == 0, "\(run.errors)")
            let facts = try run.json()
            #expect(facts["rows"] as? Int == 2560, "\(run.output)")
            let audit = facts["audit"] as? [String: Any]
            let streams = (audit?["streams"] as? [[String: Any]])?.compactMap { $0["stream"] as? String } ?? []
            #expect(audit?["holds"] as? Bool == true && streams.filter { $0.hasPrefix("eeg") } == ["eeg"])
        }
    }

    @Test(arguments: [([String](), 46_875.0), (["--setting", "gain=24,1"], 23_437.5)])
    func theGainThatWasSetDecidesTheExportedVoltages(setting: [String], microvolts: Double) throws {
        let database = try RecordedDatabase()
        // 2^20 counts on all channels, an eighth of the range: 4.5 V / 8 / gain.
        let samples = String(repeating: "100000", count: 80)
        let lines = (0..<250).map { number in
            let counter = String(format: "%02x", number % HermesService.counterModulus)
            return "\(Double(number) / 25)\t\(HermesService.eegData)\t\(counter)\(samples)"
        }
        let file = database.directory.appendingPathComponent("hermes.tsv")
        try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        let name = "set\(setting.count).sqlite"
        let path = database.directory.appendingPathComponent(name).path
        let run = try ProgramRun(["replay", file.path, "--model", "hermes", "--database", path] + setting)
        #expect(run.exitCode == 0, "\(run.errors)")
        let exported = database.directory.appendingPathComponent("hermes.csv").path
        let export = try ProgramRun(["export", "1", "--stream", "eeg", "-o", exported, "--database", path])
        #expect(export.exitCode == 0, "\(export.errors)")
        let rows = try String(contentsOfFile: exported, encoding: .utf8).split(separator: "\n")
        let header = try #require(rows.first).split(separator: ",")
        let column = try #require(header.firstIndex { $0.hasPrefix("AF8") })
        let last = try #require(rows.last).split(separator: ",", omittingEmptySubsequences: false)
        #expect(abs(try #require(Double(last[column])) - microvolts) < 0.01, "\(rows[0]) \(rows[1])")
    }

    /// Ten seconds of an Athena that sends 4 channels of EEG, where the usual preset has 8.
    private static func athena(in database: RecordedDatabase, hasMotion: Bool) throws -> String {
        func motion(_ number: Int) -> (tag: MuseAthenaPacket.Tag, number: UInt8, content: [UInt8]) {
            (.motion, UInt8(number & 0xFF), [UInt8](repeating: 1, count: 36))
        }
        let content = MuseAthenaPacket.packed([Int32](repeating: 8192, count: 16), width: 14)
        let lines = (0..<640).map { number in
            let packet = MuseAthenaPacket.encoded(
                index: UInt16(number), deviceMilliseconds: 0,
                blocks: [(.eeg4, UInt8(number & 0xFF), content)] + (number % 4 == 0 && hasMotion ? [motion(number / 4)] : []))
            let digits = packet.map { String(format: "%02x", $0) }.joined()
            return "\(Double(number) / 64)\t\(MuseService.multiplexed)\t\(digits)"
        }
        let file = database.directory.appendingPathComponent("athena.tsv")
        try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }

    /// btsnoop, H4: each of two connections discovers the data characteristic at handle 0x31 and gets one byte from it.
    private static var snoopOfTwoHeadsets: Data {
        var file = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 3, 0xEA]
        for connection in UInt8(0x40)...0x41 {
            let messages: [(isReceived: UInt8, bytes: [UInt8])] = [
                (0, [0x08, 1, 0, 0xFF, 0xFF, 0x03, 0x28]),
                (1, [0x09, 21, 0x30, 0, 0x10, 0x31, 0] + BufferedEEGService.data.littleEndianBytes),
                (1, [0x1B, 0x31, 0, 7]),
            ]
            for (isReceived, bytes) in messages {
                let count = UInt8(bytes.count)
                let packet = [2, connection, 0x20, count + 4, 0, count, 0, 4, 0] + bytes
                file += [0, 0, 0, UInt8(packet.count), 0, 0, 0, UInt8(packet.count), 0, 0, 0, isReceived, 0, 0, 0, 0]
                file += [0, 0xE0, 0x3A, 0xB4, 0x4A, 0x67, 0x60, 0] + packet
            }
        }
        return Data(file)
    }

    /// What there is to be seen of a database, as commands show it.
    private static func contents(of database: RecordedDatabase) throws -> [String] {
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        let recordings = try store.recordings().map { "\($0.id) \($0.headset) \($0.rows)" }
        return recordings + (try store.headsets(at: HostClock.now).map(\.name))
    }

    @Test func whatCannotBePlayedIsRefusedWithTheRightCode() throws {
        let database = try RecordedDatabase()
        let garbage = database.directory.appendingPathComponent("garbage").path
        try Data((0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }).write(to: URL(fileURLWithPath: garbage))
        let snoop = database.directory.appendingPathComponent("snoop").path
        try Self.snoopOfTwoHeadsets.write(to: URL(fileURLWithPath: snoop))
        let cases: [(arguments: [String], code: Int32, text: String)] = [
            ([garbage, "--model", "unheard-of"], 64, "known models"),
            ([database.path + "-absent", "--model", "thinkgear"], 66, "cannot be read"),
            ([garbage, "--model", "buffered-eeg"], 65, "notifications"),
            ([garbage, "--model", "thinkgear", "--format", "btsnoop"], 65, "btsnoop"),
            ([garbage, "--model", "thinkgear", "--format", "text"], 65, "line 1"),
            ([garbage, "--model", "thinkgear"], 65, "no sample"),
            ([garbage, "--model", "thinkgear", "--connection", "2"], 64, "only a btsnoop file"),
            ([snoop, "--model", "buffered-eeg"], 65, "choose one with --connection"),
            ([snoop, "--model", "buffered-eeg", "--connection", "3"], 65, "no connection 3"),
            ([snoop, "--model", "buffered-eeg", "--connection", "2"], 65, "no sample"),
            ([snoop, "--model", "thinkgear"], 65, "check --model"),
            ([snoop, "--model", "muse", "--preset", "p7"], 64, "its presets: p20, p21, p22,"),
            ([snoop, "--model", "ganglion", "--preset", "p21"], 64, "'ganglion' has no presets"),
            ([snoop, "--model", "hermes", "--setting", "gain=24,5"], 64, "'5' is no value of the setting (allowed: 1, 2,"),
            ([snoop, "--model", "hermes", "--setting", "gain"], 64, "'' is no value of the setting"),
            ([snoop, "--model", "thinkgear", "--setting", "gain=1"], 64, "(allowed: no settings with this model)"),
        ]
        for (arguments, code, text) in cases {
            let run = try ProgramRun(["replay"] + arguments + ["--database", database.path])
            #expect(run.exitCode == code, "\(arguments) \(run.errors)")
            #expect(run.errors.contains(text), "\(arguments) \(run.errors)")
            #expect(!FileManager.default.fileExists(atPath: database.path), "\(arguments) left a database behind")
        }
        // Nor does a database that is there get an empty recording, or a headset that sent nothing.
        try database.record()
        let before = try Self.contents(of: database)
        #expect(try ProgramRun(["replay", garbage, "--model", "thinkgear", "--database", database.path]).exitCode == 65)
        #expect(try Self.contents(of: database) == before)
        let short = database.directory.appendingPathComponent("short.bytes")
        try Data((0..<1024).flatMap { ThinkGearFrame.raw(Int16($0)).encoded() }).write(to: short)
        let lock = try AcquisitionLock(database: database.path)
        let busy = try ProgramRun(["replay", short.path, "--model", "thinkgear", "--database", database.path])
        #expect(busy.exitCode == 75, "\(busy.errors)")
        withExtendedLifetime(lock) {}
    }
}
