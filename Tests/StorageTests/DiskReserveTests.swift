import Bluetooth
import GRDB
import Synchronization
import Testing

@testable import Storage

/// The last of a disk stays free.
@Suite("The last 200 MB of a disk")
struct DiskReserveTests {
    /// A disk whose free room a test sets.
    private final class Disk: Sendable {
        let free: Mutex<Int64>
        init(_ bytes: Int64) { free = Mutex(bytes) }
        var reserve: DiskReserve {
            DiskReserve { [self] _ in DiskRoom(freeBytes: free.withLock { $0 }, totalBytes: 32_000_000_000) }
        }
        func set(_ bytes: Int64) { free.withLock { $0 = bytes } }
    }

    private func batch(_ number: UInt64) -> WriteBatch {
        var batch = WriteBatch(number: number)
        batch.changes = [.clockOffset(Fixture.offset)]
        return batch
    }

    @Test("are the last tenth of a small one", arguments: [(32_000_000_000, 200_000_000), (64_000_000, 6_400_000)])
    func size(total: Int64, reserve: Int64) {
        #expect(DiskRoom(freeBytes: 0, totalBytes: total).reserve == reserve)
        #expect(DiskRoom(freeBytes: reserve + 5, totalBytes: total).usableBytes == 5)
        #expect(DiskRoom(freeBytes: reserve - 5, totalBytes: total).usableBytes == 0)
    }

    @Test("are not filled by what is recorded, which goes on when there is room again")
    func commits() throws {
        let disk = Disk(32_000_000_000)
        let store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot, reserve: disk.reserve)
        try store.commit(batch(1))
        disk.set(200_000_000)
        #expect(throws: StorageError.diskFull(detail: "200 MB are free, and the last 200 MB are kept free")) {
            try store.commit(batch(2))
        }
        #expect(throws: StorageError.self) { try store.commitByHeadset(batch(2), at: Fixture.start) }
        #expect(StorageError.diskFull(detail: "").disposition == .retry)
        disk.set(200_000_001)
        try store.commit(batch(2))
    }

    @Test("are there for what a process writes last")
    func last() throws {
        let store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot, reserve: Disk(1_000_000).reserve)
        var last = batch(1)
        last.usesReserve = true
        try store.commit(last)
    }

    @Test("do not keep free pages of the file from being filled")
    func freePages() throws {
        let disk = Disk(32_000_000_000)
        let store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot, reserve: disk.reserve)
        try store.database.write { db in
            try db.execute(sql: "CREATE TABLE scratch (bytes BLOB); INSERT INTO scratch VALUES (zeroblob(17000000))")
        }
        disk.set(100_000_000)
        #expect(throws: StorageError.self) { try store.commit(batch(1)) }
        try store.database.write { db in try db.execute(sql: "DROP TABLE scratch") }
        try store.commit(batch(1))
    }

    @Test("are refused to what says how much it needs")
    func needs() throws {
        let disk = Disk(700_000_000)
        try disk.reserve.require(500_000_000, at: "/", for: "a copy")
        #expect(
            throws: StorageError.diskFull(
                detail: "a copy needs 501 MB, 700 MB are free, and the last 200 MB are kept free")
        ) { try disk.reserve.require(501_000_000, at: "/", for: "a copy") }
        // Of a disk about which nothing is known nothing is refused.
        try DiskReserve { _ in nil }.require(1, at: "/", for: "a copy")
    }
}
