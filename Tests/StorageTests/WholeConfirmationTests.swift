import Bluetooth
import GRDB
import Testing

@testable import Storage

/// What a centre holds of a recording beside its samples counts before the recording may go.
@Suite("A recording that somebody else holds as a whole")
struct WholeConfirmationTests {
    private let fixture: EvidenceFixture
    private let recording = RecordingID(rawValue: 1)

    init() throws {
        fixture = try EvidenceFixture()
        try fixture.end([1])
    }

    /// What `eegsync ship` does, but for the centre.
    private func ship() throws {
        let control = try ControlStore(path: fixture.path, hostBoot: Fixture.boot)
        defer { try? control.close() }
        var states: [String: ShippedState] = [:]
        var blocksFrom: [String: [String: Int64]] = [:]
        var series: [RowSeries: RowSeries.State] = [:]
        for _ in 0..<20 {
            let shipment = try control.shipment(
                of: recording, states: states, blocksFrom: blocksFrom, series: series, rowLimit: 5000)
            series = Dictionary(shipment.series.map { ($0.series, $0.after) }) { first, _ in first }
            for stream in shipment.streams {
                states[stream.uuid] = stream.after
                for block in stream.lastBlocks { blocksFrom[stream.uuid, default: [:]][block.chain] = block.number }
                try control.confirm(stream.confirmed, of: stream.stream, at: "study", now: Fixture.start)
            }
            guard let whole = shipment.whole else { continue }
            try control.confirm(whole: whole, of: recording, at: "study", now: Fixture.start)
            return
        }
        Issue.record("it never was all there")
    }

    private func isPruned() throws -> Bool {
        let rule = PruningRule(before: .max, requiresConfirmation: true)
        let store = try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot)
        defer { try? store.close() }
        return try store.plan(rule).pruned.map(\.recording) == [recording]
    }

    @Test(
        "stays where anything has changed that would go with it, and goes once that is there, too",
        arguments: [
            """
            INSERT INTO annotation (recording_id, host_boot_id, boottime_ns, description, source)
            VALUES (1, 1, 1, 'spike', 'operator')
            """,
            "UPDATE annotation SET description = 'another' WHERE id = (SELECT min(id) FROM annotation WHERE recording_id = 1)",
            """
            INSERT INTO recording_edit (recording_id, field, after, host_boot_id, boottime_ns)
            VALUES (1, 'notes', 'restless', 1, 1)
            """,
            "UPDATE recording SET subject = 'S09' WHERE id = 1",
            "UPDATE gap SET cause = 'silence' WHERE stream_id = 1 AND channel = 0",
            "UPDATE segment SET period_ns = period_ns + 0.5 WHERE stream_id = 2",
            "DELETE FROM arrival WHERE stream_id = 2 AND n = (SELECT min(n) FROM arrival WHERE stream_id = 2)",
            "INSERT INTO impedance (recording_id, host_boot_id, boottime_ns, electrode, kilohms) VALUES (1, 1, 5, 'Fp1', 5.25)",
            "UPDATE block SET digest = zeroblob(32) WHERE stream_id = 2",
        ])
    func changed(sql: String) throws {
        #expect(try !isPruned())
        try ship()
        #expect(try isPruned())
        try fixture.write(sql)
        #expect(try !isPruned())
        try ship()
        #expect(try isPruned())
    }

    @Test(
        "goes whatever has changed that stays, or is of another one",
        arguments: [
            "INSERT INTO host_boot (uuid) VALUES ('later')",
            """
            INSERT INTO connection_event (headset_id, host_boot_id, boottime_ns, state)
            VALUES (1, 1, 100000000000, 'scanning')
            """,
            """
            INSERT INTO annotation (recording_id, host_boot_id, boottime_ns, description, source)
            VALUES (2, 1, 1, 'spike', 'operator')
            """,
        ])
    func unconcerned(sql: String) throws {
        try ship()
        try fixture.write(sql)
        #expect(try isPruned())
    }

    @Test("goes though its history has gone by age since")
    func trimmed() throws {
        try fixture.write(
            """
            INSERT INTO streaming_return (headset_id, recording_id, host_boot_id, boottime_ns, layer, attempts,
                able_boottime_ns, heard_boottime_ns, prepared_boottime_ns)
            VALUES (1, 1, 1, 100000000000, 'reconnect', 1, 1, 1, 1)
            """)
        try ship()
        let store = try fixture.open()
        #expect(try store.trimHistory(before: Fixture.startUnixNanoseconds + 86_400_000_000_000) == 1)
        try store.close()
        #expect(try isPruned())
    }

    @Test("stays where somebody has said something since it was listed")
    func saidMeanwhile() throws {
        try ship()
        #expect(try isPruned())
        let control = try ControlStore(path: fixture.path, hostBoot: Fixture.boot)
        defer { try? control.close() }
        let rule = PruningRule(before: .max, requiresConfirmation: true)
        var rowCount: Int64? = 0
        let kept = try control.prune(rule) { (recording: RecordingID) throws(StorageError) -> Bool in
            try control.mark(recording, text: "spike", at: Fixture.start)
            rowCount = try control.noteDeletion(
                of: recording, .prune, by: "anna", at: Fixture.start, onlyHeldElsewhere: true)
            return try control.delete(
                recording, means: .prune, by: "anna", at: Fixture.start, onlyHeldElsewhere: true)
        }
        #expect(rowCount == nil && kept.pruned.isEmpty && kept.unconfirmed.map(\.recording) == [recording])
        #expect(try control.deletions().isEmpty)
        try ship()
        let gone = try control.prune(rule) { (recording: RecordingID) throws(StorageError) -> Bool in
            try control.delete(recording, means: .prune, by: "anna", at: Fixture.start, onlyHeldElsewhere: true)
        }
        #expect(gone.pruned.map(\.recording) == [recording] && gone.unconfirmed.isEmpty && gone.usedBytes > 0)
        #expect(try control.deletions().map(\.isComplete) == [true])
    }

    @Test("counts no more where the centre is asked anew, nor does what it does not hold any more")
    func askedAnew() throws {
        try ship()
        let control = try ControlStore(path: fixture.path, hostBoot: Fixture.boot)
        let end = BlockEnd(chain: "live", number: 0, rowCount: 4096)
        try control.confirm([end], of: StreamID(rawValue: 2), at: "another", now: Fixture.start)
        try control.confirm(only: [StreamID(rawValue: 1): [end]], at: "study", now: Fixture.start)
        let left = try control.database.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT destination || ' ' || stream_id || ' ' || chain || ' ' || number || ' ' || row_count
                    FROM confirmation UNION ALL SELECT destination FROM whole_confirmation
                    """)
        }
        #expect(left.sorted() == ["another 2 live 0 4096", "study 1 live 0 4096"])
        // One stream by itself, too.
        try control.confirm([], of: StreamID(rawValue: 1), at: "study", now: Fixture.start)
        let streams = try control.database.read { db in try Int64.fetchAll(db, sql: "SELECT stream_id FROM confirmation") }
        #expect(streams == [2])
    }
}
