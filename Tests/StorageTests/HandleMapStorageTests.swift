import Bluetooth
import GRDB
import Testing

@testable import Storage

@Suite("Handle maps")
struct HandleMapStorageTests {
    let directory: TemporaryDirectory
    let store: AcquisitionStore
    let headset = PeripheralIdentifier(address: 0xC055_DAB0_1324, type: .random)
    let other = PeripheralIdentifier(address: 0x0055_DAB0_1325, type: .public)

    init() throws {
        directory = try TemporaryDirectory()
        store = try AcquisitionStore(path: directory.path("e.sqlite"), hostBoot: Fixture.boot)
    }

    @Test("are found by the next process, the latest of each headset")
    func kept() throws {
        #expect(try store.handleMaps().isEmpty)
        try store.setHandleMap("one", of: headset, at: Fixture.start)
        try store.setHandleMap("two", of: other, at: Fixture.start)
        try store.setHandleMap("three", of: headset, at: Fixture.start + .seconds(1))
        try store.close()
        let next = try AcquisitionStore(path: directory.path("e.sqlite"), hostBoot: Fixture.secondBoot)
        #expect(try next.handleMaps() == [headset: "three", other: "two"])
        try next.setHandleMap(nil, of: headset, at: Fixture.start)
        #expect(try next.handleMaps() == [other: "two"])
    }

    @Test("are bounded: the oldest goes first")
    func bounded() throws {
        let identifiers = (0..<AcquisitionStore.handleMapsKept + 2).map {
            PeripheralIdentifier(address: 0x4000_0000_0000 + UInt64($0), type: .random)
        }
        for (number, identifier) in identifiers.enumerated() {
            try store.setHandleMap("map", of: identifier, at: Fixture.start + .seconds(number))
        }
        let kept = try store.handleMaps()
        #expect(kept.count == AcquisitionStore.handleMapsKept)
        #expect(identifiers.prefix(2).allSatisfy { kept[$0] == nil })
    }

    @Test("under an address that no headset has are passed over")
    func damaged() throws {
        try store.setHandleMap("map", of: headset, at: Fixture.start)
        try store.database.write { db in try db.execute(sql: "UPDATE handle_map SET address = 'C0:55'") }
        #expect(try store.handleMaps().isEmpty)
    }

    @Test("do not fit on a full disk, which is told, and samples still do where there is room again")
    func fullDisk() throws {
        let path = directory.path("full.sqlite")
        try AcquisitionStore(path: path, hostBoot: Fixture.boot).close()
        let pages = try DatabaseQueue(path: path).read { db in try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0 }
        let full = try AcquisitionStore(
            path: path, hostBoot: Fixture.boot, options: StoreOptions(maximumPageCount: pages + 2))
        let long = String(repeating: "x", count: 80_000)
        var error: StorageError?
        do { try full.setHandleMap(long, of: headset, at: Fixture.start) } catch let thrown { error = thrown }
        guard case .diskFull? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try full.handleMaps().isEmpty)
        try full.control.noteClockOffset(Fixture.offset)
    }

    @Test("are no part of an export")
    func exported() throws {
        let recording = try Fixture.record(into: store)
        try store.setHandleMap("map", of: headset, at: Fixture.start)
        try store.reader(of: recording).copy(to: directory.path("copy.sqlite"))
        let copy = try AcquisitionStore(path: directory.path("copy.sqlite"), hostBoot: Fixture.boot)
        #expect(try copy.handleMaps().isEmpty)
    }
}
