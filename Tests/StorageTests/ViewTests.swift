import Bluetooth
import GRDB
import Headsets
import Testing

@testable import Storage

@Suite("The views for people")
struct ViewTests {
    let store: AcquisitionStore

    init() throws { store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot) }

    func fetch(_ sql: String) throws -> [Row] {
        try store.database.writer.read { db in try Row.fetchAll(db, sql: sql) }
    }

    /// Creates the streams of a recording and stores some rows of each.
    func record(_ descriptions: [StreamDescription], rows: [Range<Int64>]) throws {
        let recording = try store.control.startRecording(headset: "h", model: "m", at: Fixture.start)
        var batch = WriteBatch(number: 1)
        batch.changes += [.clockOffset(Fixture.offset)]
        for (index, description) in descriptions.enumerated() {
            let id = StreamID(rawValue: Int64(index + 1))
            batch.changes += [
                .stream(NewStream(id: id, recording: recording, position: index, description: description)),
                .epoch(Fixture.epoch(id)),
            ]
            batch.samples.append(Fixture.rows(id, rows[index], channels: description.channels.count))
            let (first, last) = (rows[index].lowerBound, rows[index].upperBound - 1)
            batch.changes.append(.segment(Fixture.segment(id, first...last, frequency: 256)))
        }
        try store.commit(batch)
    }

    @Test("survive hostile names: nothing is injected, nothing collides")
    func hostileNames() throws {
        let names = [#"a"b"#, "time", "N", "unix_ns", "Fp1", "fp1", #"x" FROM headset; DROP TABLE sample; --"#, "\u{1}"]
        var hostile = Fixture.eegDescription(names)
        hostile.name = #"eeg"; DROP TABLE sample; --"#
        var empty = Fixture.eegDescription([""])
        empty.name = "sqlite_x"
        var upper = Fixture.eegDescription([String(repeating: "y", count: 9000)])
        upper.name = "SQLITE_X"
        try record([hostile, empty, upper], rows: [0..<3, 0..<3, 0..<3])
        let views = try fetch("SELECT view_name FROM stream ORDER BY id").map { $0["view_name"] as String }
        #expect(views == [#"eeg"; DROP TABLE sample; --_1"#, "_sqlite_x_1", "_SQLITE_X_2_1"])
        let row = try #require(try fetch("SELECT * FROM \(StreamView.quoted(views[0]))").first)
        let columns = ["n", "time", "unix_ns", names[0], "time_2", "N_2", "unix_ns_2", "Fp1", "fp1_2", names[6], "_"]
        #expect(Array(row.columnNames) == columns)
        #expect(row[names[0]] as Double == 51)
        #expect(row["_"] as Double == 401)
        #expect(try fetch("SELECT * FROM \(views[2])").first?.count == 4)
        #expect(try store.audit().holds)
    }

    @Test("join the banks of a stream, also where a bank lacks rows")
    func banks() throws {
        let first = Fixture.eegDescription(["A1", "A2"])
        let second = Fixture.eegDescription(["B1"], bank: 1)
        try record([first, second], rows: [0..<5, 3..<8])
        let rows = try fetch("SELECT n, time, A1, B1 FROM eeg_1 ORDER BY n")
        #expect(rows.map { $0["n"] as Int64 } == Array(0..<8))
        #expect(rows.map { $0["A1"] as Double? } == [51, 51.5, 52, 52.5, 53, nil, nil, nil])
        #expect(rows.map { $0["B1"] as Double? } == [nil, nil, nil, 52.5, 53, 53.5, 54, 54.5])
        #expect(rows.allSatisfy { ($0["time"] as String?) != nil })
        let query = "EXPLAIN QUERY PLAN SELECT A1, B1 FROM eeg_1 WHERE n BETWEEN 2 AND 6"
        let plan = try fetch(query).map { $0["detail"] as String }
        for bank in ["s0", "s1"] {
            #expect(plan.contains { $0.hasPrefix("SEARCH \(bank) USING PRIMARY KEY (stream_id=? AND n>? AND n<?)") }, "\(plan)")
        }
    }

    @Test("show corrected scales at once")
    func correctedScale() throws {
        try record([Fixture.eegDescription(["A"])], rows: [0..<1])
        try store.database.writer.write { db in try db.execute(sql: "UPDATE channel SET scale = 2") }
        #expect(try fetch("SELECT A FROM eeg_1").map { $0["A"] as Double } == [201])
    }

    @Test("follow a wall clock that is corrected once more: all samples of the boot move together, by the correction")
    func wallClockStep() throws {
        try record([Fixture.eegDescription(["A"])], rows: [0..<10])
        let before = try fetch("SELECT * FROM eeg_1").map { $0["unix_ns"] as Int64 }
        #expect(try fetch("SELECT * FROM eeg_1").first?["time"] as String? == "2026-03-01T10:00:00.000Z")
        let offset = try #require(try fetch("SELECT offset_ns FROM host_boot_clock").first?["offset_ns"] as Int64?)
        var batch = WriteBatch(number: 2)
        batch.changes += [
            .clockOffset(
                ClockOffsetRecord(
                    at: Fixture.start + .seconds(9), offsetNanoseconds: offset + 5, stepNanoseconds: 5, isSynchronised: true)),
            .clockOffset(
                ClockOffsetRecord(
                    at: Fixture.start + .seconds(10), offsetNanoseconds: 6, stepNanoseconds: 1, isSynchronised: false)),
        ]
        try store.commit(batch)
        #expect(try fetch("SELECT * FROM eeg_1").map { $0["unix_ns"] as Int64 } == before.map { $0 + 5 })
    }

    @Test("take a boot's latest synchronised clock, or its latest one if none was synchronised")
    func latestSynchronisedClock() throws {
        func commit(_ seconds: Int, offset: Int64, synchronised: Bool) throws -> Int64? {
            var batch = WriteBatch(number: 1)
            batch.changes += [
                .clockOffset(
                    ClockOffsetRecord(
                        at: Fixture.start + .seconds(seconds), offsetNanoseconds: offset, stepNanoseconds: 0,
                        isSynchronised: synchronised))
            ]
            try store.commit(batch)
            return try fetch("SELECT offset_ns FROM host_boot_clock").first?["offset_ns"]
        }
        #expect(try fetch("SELECT offset_ns FROM host_boot_clock").first?["offset_ns"] as Int64? == nil)
        #expect(try commit(1, offset: 10, synchronised: false) == 10)
        #expect(try commit(2, offset: 20, synchronised: false) == 20)
        #expect(try commit(3, offset: 30, synchronised: true) == 30)
        #expect(try commit(4, offset: 40, synchronised: true) == 40)
        #expect(try commit(5, offset: 50, synchronised: false) == 40)
    }
}
