import Bluetooth
import Foundation
import Headsets

@testable import Storage
@testable import eegsync

/// A database in a directory of its own, removed when the test lets it go.
final class RecordedDatabase {
    let directory: URL
    var path: String { directory.appendingPathComponent("eegsync.sqlite").path }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// Writes a configuration that names the database.
    ///
    /// - Parameter more: its other lines.
    /// - Returns: the file's path.
    func configure(_ more: String) throws -> String {
        let file = directory.appendingPathComponent("eegsync.yaml").path
        try "database: \(path)\n\(more)\n".write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }

    /// A store that writes what is recorded, without the lock by which commands know that a daemon runs.
    func acquisitionStore() throws -> AcquisitionStore {
        let opening = DatabaseOpening(path: path, options: StoreOptions())
        return try AcquisitionStore(try opening.openForWriting(isAcquiring: false), hostBoot: try HostBoot.current())
    }

    /// Records ten seconds of four channels at 250 Hz from headset `left`, ending now, with one second missing of which 50 rows
    /// were recovered. The recording stays open.
    ///
    /// - Parameter byDesign: how many samples the headset never sends besides.
    @discardableResult
    func record(byDesign: Int64 = 0, model: String = "buffered-eeg") throws -> RecordingID {
        let store = try acquisitionStore()
        let now = HostClock.now
        let start = now - .seconds(10)
        try store.control.noteClockOffset(HostClock.offset())
        let recording = try store.control.startRecording(
            headset: "left", model: model, label: "night 3", subject: "P07", task: "sleep", at: start)
        let stream = StreamID(rawValue: 1)
        var batch = WriteBatch(number: 1)
        batch.changes += [
            .stream(NewStream(id: stream, recording: recording, position: 0, description: Self.eeg)),
            .recording(.started(recording, at: start)),
            .epoch(EpochRecord(stream: stream, number: 0, bootIdentifier: 7, firstN: 0, firstIndex: 0, began: start)),
        ]
        batch.samples = [Self.rows(stream, 0..<1000), Self.rows(stream, 1200..<2500)]
        batch.changes += [
            .ledger(.open(stream: stream, firstN: 1000, channel: 0, count: 250, cause: .linkLost, noticed: start)),
            .ledger(.recover(stream: stream, firstN: 1000, channel: 0, count: 50)),
        ]
        batch.samples += byDesign > 0 ? [Self.rows(stream, 2500 + byDesign..<2510 + byDesign)] : []
        batch.changes +=
            (0..<byDesign).map {
                .ledger(.open(stream: stream, firstN: 2500 + $0, channel: 0, count: 1, cause: .notSent, noticed: start))
            }
        batch.changes += [
            .segment(
                SegmentRecord(
                    stream: stream, firstN: 0, lastN: 2499, epoch: 0, referenceN: 0, referenceTime: start,
                    periodNanoseconds: 4_000_000, residualNanoseconds: 1e6, observationCount: 100)),
            .statusReport(
                StatusReportRecord(
                    headset: try store.headset(named: "left") ?? HeadsetID(rawValue: 1), at: now,
                    status: HeadsetStatus(condition: .streaming, batteryPercent: 81), outcome: "streaming")),
        ]
        try store.commit(batch)
        try store.close()
        return recording
    }

    private static let eeg = StreamDescription(
        name: "eeg", samplingFrequency: 250, counterModulus: 65536,
        channels: ["TP9", "AF7", "AF8", "TP10"].map {
            ChannelDescription(name: $0, scale: 0.5, rawMinimum: -2048, rawMaximum: 2047)
        })

    private static func rows(_ stream: StreamID, _ range: Range<Int64>) -> SampleRows {
        SampleRows(
            stream: stream, channelCount: 4, firstN: range.lowerBound,
            values: range.flatMap { n in (0..<4).map { Int32((n + $0 * 100) % 1000) } })
    }
}

/// One run of the built program.
struct ProgramRun {
    var exitCode: Int32
    var output: String
    var errors: String

    /// Runs the program that was built beside the tests, without a terminal and without a configuration of the machine.
    ///
    /// - Parameters:
    ///   - input: its standard input.
    ///   - prefix: a program that runs it, such as setpriv, with its arguments.
    init(
        _ arguments: [String], environment: [String: String] = [:], input: Any = FileHandle.nullDevice,
        under prefix: [String] = []
    ) throws {
        let process = Process()
        process.executableURL = try prefix.first.map { URL(fileURLWithPath: $0) } ?? Self.program
        process.arguments = prefix.isEmpty ? arguments : prefix.dropFirst() + [try Self.program.path] + arguments
        process.environment = environment
        let (out, err) = (Pipe(), Pipe())
        process.standardOutput = out
        process.standardError = err
        process.standardInput = input
        try process.run()
        // What goes to standard error is at most a few lines, far below the size of a pipe, so one after the other is safe.
        output = String(decoding: out.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        errors = String(decoding: err.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        exitCode = process.terminationStatus
    }

    /// The program that was built beside the tests.
    static var program: URL {
        get throws {
            let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("eegsync")
        }
    }

    /// The document that was printed.
    func json() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] ?? [:]
    }
}
