import Bluetooth
import GRDB
import Headsets
import Testing

@testable import Storage

@Suite("The history")
struct HistoryStorageTests {
    private static let day: Int64 = 86_400_000_000_000
    /// What is older goes.
    private static let border = Fixture.startUnixNanoseconds + 100 * day
    private static let tables = [
        "connection_event", "connection_attempt", "streaming_return", "link_quality", "suspension", "full_disk", "process",
    ]

    private let store: AcquisitionStore
    private let headset: HeadsetID

    init() throws {
        store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot)
        let recording = try store.control.startRecording(headset: "left", model: "muse", at: Fixture.start)
        headset = try #require(try store.headset(named: "left"))
        try store.control.stopRecording(headset: "left", at: Fixture.start)
        try Self.commit([.clockOffset(Fixture.offset), .recording(.stopped(recording, at: Fixture.start))], into: store)
    }

    private static func commit(_ changes: [Change], into store: AcquisitionStore) throws {
        var batch = WriteBatch(number: 1)
        batch.changes = changes
        try store.commit(batch)
    }

    /// A row of each table.
    private static func changes(_ headset: HeadsetID, at time: MonotonicTime) -> [Change] {
        [
            .connectionEvent(ConnectionEventRecord(headset: headset, at: time, state: "searching")),
            .connectionAttempt(
                ConnectionAttemptRecord(
                    headset: headset, layer: "scan", identifier: nil, began: time, ended: time + .seconds(1),
                    outcome: "nothingFound", cause: nil, detail: nil)),
            .streamingReturn(
                StreamingReturnRecord(
                    headset: headset, recording: RecordingID(rawValue: 1), layer: "scan", attempts: 1, cause: .linkLost,
                    lost: time, able: time, heard: time, prepared: time, firstSample: time)),
            .linkQuality(LinkQualityRecord(headset: headset, at: time, quality: LinkQuality(rssi: -60))),
            .suspension(SuspensionRecord(resumed: time, duration: .seconds(1))),
            .fullDisk(FullDiskRecord(began: time, ended: time + .seconds(1), detail: "test")),
            .process(.started(ProcessIdentity(version: "1", pid: 1), at: time)),
        ]
    }

    /// The instant that is so many days after the fixture's begin.
    private static func time(day: Int64) -> MonotonicTime { Fixture.start + .nanoseconds(day * Self.day) }

    /// The rows of each table.
    private func counts(_ store: AcquisitionStore? = nil) throws -> [Int] {
        try (store ?? self.store).database.writer.read { db in
            try Self.tables.map { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") ?? 0 }
        }
    }

    /// Removes all that goes, in bounded steps.
    private func trim(_ store: AcquisitionStore? = nil) throws {
        while true {
            let removed = try (store ?? self.store).trimHistory(before: Self.border)
            #expect(removed <= AcquisitionStore.trimLimit * Self.tables.count)
            if removed == 0 { return }
        }
    }

    @Test("goes by age, in steps of a bounded size; what is young and the latest process stay")
    func age() throws {
        for day in Int64(0)..<120 { try Self.commit(Self.changes(headset, at: Self.time(day: day)), into: store) }
        #expect(try counts() == Array(repeating: 120, count: Self.tables.count))
        try trim()
        #expect(try counts() == Array(repeating: 20, count: Self.tables.count))
        // All are old, and the latest process is not removed.
        while try store.trimHistory(before: Self.border + 1000 * Self.day) > 0 {}
        #expect(try counts() == [0, 0, 0, 0, 0, 0, 1])
    }

    @Test("A step removes a bounded number of rows of a table")
    func bound() throws {
        let many = (0..<1200).map {
            Change.linkQuality(
                LinkQualityRecord(headset: headset, at: Fixture.start + .seconds($0), quality: LinkQuality(rssi: -60)))
        }
        try Self.commit(many, into: store)
        #expect(try store.trimHistory(before: Self.border) == AcquisitionStore.trimLimit)
        #expect(try store.trimHistory(before: Self.border) == AcquisitionStore.trimLimit)
        #expect(try store.trimHistory(before: Self.border) == 200)
        #expect(try store.trimHistory(before: Self.border) == 0)
    }

    @Test("Of an open recording's headset everything stays since the recording was asked for, and nothing from before")
    func openRecording() throws {
        for day in Int64(0)..<20 { try Self.commit(Self.changes(headset, at: Self.time(day: day)), into: store) }
        try store.control.startRecording(headset: "left", model: "muse", at: Self.time(day: 10))
        try trim()
        #expect(try counts() == [10, 10, 10, 10, 0, 0, 1])
        // Another headset's goes.
        try store.control.startRecording(headset: "right", model: "muse", at: Self.time(day: 19))
        let other = try #require(try store.headset(named: "right"))
        try Self.commit(Array(Self.changes(other, at: Self.time(day: 3)).prefix(4)), into: store)
        try trim()
        #expect(try counts() == [10, 10, 10, 10, 0, 0, 1])
        // Once it has ended, its evidence is as old as any.
        try store.control.stopRecording(headset: "left", at: Self.time(day: 20))
        try Self.commit([.recording(.stopped(RecordingID(rawValue: 2), at: Self.time(day: 20)))], into: store)
        try trim()
        #expect(try counts() == [0, 0, 0, 0, 0, 0, 1])
    }

    @Test("A boot whose clock was never right is as old as the next that was; where none ever was, its own clock counts")
    func unknownTime() throws {
        let wrong = ClockOffsetRecord(at: Fixture.start, offsetNanoseconds: 0, stepNanoseconds: 0, isSynchronised: false)
        // In 1970, by its own clock.
        let second = try store.reopened(hostBoot: Fixture.secondBoot)
        try Self.commit([.clockOffset(wrong)] + Self.changes(headset, at: Fixture.start).prefix(4), into: second)
        try trim(second)
        #expect(try counts() == [1, 1, 1, 1, 0, 0, 0], "no later boot tells how old it is")
        let third = try store.reopened(hostBoot: HostBoot(uuid: "33333333-3333-4333-8333-333333333333"))
        var right = Fixture.offset
        right.offsetNanoseconds += 200 * Self.day
        try Self.commit([.clockOffset(right)], into: third)
        try trim(third)
        #expect(try counts() == [1, 1, 1, 1, 0, 0, 0], "the later boot began after what is old")
        #expect(try third.trimHistory(before: Self.border + 150 * Self.day) == 4)
        let offline = try AcquisitionStore.inMemory(hostBoot: Fixture.boot)
        try offline.control.startRecording(headset: "left", model: "muse", at: Self.time(day: 500))
        try Self.commit([.clockOffset(wrong)], into: offline)
        try Self.commit(Array(Self.changes(HeadsetID(rawValue: 1), at: Fixture.start).prefix(2)), into: offline)
        try trim(offline)
        #expect(try counts(offline) == [0, 0, 0, 0, 0, 0, 0])
    }

    @Test("What is counted is as old as its last time")
    func countedAge() throws {
        for last in [Int64(50), 110] {
            var event = ConnectionEventRecord(headset: headset, at: Self.time(day: last - 40), state: "searching")
            event.repetition = Repetition(count: 2, last: Self.time(day: last))
            try Self.commit([.connectionEvent(event)], into: store)
        }
        try trim()
        #expect(try store.history(limit: 10).map(\.boottimeNanoseconds) == [Self.time(day: 70).nanoseconds])
    }

    @Test("What is counted changes its row; where that is gone it gets one")
    func repetition() throws {
        let changes = Self.changes(headset, at: Fixture.start).prefix(2).map { change -> [Change] in
            let repetition = Repetition(count: 7, last: Fixture.start + .seconds(9))
            switch change {
            case .connectionEvent(var event):
                event.repetition = repetition
                return [change, .connectionEvent(event)]
            case .connectionAttempt(var attempt):
                attempt.repetition = repetition
                return [change, .connectionAttempt(attempt)]
            default: return []
            }
        }
        try Self.commit(changes.flatMap(\.self), into: store)
        #expect(try counts() == [1, 1, 0, 0, 0, 0, 0])
        let events = try store.history(limit: 10)
        #expect(events.map(\.count) == [7, 7])
        #expect(events.allSatisfy { $0.lastBoottimeNanoseconds == Fixture.start.nanoseconds + 9_000_000_000 })
        try store.database.writer.write { try $0.execute(sql: "DELETE FROM connection_event") }
        try Self.commit([changes[0][1]], into: store)
        #expect(try store.history(limit: 10).map(\.count) == [7, 7])
    }

    @Test("is read by headset, by time and the latest first of all, also without a clock offset")
    func reading() throws {
        for day in Int64(0)..<5 { try Self.commit(Self.changes(headset, at: Self.time(day: day)), into: store) }
        #expect(
            try store.history(limit: 1000).count == 5 * 8 + 4, "a suspension and a full disk are two events each, four died")
        #expect(try store.history(of: "right", limit: 1000).count == 5 * 5 + 4, "the process and the machine concern all")
        let since = try store.history(since: Fixture.startUnixNanoseconds + 3 * Self.day, limit: 1000)
        #expect(since.filter { $0.kind == .return }.count == 2)
        let latest = try store.history(limit: 3)
        #expect(latest == Array(try store.history(limit: 1000).suffix(3)))
        #expect(try store.returns(of: "left").count == 5 && store.returns(of: "right").isEmpty)
        let bare = try store.reopened(hostBoot: Fixture.secondBoot)
        try Self.commit(Self.changes(headset, at: Fixture.start), into: bare)
        #expect(try bare.history(limit: 3).allSatisfy { $0.unixNanoseconds == nil && $0.hostBoot == Fixture.secondBoot.uuid })
    }
}
