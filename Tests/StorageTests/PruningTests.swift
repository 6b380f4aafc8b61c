import Bluetooth
import GRDB
import Testing

@testable import Storage

/// Which recordings a rule lets go.
@Suite("A rule about what is kept")
struct PruningTests {
    private let fixture: EvidenceFixture

    init() throws {
        fixture = try EvidenceFixture()
        try fixture.end([1])
    }

    private func plan(_ rule: PruningRule) throws -> PruningPlan {
        try ReadOnlyStore(path: fixture.path, hostBoot: Fixture.boot).plan(rule)
    }

    private func confirm(_ sql: String) throws {
        try fixture.write(
            """
            INSERT OR REPLACE INTO confirmation (stream_id, chain, destination, number, row_count, host_boot_id, boottime_ns)
            SELECT stream_id, chain, 'https://study.example', number, row_count, 1, 0 FROM block \(sql) ORDER BY number
            """)
    }

    @Test("by age lets go what ended before, and never what is being recorded")
    func age() throws {
        #expect(try plan(PruningRule(before: Fixture.startUnixNanoseconds)).pruned.isEmpty)
        let later = PruningRule(before: Fixture.startUnixNanoseconds + 86_400_000_000_000)
        #expect(try plan(later).pruned.map(\.recording.rawValue) == [1])
    }

    @Test("by size lets go the oldest until the rest fits; what is recorded stays, and is counted")
    func size() throws {
        let used = try plan(PruningRule()).usedBytes
        #expect(try plan(PruningRule(sizeMaximum: used)).pruned.isEmpty)
        let one = try plan(PruningRule(sizeMaximum: used - 1))
        #expect(one.pruned.map(\.recording.rawValue) == [1] && one.excessBytes == 0)
        let tight = try plan(PruningRule(sizeMaximum: 1))
        #expect(tight.pruned.map(\.recording.rawValue) == [1] && tight.excessBytes > 0)
    }

    @Test("about confirmation keeps what nobody else holds, each chain of each stream to its last row")
    func confirmation() throws {
        var rule = PruningRule(before: .max)
        rule.requiresConfirmation = true
        #expect(try plan(rule).pruned.isEmpty)
        #expect(try plan(rule).unconfirmed.map(\.recording.rawValue) == [1])
        for lacking in [
            "WHERE stream_id = 1", "WHERE stream_id IN (1, 2) AND chain = 'live'", "WHERE stream_id IN (1, 2) AND number = 0",
        ] {
            try fixture.write("DELETE FROM confirmation")
            try confirm(lacking)
            #expect(try plan(rule).pruned.isEmpty, "\(lacking)")
        }
        try confirm("WHERE stream_id IN (1, 2)")
        #expect(try plan(rule).pruned.map(\.recording.rawValue) == [1])
        // The last block has grown since.
        try fixture.write("UPDATE confirmation SET row_count = row_count - 1 WHERE stream_id = 2")
        #expect(try plan(rule).pruned.isEmpty)
    }

    @Test("keeps what an earlier version stored without digests, where confirmation is asked for")
    func undigested() throws {
        var rule = PruningRule(before: .max)
        rule.requiresConfirmation = true
        try confirm("WHERE stream_id IN (1, 2)")
        try fixture.write("INSERT INTO undigested_rows VALUES (1, 0, 10)")
        #expect(try plan(rule).pruned.isEmpty)
    }
}
