import Bluetooth
import Foundation
import GRDB
import Testing

@testable import Storage

/// What a centre is sent of the tables that it keeps row by row.
@Suite("Rows of the other tables")
struct RowSeriesTests {
    private let directory: TemporaryDirectory
    private let store: AcquisitionStore
    private let recording: RecordingID

    init() throws {
        directory = try TemporaryDirectory()
        store = try AcquisitionStore(path: directory.path("eegsync.sqlite"), hostBoot: Fixture.boot)
        recording = try Fixture.record(into: store)
    }

    private func arrive(_ samples: [Int64], batch number: UInt64) throws {
        var batch = WriteBatch(number: number)
        batch.changes = samples.map {
            .arrival(ArrivalRecord(stream: Fixture.eeg, n: $0, at: MonotonicTime(nanoseconds: $0 * 1000), deviceTicks: nil))
        }
        try store.commit(batch)
    }

    /// What is sent of the arrivals of the EEG.
    private func arrivals(after state: RowSeries.State?, rowLimit: Int = 100) throws -> SeriesShipment {
        let uuid = try #require(
            try store.shipment(of: recording, states: [:], blocksFrom: [:], series: nil, rowLimit: 1).streams.first
        )
        .uuid
        let series = RowSeries(table: "arrival", owner: uuid, part: 0)
        let found = try store.database.read { db in
            try SeriesReader(CarriedRows(of: recording, in: db), rowLimit: rowLimit, in: db).shipments(
                after: state.map { [series: $0] } ?? [:], isEnded: false)
        }
        return try #require(found.first { $0.series == series })
    }

    private func numbers(_ shipment: SeriesShipment) throws -> [Int]? {
        guard let rows = shipment.rows else { return nil }
        let json = try #require(try JSONSerialization.jsonObject(with: Data(rows.utf8)) as? [[String: Any]])
        return json.compactMap { $0["number"] as? Int }
    }

    @Test("Each row goes once, a part after the other, and that all is there is said")
    func once() throws {
        try arrive([255, 511, 767, 1023], batch: 4)
        let first = try arrivals(after: nil, rowLimit: 3)
        #expect(try numbers(first) == [255, 511, 767] && !first.after.isComplete)
        let second = try arrivals(after: first.after, rowLimit: 3)
        #expect(try numbers(second) == [1023] && second.after.isComplete && second.after.count == 4)
        #expect(try arrivals(after: second.after).rows == nil)
        // A part that was just full, and nothing more: the centre learns of it.
        let full = try arrivals(after: nil, rowLimit: 4)
        let last = try arrivals(after: full.after, rowLimit: 4)
        #expect(try !full.after.isComplete && numbers(last) == [] && last.after.isComplete && last.after.count == 4)
        try arrive([1279], batch: 5)
        #expect(try numbers(try arrivals(after: last.after)) == [1279])
    }

    @Test("Where rows came in between, another process sends all again; this one has compared")
    func between() throws {
        try arrive([255, 767], batch: 4)
        let sent = try arrivals(after: nil).after
        let known = RowSeries.State(last: sent.last, count: sent.count, isComplete: true)
        #expect(try numbers(try arrivals(after: known)) == [767], "what another process has sent last may have changed since")
        try arrive([511], batch: 5)
        #expect(try numbers(try arrivals(after: known)) == [255, 511, 767])
        #expect(try arrivals(after: known).after.count == 3)
        #expect(try arrivals(after: sent).rows == nil)
        // And compares once more where it is asked to: a merge ends while it runs.
        #expect(try numbers(try arrivals(after: sent.comparedAgain())) == [255, 511, 767])
    }

    /// What is sent of the states of the connection.
    private func events(after state: RowSeries.State?, isEnded: Bool = false) throws -> SeriesShipment {
        let series = RowSeries(table: "connection_event", owner: "", part: 0)
        let found = try store.database.read { db in
            try SeriesReader(CarriedRows(of: recording, in: db), in: db).shipments(
                after: state.map { [series: $0] } ?? [:], isEnded: isEnded)
        }
        return try #require(found.first { $0.series == series })
    }

    private func write(_ sql: String) throws { try store.database.writer.write { db in try db.execute(sql: sql) } }

    @Test("What is repeated counts further behind later rows, and goes again")
    func repeated() throws {
        try write(
            """
            INSERT INTO connection_event (headset_id, host_boot_id, boottime_ns, state)
            VALUES (1, 1, 100000000000, 'scanning'), (1, 1, 101000000000, 'backingOff'), (1, 1, 102000000000, 'streaming')
            """)
        let first = try events(after: nil)
        #expect(try numbers(first) == [1, 2, 3])
        var state = first.after
        for count in 2...3 {
            try write("UPDATE connection_event SET count = \(count), last_boottime_ns = 103000000000 WHERE id = 1")
            // All rows of the headset are looked through for it: not each round, and once where the recording has ended.
            #expect(try events(after: state).rows == nil)
            let again = try count == 2 ? events(after: state.countedAgain()) : events(after: state, isEnded: true)
            #expect(try numbers(again) == [1] && again.after.count == 3 && again.after.last == 3)
            #expect(again.rows?.contains("\"count\":\(count)") == true)
            state = again.after
            #expect(try events(after: state, isEnded: count == 3).rows == nil)
        }
        #expect(state.countedAgain() == state && state.comparedAgain() != state)
        // Another process does not know what was sent of it.
        let known = RowSeries.State(last: 3, count: 3, isComplete: true)
        #expect(try numbers(try events(after: known)) == [1, 3])
    }

    @Test("Only rows of the headset itself are looked through", arguments: CarriedTable.growing.filter(\.isRepeated))
    func plan(table: CarriedTable) throws {
        let steps = try store.database.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + table.repetitions, arguments: [recording.rawValue, 5])
                .map { $0["detail"] as String }
        }
        #expect(steps.contains { $0.contains("\(table.name)_by_headset (headset_id=? AND id<?)") }, "\(steps)")
        #expect(!steps.contains { $0.hasPrefix("SCAN") }, "\(steps)")
    }

    @Test("The last row goes again where it has changed")
    func changed() throws {
        try arrive([255, 511], batch: 4)
        let sent = try arrivals(after: nil).after
        try store.database.writer.write { db in try db.execute(sql: "UPDATE arrival SET boottime_ns = 7 WHERE n = 511") }
        let again = try arrivals(after: sent)
        #expect(try numbers(again) == [511] && again.rows?.contains("\"boottime_ns\":7") == true && again.after.count == 2)
    }

    @Test("Host boots, streams and links are UUIDs in a row, bytes are hexadecimal, and keys of one database are left out")
    func row() throws {
        try arrive([255], batch: 4)
        let rows = try #require(try arrivals(after: nil).rows)
        let stream = try store.database.read { db in try String.fetchOne(db, sql: "SELECT uuid FROM stream WHERE id = 1") }
        #expect(
            rows.contains("\"row\":{\"stream\":\"\(stream ?? "")\",\"n\":255,\"boottime_ns\":255000,\"device_ticks\":null}"))
        let message = try store.database.read { db in
            let table = try #require(CarriedTable.small.first { $0.name == "headset_message" })
            let sql = """
                SELECT 1 AS link_id, 3 AS number, x'00ff1a' AS bytes, 'a"b' AS text, 0.1 AS part, 1 AS host_boot_id,
                    9 AS headset_id
                """
            return try CarriedRows(of: recording, in: db).line(try #require(try Row.fetchOne(db, sql: sql)), of: table)
        }
        let values =
            "\"number\":3,\"bytes\":\"00ff1a\",\"text\":\"a\\\"b\",\"part\":0.1,\"host_boot\":\"\(Fixture.boot.uuid)\"}"
        #expect(message.json.contains(values) && !message.json.contains("headset"), "\(message.json)")
        #expect(message.key.hasSuffix("\"number\":3,\"part\":0}"))
    }

    @Test("Every table of an export is sent to a centre")
    func everything() {
        let typed = [
            "host_boot", "clock_offset", "headset", "recording", "stream", "channel", "epoch", "segment", "loss_detection",
            "sample", "gap", "annotation", "block", "provenance", "link", "recording_detail", "recording_property",
        ]
        #expect(Set(typed + CarriedTable.all.map(\.name)) == Set(RecordingExport.tables.map(\.name)))
    }
}
