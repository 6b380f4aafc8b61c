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

    private func confirmWhole() throws {
        let control = try ControlStore(path: fixture.path, hostBoot: Fixture.boot)
        let recording = RecordingID(rawValue: 1)
        let whole = try control.database.read { db in try WholeRecording(recording, in: db).sum }
        try control.confirm(whole: whole, of: recording, at: "https://study.example", now: Fixture.start)
        try control.close()
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
        #expect(try plan(rule).pruned.isEmpty, "samples are not all of it")
        try confirmWhole()
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
        try confirmWhole()
        #expect(try plan(rule).pruned.isEmpty)
    }

    @Test("by size is asked again when each is gone")
    func prune() throws {
        let both = try EvidenceFixture()
        try both.end([1, 2])
        let control = try ControlStore(path: both.path, hostBoot: Fixture.boot)
        let used = try control.plan(PruningRule()).usedBytes
        let done = try control.prune(PruningRule(sizeMaximum: used - 1)) {
            (recording: RecordingID) throws(StorageError) -> Bool in
            try control.delete(recording, means: .prune, by: "anna", at: Fixture.start)
        }
        #expect(done.pruned.map(\.recording.rawValue) == [1] && done.unconfirmed.isEmpty && done.excessBytes == 0)
        #expect(done.usedBytes < used)
        try control.close()
    }

    /// A second boot of the machine, with a clock.
    private static func secondBoot(secondsLater seconds: Int64, isSynchronised: Bool) -> String {
        let offset = Fixture.offset.offsetNanoseconds + seconds * 1_000_000_000
        return """
            INSERT INTO host_boot (id, uuid) VALUES (77, 'second');
            INSERT INTO clock_offset (host_boot_id, boottime_ns, offset_ns, step_ns, is_synchronised)
            VALUES (77, 0, \(offset), 0, \(isSynchronised ? 1 : 0));
            """
    }

    @Test("by age keeps what no synchronised clock dates, and names it; by size that goes in its turn")
    func unsynchronised() throws {
        let old = PruningRule(before: Fixture.startUnixNanoseconds + 86_400_000_000_000)
        for clock in ["UPDATE clock_offset SET is_synchronised = 0", "DELETE FROM clock_offset"] {
            try fixture.write(clock)
            let plan = try plan(old)
            #expect(plan.pruned.isEmpty, "\(clock)")
            #expect(plan.untimed.map(\.recording.rawValue) == [1] && plan.untimed.first?.endUnixNanoseconds == nil, "\(clock)")
            let large = try self.plan(PruningRule(before: old.before, sizeMaximum: 1))
            #expect(large.pruned.map(\.recording.rawValue) == [1] && large.untimed.isEmpty, "\(clock)")
        }
    }

    @Test("by age does not name what is young even by a clock that was never synchronised")
    func unsynchronisedAndYoung() throws {
        try fixture.write("UPDATE clock_offset SET is_synchronised = 0")
        #expect(try plan(PruningRule(before: Fixture.startUnixNanoseconds)).untimed.isEmpty)
    }

    @Test("by age keeps what one boot of several recorded without a synchronised clock")
    func unsynchronisedInPart() throws {
        try fixture.write(Self.secondBoot(secondsLater: 0, isSynchronised: false))
        try fixture.write("UPDATE segment SET host_boot_id = 77 WHERE stream_id = 2")
        let plan = try plan(PruningRule(before: .max))
        #expect(plan.pruned.isEmpty && plan.untimed.map(\.recording.rawValue) == [1])
    }

    @Test("by age counts nothing where the present clock is not synchronised; by size it does")
    func unknownPresent() throws {
        let age = try plan(PruningRule(before: .max, isPresentKnown: false))
        #expect(age.pruned.isEmpty && age.untimed.isEmpty)
        let both = try plan(PruningRule(before: .max, isPresentKnown: false, sizeMaximum: 1))
        #expect(both.pruned.map(\.recording.rawValue) == [1])
    }

    @Test(
        "by size lets go the oldest, also where a clock is months behind or ahead",
        arguments: [
            // Recorded offline in the later boot, whose clock stands at the last shutdown of long ago.
            (-120 * 86_400, false, [2], "UPDATE clock_offset SET step_ns = 0", [1, 2]),
            // Recorded in the first boot, whose clock was years ahead.
            (
                86_400, true, [1],
                "UPDATE clock_offset SET is_synchronised = 0, offset_ns = offset_ns * 2 WHERE host_boot_id <> 77",
                [2, 1]
            ),
            // Both synchronised: the boot of another machine, which a merge brought later, is what its clock says.
            (-120 * 86_400, true, [2], "UPDATE clock_offset SET step_ns = 0", [2, 1]),
        ] as [(Int64, Bool, [Int64], String, [Int64])])
    func order(secondsLater: Int64, isSynchronised: Bool, moved: [Int64], change: String, expected: [Int64]) throws {
        let both = try EvidenceFixture()
        try both.end([1, 2])
        try both.write(Self.secondBoot(secondsLater: secondsLater, isSynchronised: isSynchronised))
        try both.write(change)
        for recording in moved {
            try both.write(
                """
                UPDATE segment SET host_boot_id = 77
                WHERE stream_id IN (SELECT id FROM stream WHERE recording_id = \(recording))
                """)
        }
        let plan = try ReadOnlyStore(path: both.path, hostBoot: Fixture.boot).plan(PruningRule(sizeMaximum: 1))
        #expect(plan.pruned.map(\.recording.rawValue) == expected)
    }
}
