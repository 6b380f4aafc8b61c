import GRDB
import Headsets
import Testing

@testable import Storage

@Suite("The latest gap of a recording")
struct LatestGapTests {
    private let store: AcquisitionStore
    private let recording: RecordingID

    init() throws {
        store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot)
        recording = try Fixture.record(into: store)
    }

    private func execute(_ sql: String) throws {
        try store.database.writer.write { db in try db.execute(sql: sql) }
    }

    @Test("is as long as its samples at the nominal rate, and is open while nobody knows its end")
    func openGap() throws {
        var gap = try #require(try store.latestGap(of: recording))
        #expect(gap.durationSeconds == 1)
        #expect(!gap.isOpen)
        var batch = WriteBatch(number: 9)
        batch.changes = [
            .ledger(.open(stream: Fixture.eeg, firstN: 2560, channel: 0, count: nil, cause: .linkLost, noticed: Fixture.start))
        ]
        try store.commit(batch)
        gap = try #require(try store.latestGap(of: recording))
        #expect(gap.durationSeconds == nil)
        #expect(gap.isOpen)
    }

    @Test("is as long between two boots as their clocks say, and of unknown length where they say nothing")
    func betweenBoots() throws {
        try execute(
            """
            INSERT INTO host_boot (id, uuid) VALUES (77, 'second');
            INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns)
                VALUES (1, 2560, 0, 0, 'linkLost', 77, 5);
            """)
        var gap = try #require(try store.latestGap(of: recording))
        #expect(gap.durationSeconds == nil)
        #expect(!gap.isOpen)
        // The samples before it end 10 s after the start; those behind it begin a minute later, 5 s after the boot.
        try execute(
            """
            INSERT INTO clock_offset (host_boot_id, boottime_ns, offset_ns, step_ns, is_synchronised)
                VALUES (77, 0, \(Fixture.startUnixNanoseconds + 65_000_000_000), 0, 1);
            INSERT INTO segment (stream_id, first_n, last_n, epoch, host_boot_id, reference_n, reference_boottime_ns,
                period_ns, observation_count) VALUES (1, 2560, 2600, 0, 77, 2560, 5000000000, 1e9 / 256, 3);
            """)
        gap = try #require(try store.latestGap(of: recording))
        #expect(gap.durationSeconds == 60)
        #expect(!gap.isOpen)
    }
}
