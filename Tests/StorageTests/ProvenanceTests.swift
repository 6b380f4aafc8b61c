import Bluetooth
import GRDB
import Testing

@testable import Storage

/// What a recording was made with, and what people say of it.
struct ProvenanceTests {
    private let store: AcquisitionStore
    private let recording = RecordingID(rawValue: 1)
    private let headset = HeadsetID(rawValue: 1)

    init() throws {
        store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot)
        try Fixture.record(into: store)
    }

    private func facts(_ firmware: String) -> LinkFacts {
        var facts = LinkFacts()
        (facts.model, facts.firmwareRevision, facts.settings) = ("muse", firmware, ["gain": ["24", "12"]])
        return facts
    }

    private func commit(_ changes: [Change], _ number: UInt64) throws {
        var batch = WriteBatch(number: number)
        batch.changes = changes
        try store.commit(batch)
    }

    @Test("Links that were made with the same share a row of facts; a link is updated, not doubled")
    func links() throws {
        for (second, firmware) in [(0, "1.0"), (10, "1.0"), (20, "1.1")] {
            let began = Fixture.start + .seconds(second)
            var link = LinkRecord(headset: headset, recording: recording, began: began, facts: facts(firmware))
            try commit([.link(link)], 90)
            link.ended = began + .seconds(5)
            try commit([.link(link)], 91)
        }
        let provenance = try store.provenance(of: recording)
        #expect(provenance.stretches.map(\.linkCount) == [2, 1])
        #expect(provenance.stretches.map(\.facts) == [facts("1.0"), facts("1.1")])
        let counts = try store.database.writer.read { db in
            try ["link", "provenance", "link WHERE ended_boottime_ns IS NULL"].map {
                try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)")
            }
        }
        #expect(counts == [3, 2, 0])
        #expect(try store.audit().holds)
    }

    @Test("The link of an epoch is the one on which it began")
    func epochs() throws {
        let epoch = try #require(
            try store.database.writer.read { db in
                try Int64.fetchOne(db, sql: "SELECT min(boottime_ns) FROM epoch WHERE host_boot_id = 1")
            })
        for offset in [-2, -1, 1] {
            let began = MonotonicTime(nanoseconds: epoch) + .seconds(offset)
            try commit(
                [.link(LinkRecord(headset: headset, recording: recording, began: began, facts: facts("\(offset)")))], 90)
        }
        let firmware = try store.database.writer.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT DISTINCT p.firmware_revision FROM epoch_link AS e JOIN link_provenance AS p ON p.link = e.link
                    WHERE e.epoch = 0
                    """)
        }
        #expect(firmware == ["-1"])
    }

    @Test("What the headset said is counted on its row; without its link it is no row")
    func messages() throws {
        let began = Fixture.start
        var message = HeadsetMessageRecord(
            headset: headset, linkBegan: began, number: 0, kind: .undecodable, text: nil, bytes: [1, 2], count: 1,
            byteCount: 2, first: began, last: began)
        try commit([.headsetMessage(message)], 90)
        #expect(try store.provenance(of: recording).messages.isEmpty)
        try commit([.link(LinkRecord(headset: headset, recording: recording, began: began, facts: facts("1")))], 91)
        for count in [1, 5] {
            (message.count, message.byteCount) = (count, 2 * count)
            try commit([.headsetMessage(message)], 92)
        }
        #expect(
            try store.provenance(of: recording).messages
                == [Provenance.Message(kind: "undecodable", text: nil, count: 5, byteCount: 10)])
    }

    @Test("An edit says something else, keeps what was said before, and changes nothing where it is refused")
    func edit() throws {
        let control = store.control
        let cap = RecordingField.property(key: "cap")
        #expect(try control.edit(recording, [(.session, "1"), (cap, "M")], at: Fixture.start) == [.session, cap])
        #expect(try control.edit(recording, [(.session, "2"), (.subject, "P07"), (cap, nil)], at: Fixture.start).count == 3)
        #expect(try control.edit(recording, [(.session, "2")], at: Fixture.start) == [])
        let refused: [(RecordingField, String)] = [
            (.subjectSex, "x"), (.subjectBirthdate, "1990-02-30"), (.subjectBirthdate, "90-02-03"), (.notes, ""),
            (.subjectHandedness, "both"), (.property(key: ""), "x"), (.notes, String(repeating: "x", count: 10_001)),
        ]
        for (field, value) in refused {
            #expect(throws: StorageError.self, "\(field)") {
                try control.edit(recording, [(.operator, "JB"), (field, value)], at: Fixture.start)
            }
        }
        #expect(throws: StorageError.notFound(what: "recording 9")) {
            try control.edit(RecordingID(rawValue: 9), [(.notes, "x")], at: Fixture.start)
        }
        let provenance = try store.provenance(of: recording)
        #expect(provenance[.session] == "2" && provenance[.subject] == "P07" && provenance[cap] == nil)
        #expect(provenance[.operator] == nil)
        let edits = try store.database.writer.read { db in
            try Row.fetchAll(db, sql: "SELECT field, before, after FROM recording_edit ORDER BY id")
                .map { "\($0[0] as String) \($0[1] as String? ?? "-") \($0[2] as String? ?? "-")" }
        }
        #expect(edits.prefix(3) == ["session - 1", "property:cap - M", "session 1 2"])
        #expect(edits.last == "property:cap M -")
        #expect(try store.audit().holds)
    }

    @Test("A copy has it all")
    func copy() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("all.sqlite")
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        try Fixture.record(into: store)
        var batch = WriteBatch(number: 90)
        batch.changes = [
            .link(LinkRecord(headset: headset, recording: recording, began: Fixture.start, facts: facts("1.0"))),
            .headsetMessage(
                HeadsetMessageRecord(
                    headset: headset, linkBegan: Fixture.start, number: 0, kind: .message, text: "hello", bytes: nil, count: 2,
                    byteCount: 0, first: Fixture.start, last: Fixture.start)),
        ]
        try store.commit(batch)
        try store.control.edit(
            recording, [(.operator, "JB"), (.property(key: "cap"), "M")], at: Fixture.start)
        let before = try store.provenance(of: recording)
        try store.reader(of: recording).copy(to: directory.path("copy.sqlite"))
        let copy = try ReadOnlyStore(path: directory.path("copy.sqlite"), hostBoot: Fixture.boot)
        #expect(try copy.provenance(of: recording) == before)
        #expect(try copy.audit().holds)
    }
}
