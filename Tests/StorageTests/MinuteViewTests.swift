import Bluetooth
import Foundation
import GRDB
import Headsets
import Testing

@testable import Storage

@Suite("Rows by time")
struct MinuteViewTests {
    let store: AcquisitionStore

    init() throws { store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot) }

    func fetch(_ sql: String) throws -> [Row] {
        try store.database.writer.read { db in try Row.fetchAll(db, sql: sql) }
    }

    /// A stream at 2 Hz: rows, and segments as ranges with the second after the start at which each begins.
    func record(
        rows: [Range<Int64>], segments: [(ClosedRange<Int64>, second: Double)], names: [String] = ["A"], banks: Int = 1
    ) throws {
        let recording = try store.control.startRecording(headset: "h", model: "m", at: Fixture.start)
        var batch = WriteBatch(number: 1)
        batch.changes += [.clockOffset(Fixture.offset)]
        for bank in 0..<banks {
            let id = StreamID(rawValue: Int64(bank + 1))
            batch.changes += [
                .stream(
                    NewStream(
                        id: id, recording: recording, position: bank,
                        description: Fixture.eegDescription(names.map { bank == 0 ? $0 : "\($0)\(bank)" }, bank: bank))),
                .epoch(Fixture.epoch(id)),
            ]
            batch.samples += rows.map { Fixture.rows(id, $0, channels: names.count) }
            batch.changes += segments.map { range, second in
                Fixture.segment(
                    id, range, frequency: 2, reference: Fixture.start + .nanoseconds(Int64(second * 1e9)),
                    referenceN: range.lowerBound)
            }.map(Change.segment)
        }
        try store.commit(batch)
    }

    /// Every row of the view is in the companion once, with the same values and the minute of its time.
    func expectSameRows(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let rows = try fetch("SELECT substr(time, 1, 16) AS minute, * FROM eeg_1 WHERE time IS NOT NULL ORDER BY n")
        #expect(!rows.isEmpty, sourceLocation: sourceLocation)
        #expect(try fetch("SELECT * FROM eeg_1_minute ORDER BY n") == rows, sourceLocation: sourceLocation)
    }

    @Test("gives each row its one minute: segments of seconds and of hours, rows in holes and beyond the ends")
    func minutes() throws {
        // Rows before the first segment, in the hole between two (recovered late), and after the last one.
        try record(
            rows: [0..<400, 500..<510, 900..<20_000],
            segments: [(5...100, 2.5), (101...350, 50.6), (900...905, 460), (906...19_000, 463.3)])
        try expectSameRows()
        let minutes = try fetch("SELECT minute, count(*) AS rows FROM eeg_1_minute GROUP BY minute")
        #expect(minutes.first?["minute"] as String? == "2026-03-01T10:00")
        // Minutes 0 to 166 but 5 and 6, in which nothing was sampled.
        #expect(minutes.count == 165)
        #expect(
            try fetch("SELECT n FROM eeg_1_minute WHERE minute BETWEEN '2026-03-01T11:00' AND '2026-03-01T11:01'").count == 240)
        #expect(try fetch("SELECT n FROM eeg_1_minute WHERE minute LIKE '2026-03-01T11:%'").count == 7200)
    }

    @Test("holds where clocks went back between two boots, and where none is known")
    func clocks() throws {
        try record(rows: [0..<300], segments: [(0...299, 0)])
        let second = try store.reopened(hostBoot: Fixture.secondBoot)
        var batch = WriteBatch(number: 2)
        batch.samples = [Fixture.rows(StreamID(rawValue: 1), 300..<600, channels: 1)]
        batch.changes += [.segment(Fixture.segment(StreamID(rawValue: 1), 300...599, frequency: 2, referenceN: 300))]
        try second.commit(batch)
        // Half of the rows have no time so far, and do not borrow that of the boot before.
        #expect(try fetch("SELECT * FROM eeg_1_minute").count == 300)
        #expect(try fetch("SELECT max(n) AS n FROM eeg_1 WHERE time IS NOT NULL").first?["n"] as Int? == 299)
        try expectSameRows()
        var offset = Fixture.offset
        offset.offsetNanoseconds -= 100_000_000_000
        batch = WriteBatch(number: 3)
        batch.changes += [.clockOffset(offset)]
        try second.commit(batch)
        #expect(try fetch("SELECT * FROM eeg_1_minute").count == 600)
        try expectSameRows()
    }

    @Test("joins banks, and numbers a channel that is called minute")
    func banks() throws {
        try record(rows: [0..<700], segments: [(0...699, 0.25)], names: ["minute", "B"], banks: 2)
        var batch = WriteBatch(number: 2)
        batch.samples = [Fixture.rows(StreamID(rawValue: 2), 700..<800, channels: 2)]
        batch.changes += [
            .segment(Fixture.segment(StreamID(rawValue: 2), 700...799, frequency: 2, reference: Fixture.start + .seconds(350)))
        ]
        try store.commit(batch)
        let columns = try #require(try fetch("SELECT * FROM eeg_1_minute LIMIT 1").first).columnNames
        #expect(Array(columns) == ["minute", "n", "time", "unix_ns", "minute_2", "B", "minute1", "B1"])
        let count = try fetch("SELECT count(*) AS count, count(minute_2) AS first, count(B1) AS second FROM eeg_1_minute").first
        #expect(count?["count"] as Int? == 800 && count?["first"] as Int? == 700 && count?["second"] as Int? == 800)
        let plan = try fetch("EXPLAIN QUERY PLAN SELECT B, B1 FROM eeg_1_minute WHERE minute = '2026-03-01T10:01'")
            .map { $0["detail"] as String }
        for bank in ["s0", "s1"] {
            #expect(plan.contains { $0.hasPrefix("SEARCH \(bank) USING PRIMARY KEY (stream_id=? AND n>? AND n<?)") }, "\(plan)")
        }
    }

    @Test("an annotation has the number of the sample at its onset, and none where nothing was sampled")
    func annotations() throws {
        // An outage of an hour after n 99, whose length the ledger has as 10 samples.
        try record(rows: [0..<100, 110..<200], segments: [(0...99, 0), (110...199, 3600)], banks: 2)
        var batch = WriteBatch(number: 2)
        for second in [-1, 10, 52, 54, 1000, 3599, 3600, 3610, 4000] {
            batch.changes.append(
                .annotation(
                    AnnotationRecord(
                        recording: RecordingID(rawValue: 1), onset: Fixture.start + .seconds(second), durationSeconds: nil,
                        description: "\(second)", source: "operator")))
        }
        try store.commit(batch)
        let found = try fetch("SELECT description, n FROM annotation_sample WHERE view_name = 'eeg_1' ORDER BY onset_unix_ns")
        // 52 s lie in the gap, 54 s less than a second behind its end by the line before it, 1000 s in the outage.
        #expect(
            found.map { "\($0["description"] as String): \(($0["n"] as Int64?).map { "\($0)" } ?? "none")" } == [
                "-1: -2", "10: 20", "52: 104", "54: 108", "1000: none", "3599: none", "3600: 110", "3610: 130", "4000: 910",
            ])
    }

    @Test("views of an older database get their companions by the migration")
    func migration() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("old.sqlite")
        do {
            let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
            try Fixture.record(into: store)
        }
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            for view in ["eeg_1_minute", "accelerometer_1_minute", "annotation_sample"] {
                try db.execute(sql: "DROP VIEW \(view)")
            }
            for index in ["segment_by_time", "stream_by_view"] { try db.execute(sql: "DROP INDEX \(index)") }
            try db.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = 'm0013_reading'")
        }
        try queue.close()
        let store = try ControlStore(path: path, hostBoot: Fixture.boot)
        let counts = try store.database.writer.read { db in
            try ["eeg_1_minute", "accelerometer_1_minute"].map { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") }
        }
        #expect(counts == [2404, 520])
    }
}
