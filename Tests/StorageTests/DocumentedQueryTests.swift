import Bluetooth
import Foundation
import GRDB
import Headsets
import Testing

@testable import Storage

/// The SQL of the page QueryingTheDatabase, run as it stands there.
@Suite("The documented queries")
struct DocumentedQueryTests {
    let store: AcquisitionStore
    let queries: [String]

    init() throws {
        store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot)
        try Fixture.record(into: store)
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/eegsync/eegsync.docc/QueryingTheDatabase.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        queries = text.components(separatedBy: "```sql\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    /// The result of a query of the page, as text by column.
    func rows(_ number: Int) throws -> [[String: String]] {
        let sql = try #require(queries.indices.contains(number - 1) ? queries[number - 1] : nil)
        return try store.database.writer.read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                Dictionary(row.map { ($0, Self.text($1)) }, uniquingKeysWith: { first, _ in first })
            }
        }
    }

    static func text(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "NULL"
        case .int64(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): value
        case .blob: "BLOB"
        }
    }

    /// SQLite's plan for a query, one line a step.
    func plan(_ sql: String) throws -> [String] {
        try store.database.writer.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)").map { $0["detail"] }
        }
    }

    @Test("are fifteen")
    func count() { #expect(queries.count == 15) }

    @Test("1: recordings")
    func recordings() throws {
        let found = try rows(1)
        #expect(found.count == 1)
        let row = try #require(found.first)
        #expect(row["headset"] == "muse-1")
        #expect(row["subject"] == "S01")
        #expect(row["state"] == "recording")
        #expect(row["start_time"] == "2026-03-01T10:00:00.000Z")
        #expect(row["rows"] == "2924")
        #expect(row["missing"] == "156")
        #expect(row["view_names"] == "eeg_1,accelerometer_1")
    }

    @Test("2: samples in physical units")
    func samples() throws {
        let found = try rows(2)
        #expect(found.map { $0["n"] } == ["1000", "1001", "1002", "1003", "1004"])
        // Row 1000, channel 1: raw (1000 + 100) mod 1000 = 100; 0.5 * 100 + 1. Channel 2 is missing.
        #expect(found[0]["TP9"] == "51.0")
        #expect(found[0]["AF7"] == "NULL")
        #expect(found[0]["TP10"] == "201.0")
        #expect(found[0]["time"] == "2026-03-01T10:00:03.906Z")
    }

    @Test("3: a time range")
    func timeRange() throws {
        let found = try rows(3)
        #expect(found.count == 256)
        #expect(found.first?["n"] == "256")
        #expect(found.first?["time"] == "2026-03-01T10:00:01.000Z")
        #expect(found.last?["n"] == "511")
    }

    @Test("12: any range of time, for programs")
    func nanosecondRange() throws {
        let found = try rows(12)
        #expect(found.map { $0["n"] } == (256...511).map { "\($0)" })
        #expect(found.first?["unix_ns"] == "1772359201000000000")
    }

    @Test("3 and 12: search the key of the samples", arguments: [3, 12])
    func timeRangePlan(number: Int) throws {
        let plan = try plan(queries[number - 1])
        #expect(plan.contains { $0.hasPrefix("SEARCH s0 USING PRIMARY KEY (stream_id=? AND n>? AND n<?)") }, "\(plan)")
        #expect(!plan.contains { $0.hasPrefix("SCAN s0") || $0.hasPrefix("MATERIALIZE") }, "\(plan)")
    }

    @Test("4: gaps")
    func gaps() throws {
        let found = try rows(4)
        #expect(found.count == 2)
        #expect(found[0]["start_time"] == "2026-03-01T10:00:02.000Z")
        #expect(found[0]["end_time"] == "2026-03-01T10:00:03.000Z")
        #expect(found[0]["duration_seconds"] == "1.0")
        #expect(found[0]["cause"] == "linkLost")
        #expect(found[0]["recovered"] == "100")
        #expect(found[0]["missing"] == "156")
        #expect(found[0]["channel_name"] == "NULL")
        #expect(found[1]["channel_name"] == "AF7")
        #expect(found[1]["missing"] == "12")
    }

    @Test("5: completeness")
    func completeness() throws {
        let found = try rows(5)
        #expect(found.map { $0["stream"] } == ["eeg", "accelerometer"])
        #expect(found[0]["rows"] == "2404")
        #expect(found[0]["percent"] == "93.906")
        #expect(found[1]["percent"] == "100.0")
    }

    @Test("6: losses by cause")
    func causes() throws {
        let found = try rows(6)
        #expect(found.map { $0["cause"] } == ["linkLost", "packetLost"])
        #expect(found.map { $0["missing"] } == ["156", "12"])
    }

    @Test("7: around annotations")
    func annotations() throws {
        let found = try rows(7)
        // 5 s after the start is n 1280.
        #expect(found.count == 51 + 1 + 204)
        #expect(found.first?["offset_n"] == "-51")
        #expect(found.last?["offset_n"] == "204")
        #expect(found[51]["TP9"] == "191.0")
    }

    @Test("8: second by second")
    func seconds() throws {
        let found = try rows(8)
        #expect(found.map { $0["second"] } == ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"])
        #expect(found[2]["rows"] == "100")
        #expect(found[3]["rows_with_AF7"] == "244")
        #expect(found[0]["mean"] == "114.75")
        #expect(found[0]["minimum"] == "51.0")
    }

    @Test("9: long data")
    func long() throws {
        let found = try rows(9)
        #expect(found.map { $0["channel"] } == ["AF7", "TP9", "AF7", "TP9"])
        #expect(found.map { $0["value"] } == ["NULL", "51.0", "NULL", "51.5"])
        #expect(found[0]["unit"] == "uV")
    }

    @Test("10: true sampling frequency")
    func frequency() throws {
        let found = try rows(10)
        #expect(found.map { $0["sampling_frequency"] } == ["256.0", "52.0"])
        #expect(found[0]["residual_ms"] == "1.0")
        #expect(found[0]["is_synchronised"] == "1")
    }

    @Test("11: signal checks")
    func signals() throws {
        let found = try rows(11)
        #expect(found.map { $0["channel"] } == ["TP10", "AF7"])
        #expect(found.map { $0["condition"] } == ["flat", "lineNoise"])
        #expect(found.map { $0["seconds"] } == ["4.0", "2.0"])
        #expect(found[0]["first_time"] == "2026-03-01T10:00:00.000Z")
        #expect(found[0]["last_time"] == "2026-03-01T10:00:03.996Z")
        #expect(found[1]["line_50_hz"] == "31.5")
    }

    @Test("13: what has happened")
    func history() throws {
        var batch = WriteBatch(number: 9)
        let headset = HeadsetID(rawValue: 1)
        batch.changes = [
            .connectionEvent(ConnectionEventRecord(headset: headset, at: Fixture.start, state: "searching")),
            .connectionEvent(ConnectionEventRecord(headset: headset, at: Fixture.start + .seconds(1), state: "streaming")),
        ]
        try store.commit(batch)
        let found = try rows(13)
        #expect(found.map { $0["name"] } == ["streaming", "searching"])
        #expect(found[0]["time"] == "2026-03-01T10:00:01.000Z" && found[0]["headset"] == "muse-1")
    }

    @Test("7: finds the samples by the segments' index, and the rows by their key")
    func annotationPlan() throws {
        let plan = try plan(queries[6])
        let index = "SEARCH segment USING INDEX segment_by_time (stream_id=? AND host_boot_id=? AND <expr><?)"
        #expect(plan.contains { $0.hasPrefix(index) }, "\(plan)")
        #expect(plan.contains { $0.hasPrefix("SEARCH s0 USING PRIMARY KEY (stream_id=? AND n>? AND n<?)") }, "\(plan)")
        #expect(!plan.contains { $0.hasPrefix("SCAN") || $0.hasPrefix("MATERIALIZE") }, "\(plan)")
    }

    @Test("14: drift")
    func drift() throws {
        let found = try rows(14)
        #expect(found.map { $0["hour"] } == ["2026-03-01T10:00"])
        #expect(found[0]["ppm"] == "0.0" && found[0]["segments"] == "1")
    }

    @Test("15: hours that miss the most")
    func hours() throws {
        let found = try rows(15)
        #expect(found.map { $0["hour"] } == ["2026-03-01T10"])
        #expect(found[0]["gaps"] == "1" && found[0]["missing_seconds"] == "0.609375")
    }

    @Test("a range of n in a view searches the key, also over several banks")
    func viewPlan() throws {
        let plan = try plan("SELECT time, TP9 FROM eeg_1 WHERE n BETWEEN 5 AND 10")
        #expect(plan.contains { $0.hasPrefix("SEARCH s0 USING PRIMARY KEY (stream_id=? AND n>? AND n<?)") }, "\(plan)")
        let long = try self.plan("SELECT * FROM sample_long WHERE recording_id = 1 AND stream = 'eeg' AND n BETWEEN 5 AND 10")
        #expect(long.contains { $0.hasPrefix("SEARCH s USING PRIMARY KEY (stream_id=? AND n>? AND n<?)") }, "\(long)")
    }
}
