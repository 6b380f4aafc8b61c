import Bluetooth
import Foundation
import Headsets
import Storage
import Testing

@testable import eegsync

/// `eegsync refit`, as the built program.
@Suite struct RefitCommandTests {
    private let database: RecordedDatabase
    private var environment: [String: String] { ["EEGSYNC_DATABASE": database.path] }

    init() throws { database = try RecordedDatabase() }

    /// Records 100 s at 250 Hz from a headset that is fast by 1,000 ppm, whose times were stored 7 ms too late, with evidence.
    @discardableResult
    private func recordWithEvidence(stream key: Int64 = 1, stop: Bool = true) throws -> RecordingID {
        let store = try database.acquisitionStore()
        defer { try? store.close() }
        let start = MonotonicTime(nanoseconds: key * 1_000_000_000_000)
        try store.control.noteClockOffset(HostClock.offset())
        let recording = try store.control.startRecording(headset: "left", model: "ganglion", at: start)
        let stream = StreamID(rawValue: key)
        var batch = WriteBatch(number: 1)
        let description = StreamDescription(
            name: "eeg", samplingFrequency: 250, counterModulus: 65536,
            channels: [ChannelDescription(name: "TP9", scale: 0.5, rawMinimum: -2048, rawMaximum: 2047)])
        batch.changes += [
            .stream(NewStream(id: stream, recording: recording, position: 0, description: description)),
            .recording(.started(recording, at: start)),
            .epoch(EpochRecord(stream: stream, number: 0, bootIdentifier: 7, firstN: 0, firstIndex: 0, began: start)),
        ]
        batch.samples = [
            SampleRows(stream: stream, channelCount: 1, firstN: 0, values: (0..<25_000).map { Int32($0 % 1000) })
        ]
        batch.changes += [
            .segment(
                SegmentRecord(
                    stream: stream, firstN: 0, lastN: 24_999, epoch: 0, referenceN: 0, referenceTime: start + .milliseconds(7),
                    periodNanoseconds: 4e6 / 1.001, residualNanoseconds: 1e6, observationCount: 100,
                    uncertaintyNanoseconds: 50e6))
        ]
        batch.changes += (1...100).map { second in
            let n = Int64(second * 250 - 1)
            return ArrivalRecord(
                stream: stream, n: n, at: start + .nanoseconds(Int64(Double(n) * 4e6 / 1.001) + Int64(second % 7) * 300_000),
                deviceTicks: nil)
        }.map(Change.arrival)
        if stop {
            try store.control.stopRecording(headset: "left", at: start + .seconds(100))
            batch.changes += [.recording(.stopped(recording, at: start + .seconds(100)))]
        }
        try store.commit(batch)
        return recording
    }

    private func sql(_ statement: String) throws -> String {
        let sqlite = Process()
        sqlite.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        sqlite.arguments = [database.path, statement]
        let out = Pipe()
        sqlite.standardOutput = out
        try sqlite.run()
        let text = String(decoding: out.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        sqlite.waitUntilExit()
        return text
    }

    private func stream(_ run: ProgramRun) throws -> [String: Any] {
        let recordings = try run.json()["recordings"] as? [[String: Any]]
        return (recordings?.first?["streams"] as? [[String: Any]])?.first ?? [:]
    }

    @Test func timesAreFittedOnceAndWhatWasBeforeIsKept() throws {
        try recordWithEvidence()
        let before = try sql("SELECT * FROM segment")
        let samples = try sql("SELECT count(*), sum(n), sum(c1) FROM sample; SELECT * FROM gap; SELECT * FROM epoch")
        let run = try ProgramRun(["refit", "1"], environment: environment)
        #expect(run.exitCode == 0 && run.output.contains("refitted"), "\(run.output)\(run.errors)")
        #expect(run.output.contains("50.00 ms") && run.output.contains("+1000."), "\(run.output)")
        let after = try sql("SELECT * FROM segment")
        #expect(after != before)
        #expect(try sql("SELECT min(first_n), max(last_n), max(uncertainty_ns) < 2e6 FROM segment") == "0|24999|1\n")
        #expect(try sql("SELECT count(*), sum(n), sum(c1) FROM sample; SELECT * FROM gap; SELECT * FROM epoch") == samples)
        let noted = try sql("SELECT version, evidence_count, round(shift_max_ns / 1e6) FROM refit")
        #expect(noted == "\(Eegsync.version)|100|7.0\n")
        let kept = """
            SELECT f.stream_id, r.first_n, last_n, epoch, r.host_boot_id, reference_n, reference_boottime_ns, period_ns,
                residual_ns, observation_count, uncertainty_ns FROM replaced_segment AS r JOIN refit AS f ON f.id = r.refit_id
            """
        #expect(try sql(kept) == before)
        #expect(try ProgramRun(["audit"], environment: environment).exitCode == 0)
        // Once more: nothing is left to do.
        let again = try ProgramRun(["refit"], environment: environment)
        #expect(again.output.contains("was so already") && again.output.contains("Nothing changes."), "\(again.output)")
        #expect(try sql("SELECT * FROM segment") == after)
        #expect(try sql("SELECT count(*) FROM refit") == "1\n")
        // The record goes with the recording.
        let copy = database.directory.appendingPathComponent("copy.sqlite").path
        #expect(try ProgramRun(["export", "1", "-o", copy], environment: environment).exitCode == 0)
        #expect(try ProgramRun(["audit", "--database", copy]).exitCode == 0)
    }

    @Test func aDryRunWritesNothing() throws {
        try recordWithEvidence()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: database.path))
        let dry = try ProgramRun(["refit", "1", "--dry-run", "--json"], environment: environment)
        #expect(dry.exitCode == 0, "\(dry.errors)")
        #expect(try stream(dry)["is_changed"] as? Bool == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: database.path)) == bytes)
        #expect(!FileManager.default.fileExists(atPath: database.path + "-lock"))
        let run = try ProgramRun(["refit", "1", "--json"], environment: environment)
        let (shown, done) = (try stream(dry), try stream(run))
        #expect(NSDictionary(dictionary: shown) == NSDictionary(dictionary: done))
        #expect(abs((done["moved_mean_ms"] as? Double ?? 0) - 7) < 0.2, "\(done)")
        let words = try ProgramRun(["refit", "1", "--dry-run"], environment: environment)
        #expect(words.output.contains("Nothing changes."))
    }

    @Test func aRecordingThatIsBeingRecordedIsRefused() throws {
        try recordWithEvidence(stop: false)
        let before = try sql("SELECT * FROM segment")
        let daemon = try AcquisitionStore(path: database.path, hostBoot: try HostBoot.current())
        for arguments in [["refit", "1"], ["refit", "1", "--dry-run"]] {
            let run = try ProgramRun(arguments, environment: environment)
            #expect(run.exitCode == 75 && run.errors.contains("is being recorded right now"), "\(run.output)\(run.errors)")
            #expect(run.errors.contains("process \(ProcessInfo.processInfo.processIdentifier)"), "\(run.errors)")
        }
        let all = try ProgramRun(["refit"], environment: environment)
        #expect(all.exitCode == 0 && all.output.contains("left as it is"), "\(all.output)\(all.errors)")
        #expect(try sql("SELECT * FROM segment") == before)
        // Without the daemon nobody writes it, and it goes on afterwards.
        try daemon.close()
        #expect(try ProgramRun(["refit", "1"], environment: environment).exitCode == 0)
        #expect(try sql("SELECT * FROM segment") != before)
    }

    @Test func anOldRecordingWithoutEvidenceIsLeftAsItIs() throws {
        try database.record()
        let before = try sql("SELECT * FROM segment")
        let run = try ProgramRun(["refit", "1"], environment: environment)
        #expect(run.exitCode == 0 && run.output.contains("no evidence: left as it is"), "\(run.output)\(run.errors)")
        #expect(try sql("SELECT * FROM segment") == before)
        #expect(try sql("SELECT count(*) FROM refit") == "0\n")
        #expect(try ProgramRun(["refit", "9"], environment: environment).exitCode == 66)
        let absent = database.directory.appendingPathComponent("absent.sqlite").path
        #expect(try ProgramRun(["refit", "--database", absent]).exitCode == 66)
        #expect(!FileManager.default.fileExists(atPath: absent))
    }

    @Test func theNextRecordingTakesTheRefittedRate() throws {
        try recordWithEvidence()
        try recordWithEvidence(stream: 2)
        #expect(try ProgramRun(["refit"], environment: environment).exitCode == 0)
        let rows = try sql("SELECT * FROM segment")
        // What one recording takes from another is its evidence, and not its times.
        #expect(try ProgramRun(["refit", "2", "1"], environment: environment).output.contains("Nothing changes."))
        #expect(try sql("SELECT * FROM segment") == rows)
        let store = try database.acquisitionStore()
        defer { try? store.close() }
        let next = try store.control.startRecording(headset: "left", model: "ganglion", at: HostClock.now)
        let rates = try store.resumeState(of: next).learntRates
        #expect(rates.count == 2)
        #expect(rates.allSatisfy { abs($0.periodNanoseconds * 1.001 / 4e6 - 1) < 5e-6 }, "\(rates)")
    }
}
