import Bluetooth
import Headsets
import Simulation
import Storage
import Testing

@testable import eegsync

/// `eegsync imitate FILE` with a database of a rehearsal, in which a buffered headset, a Ganglion, a Muse and a Hermes are.
struct ImitatedRecordingTests {
    private static func rehearsed(_ directory: TestDirectory) throws -> String {
        let path = directory.path("rehearsed.sqlite")
        let run = try ProgramRun(["simulate", "--seeds", "4..4", "--faults", "everyday", "--keep", path])
        try #require(run.exitCode == 0, "\(run.errors)")
        return path
    }

    /// Starts the headset and lets it play for some time.
    private static func play(_ recording: ImitatedRecording, seconds: Int) -> [PlayedSample] {
        let start = MonotonicTime(nanoseconds: 5_000_000_000)
        let headset = ImitatedHeadset(
            recording.specification, streams: recording.streams, seed: 1, tape: recording.tape, start: start)
        _ = headset.advance(to: start + .seconds(1))
        _ = headset.connect()
        for characteristic in headset.database.characteristics where characteristic.properties.contains(.notify) {
            headset.setNotifyValue(true, for: characteristic.uuid)
        }
        let profile = recording.model.profile
        for step in profile.commands(for: .initialise, status: nil) + profile.commands(for: .start, status: nil) {
            if case .write(let bytes, let characteristic, _) = step { _ = headset.write(bytes, to: characteristic) }
        }
        for step in 1...(seconds * 100) { _ = headset.advance(to: start + .seconds(1) + .milliseconds(step * 10)) }
        return headset.takePlayed()
    }

    @Test("a headset of each model plays what is stored of it, row by row, and leaves out what is missing")
    func plays() throws {
        let directory = try TestDirectory()
        let path = try Self.rehearsed(directory)
        let store = try ReadOnlyStore(path: path, hostBoot: try HostBoot.current())
        var models: Set<String> = []
        for number in Int64(1)...5 {
            let recording = try ImitatedRecording(database: path, recording: .number(number))
            models.insert(recording.model.name)
            let reader = try store.reader(of: RecordingID(rawValue: number))
            let recorded = reader.contents.streams.filter { $0.rowCount > 0 }
            let timeline = TapeTimeline(recorded)
            let samples = Self.play(recording, seconds: 40)
            for (index, stream) in recording.streams.enumerated() {
                let played = samples.filter { $0.stream == index && $0.run == 0 }
                let contents = try #require(recorded.first { $0.description.bankName == stream.bankName })
                let counts = recording.specification.indexesPerPacket
                let layout = TapeLayout(contents, on: timeline, indexesPerPacket: counts.isEmpty ? 1 : counts[index])
                let rows = try Self.rows(of: contents, in: reader)
                let first = try #require(played.first?.index)
                var (equal, other) = (0, 0)
                for sample in played where sample.values.contains(where: { $0 != nil }) {
                    let row = layout.n(at: sample.index - first).flatMap { rows[$0] }
                    if row == sample.values { equal += 1 } else { other += 1 }
                }
                let wanted = Int(30 * stream.samplingFrequency)
                #expect(other == 0 && equal > wanted, "\(recording.model.name) \(stream.name): \(equal), \(other) others")
            }
        }
        #expect(models == ["buffered-eeg", "ganglion", "muse2016", "hermes"], "this Muse had no PPG")
    }

    private static func rows(of stream: StreamContents, in reader: RecordingReader) throws -> [Int64: [Int32?]] {
        var rows: [Int64: [Int32?]] = [:]
        let count = stream.description.channels.count
        try reader.forEachChunk(of: stream.id, in: 0...Int64.max, rowsPerChunk: 1000) { chunk in
            for (row, n) in chunk.n.enumerated() {
                rows[n] = (0..<count).map {
                    chunk.missingChannels[row] & 1 << UInt8($0) == 0 ? chunk.values[row * count + $0] : nil
                }
            }
        }
        return rows
    }

    @Test("what cannot be played is said")
    func refuses() throws {
        let database = try RecordedDatabase()
        try database.record()
        let other = try RecordedDatabase()
        try other.record(model: "tgam")
        let path = database.path
        let absent = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/absent"]
        for (words, code, text) in [
            ([path, "--number", "2"], 64, "--number and --seed are for models"),
            (["muse", "--recording", "1"], 64, "--recording is for databases"),
            (["muse", "--from", "10s"], 64, "--from is for databases"),
            (["muse", "--repeat"], 64, "--repeat is for databases"),
            ([path, "--recording", "1", "--from", "300d"], 64, "begin before its end"),
            ([path + ".none"], 64, "is no file and cannot be imitated"),
            ([path, "--recording", "9"], 66, "recording 9"),
            ([other.path], 65, "is of a tgam, which cannot be played"),
            ([path], 69, "bluetoothd"),
        ] as [([String], Int32, String)] {
            let run = try ProgramRun(["imitate"] + words, environment: absent)
            #expect(run.exitCode == code && run.errors.contains(text), "\(words): \(run.exitCode) \(run.errors)")
        }
    }
}
