import Bluetooth
import Foundation
import GRDB
import Testing

@testable import Storage

/// Universal identifiers of what is in a database, and of the machines on which it was.
@Suite("Identity")
struct IdentityTests {
    private static var uuid: Regex<Substring> { #/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/# }
    private static let tables = ["headset", "recording", "annotation", "link"]
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func machine(_ board: String?, _ machineID: String? = "0f1e2d3c4b5a69788796a5b4c3d2e1f0") throws -> MachineIdentity
    {
        try #require(MachineIdentity(boardSerialNumber: board, machineID: machineID))
    }

    private func uuids(_ database: OpenDatabase, _ table: String) throws -> [String?] {
        try database.read { db in try String?.fetchAll(db, sql: "SELECT uuid FROM \(table) ORDER BY id") }
    }

    @Test("Rows have a UUID of their own, whoever inserts them, and keep it")
    func made() throws {
        let store = try AcquisitionStore(path: directory.path("a.sqlite"), hostBoot: Fixture.boot)
        let recording = try Fixture.record(into: store)
        var batch = WriteBatch(number: 4)
        let link = LinkRecord(headset: HeadsetID(rawValue: 1), recording: recording, began: Fixture.start, facts: LinkFacts())
        batch.changes = [.link(link)]
        try store.commit(batch)
        let before = try Self.tables.map { try uuids(store.database, $0) }
        #expect(before.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0?.wholeMatch(of: Self.uuid) != nil } }, "\(before)")
        // Another program, by SQL.
        try store.database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO annotation_time (recording_id, onset, description)
                    VALUES (1, '2026-03-01T10:00:05Z', 'a'), (1, '2026-03-01T10:00:05Z', 'a')
                    """)
            try db.execute(sql: "UPDATE recording SET label = 'other'")
        }
        batch.number = 5
        batch.changes = [
            .link(
                LinkRecord(
                    headset: link.headset, recording: recording, began: link.began, ended: link.began + .seconds(1),
                    facts: link.facts))
        ]
        try store.commit(batch)
        let after = try Self.tables.map { try uuids(store.database, $0) }
        #expect(after[0] == before[0] && after[1] == before[1] && after[3] == before[3])
        #expect(after[2].prefix(before[2].count) == before[2][...])
        #expect(after[2].count == before[2].count + 2 && Set(after[2]).count == after[2].count)
        #expect(try store.audit().holds)
        // A copy of one recording has what the original has.
        try store.reader(of: recording).copy(to: directory.path("copy.sqlite"))
        let copy = try ReadOnlyStore(path: directory.path("copy.sqlite"), hostBoot: Fixture.boot)
        #expect(try Self.tables.map { try uuids(copy.database, $0) } == after)
        #expect(try copy.audit().holds)
    }

    @Test("A database of an earlier version gets UUIDs, and its audit holds")
    func migrated() throws {
        let path = directory.path("old.sqlite")
        do {
            let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
            try Fixture.record(into: store)
            try store.close()
        }
        // As it was before the step: no triggers, no columns.
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            for table in Self.tables {
                try db.execute(sql: "DROP TRIGGER \(table)_is_identified; DROP INDEX IF EXISTS \(table)_by_uuid")
                try db.execute(sql: "ALTER TABLE \(table) DROP COLUMN uuid")
            }
            try db.execute(sql: "DROP TABLE machine_boot; DROP TABLE machine")
            try db.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = 'm0035_identity'")
        }
        try queue.close()
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.secondBoot)
        for table in Self.tables.dropLast() {
            let uuids = try uuids(store.database, table)
            #expect(!uuids.isEmpty && uuids.allSatisfy { $0?.wholeMatch(of: Self.uuid) != nil }, "\(table)")
            #expect(Set(uuids).count == uuids.count)
        }
        #expect(try store.audit().holds)
        #expect(try store.machines().isEmpty)
    }

    @Test("A card in another board is noticed, also where its machine-id is the same, and asked about until somebody says how")
    func copiedCard() throws {
        let path = directory.path("a.sqlite")
        let first = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        try Fixture.record(into: first)
        #expect(try !first.control.note(machine("10000000d0a1b2c3"), at: Fixture.start))
        #expect(try !first.control.note(machine("10000000d0a1b2c3"), at: Fixture.start))
        #expect(try first.machines().map(\.origin) == [.created])
        try first.close()
        let second = try AcquisitionStore(path: path, hostBoot: Fixture.secondBoot)
        #expect(try second.control.note(machine("10000000d0a1b2c4"), at: Fixture.start))
        // It is asked again at each start.
        #expect(try second.control.note(machine("10000000d0a1b2c4"), at: Fixture.start))
        #expect(try second.machines().map(\.origin) == [.created, nil])
        #expect(try second.machines().map(\.recordings) == [1, 0])
        // The recording of before is open: two machines would go on with it.
        #expect(throws: StorageError.self) { try second.control.decideOrigin(.copied) }
        try second.control.stopRecording(headset: "muse-1", at: Fixture.start)
        var batch = WriteBatch(number: 1)
        batch.changes = [.recording(.stopped(RecordingID(rawValue: 1), at: Fixture.start))]
        try second.commit(batch)
        #expect(try second.control.decideOrigin(.copied) == 1)
        #expect(try second.control.decideOrigin(.moved) == 0)
        #expect(try second.machines().map(\.origin) == [.created, .copied])
        #expect(try !second.control.note(machine("10000000d0a1b2c4"), at: Fixture.start))
        #expect(try Set(second.machines().map(\.uuid)).count == 2)
        #expect(try second.audit().holds)
        try second.database.writer.writeWithoutTransaction { db in
            try db.execute(sql: "DROP TRIGGER temp.digest_machine_update; UPDATE machine SET origin = 'moved' WHERE id = 2")
        }
        #expect(try !second.audit().holds, "who changes the answer behind eegsync's back is found")
    }

    @Test("A system that was installed anew is the same machine where the board says so; without a board it is another one")
    func installedAnew() throws {
        let other = "ffffffffffffffffffffffffffffffff"
        let store = try AcquisitionStore(path: directory.path("a.sqlite"), hostBoot: Fixture.boot)
        #expect(try !store.control.note(machine(nil), at: Fixture.start))
        // The same machine, of which the board is readable now.
        #expect(try !store.control.note(machine("10000000d0a1b2c3"), at: Fixture.start))
        #expect(try !store.control.note(machine("10000000d0a1b2c3", other), at: Fixture.start))
        #expect(try !store.control.note(machine(nil, other), at: Fixture.start))
        #expect(try store.machines().count == 1)
        #expect(try store.control.note(machine(nil, "0f1e2d3c4b5a69788796a5b4c3d2e1f1"), at: Fixture.start))
        #expect(try store.control.decideOrigin(.moved) == 1)
        #expect(MachineIdentity(boardSerialNumber: nil, machineID: "uninitialized") == nil)
    }

    @Test("What a machine says of itself is read from the device tree and from machine-id")
    func current() throws {
        let root = directory.url.path
        #expect(MachineIdentity.current(root: root) == nil)
        for (path, text) in [
            ("proc/device-tree/serial-number", "10000000d0a1b2c3\0"), ("etc/machine-id", "0f1e2d3c4b5a69788796a5b4c3d2e1f0\n"),
        ] {
            let file = directory.url.appendingPathComponent(path)
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        #expect(try MachineIdentity.current(root: root) == machine("10000000d0a1b2c3"))
    }
}
