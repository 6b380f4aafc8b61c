import Bluetooth
import CLinux
import Foundation
import GRDB
import Headsets
import Simulation
import Storage
import Testing

@testable import eegsync

/// A directory with a configuration of two simulated headsets, and the database that the daemon makes there.
final class DaemonFixture {
    static let seed: UInt64 = 7
    /// What the daemon makes its simulated world of, in this boot of the machine.
    private static let worldSeed = eegsync.Configuration.Simulation(seed: seed, headsets: [])
        .seed(in: try? HostBoot.current())
    static let channelCount = 8
    /// Two of one model: only their serial numbers tell which is which.
    private static let headsets =
        "[{name: left, serial: SIM-1, model: buffered-eeg}, {name: right, serial: SIM-2, model: buffered-eeg}]"

    let directory: URL
    let path: String
    var config: String { directory.appendingPathComponent("eegsync.yaml").path }

    /// - Parameter folder: where the database is, below the directory of the fixture; it is not created.
    init(folder: String = "") throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)")
        path = directory.appendingPathComponent(folder).appendingPathComponent("eegsync.sqlite").path
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try write()
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// Writes the configuration, with text replaced, which must be there.
    func write(replacing text: String = "", with replacement: String = "") throws {
        let all = """
            database: \(path)
            central:
              kind: simulation
              seed: \(Self.seed)
              headsets: \(Self.headsets)
            headsets: \(Self.headsets)
            limits: {commit_interval_seconds: 0.05}
            log_level: trace
            """
        try #require(text.isEmpty || all.contains(text), "nothing is replaced where nothing is found")
        try all.replacingOccurrences(of: text, with: replacement).write(toFile: config, atomically: true, encoding: .utf8)
    }

    /// The instant now.
    static var now: MonotonicTime { MonotonicTime(nanoseconds: clinux_boottime_nanoseconds()) }

    /// Wants recordings of headsets.
    func want(_ headsets: [String]) throws {
        let store = try ControlStore(path: path, hostBoot: try HostBoot.current())
        for headset in headsets { try store.startRecording(headset: headset, model: "buffered-eeg", at: Self.now) }
        try store.close()
    }

    /// What the audit says.
    func audit() throws -> AuditReport {
        let store = try ReadOnlyStore(path: path, hostBoot: try HostBoot.current())
        defer { try? store.close() }
        return try store.audit()
    }

    /// One stored sample, as SQL has it.
    struct Row: Hashable {
        var stream: Int64
        var n: Int64
    }

    /// All rows, by their key.
    func rows() throws -> [Row: [Int32]] {
        let queue = try openReadOnly()
        return try queue.read { db in
            var rows: [Row: [Int32]] = [:]
            let cursor = try GRDB.Row.fetchCursor(db, sql: "SELECT stream_id, n, c1, c2, c3, c4, c5, c6, c7, c8 FROM sample")
            while let row = try cursor.next() {
                rows[Row(stream: row[0], n: row[1])] = (2..<(2 + Self.channelCount)).map { row[$0] ?? .min }
            }
            return rows
        }
    }

    /// How many rows differ from what the headsets measured.
    func wrongRows(_ rows: [Row: [Int32]]) throws -> Int {
        let queue = try openReadOnly()
        let epochs = try queue.read { db in
            try GRDB.Row.fetchAll(db, sql: "SELECT stream_id, boot_identifier, first_n, first_index FROM epoch ORDER BY number")
        }
        return rows.reduce(0) { wrong, entry in
            let epoch = epochs.last { $0["stream_id"] == entry.key.stream && $0["first_n"] <= entry.key.n }
            guard let epoch, let boot = epoch["boot_identifier"] as Int64? else { return wrong + 1 }
            let index = (epoch["first_index"] as Int64) + entry.key.n - (epoch["first_n"] as Int64)
            let isRight = entry.value.indices.allSatisfy { channel in
                entry.value[channel]
                    == SimulatedSignal.value(
                        seed: Self.worldSeed, boot: UInt32(truncatingIfNeeded: boot), stream: 0, channel: channel,
                        index: UInt32(truncatingIfNeeded: index))
            }
            return isRight ? wrong : wrong + 1
        }
    }

    private func openReadOnly() throws -> DatabaseQueue {
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}
