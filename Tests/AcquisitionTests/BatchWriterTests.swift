import Bluetooth
import Storage
import Synchronization
import Testing

@testable import Acquisition

/// When a commit counts as surviving a power cut.
@Suite struct BatchWriterTests {
    /// A database and a clock that a test turns.
    private final class Disk: Sendable {
        let state = Mutex((now: MonotonicTime(nanoseconds: 60_000_000_000), refuses: false, done: [String]()))

        var done: [String] { state.withLock { $0.done } }

        func turn(_ duration: Duration) { state.withLock { $0.now = $0.now + duration } }

        func refuse(_ refuses: Bool) { state.withLock { $0.refuses = refuses } }

        func `do`(_ what: String) throws(StorageError) {
            let refuses = state.withLock { state in
                state.done.append(what)
                return state.refuses
            }
            if refuses { throw .diskFull(detail: what) }
        }

        func writer(commits: Bool = true) -> BatchWriter {
            BatchWriter(
                commit: { (_) throws(StorageError) in
                    if commits { self.state.withLock { $0.done.append("commit") } } else { try self.do("commit") }
                }, commitByHeadset: { (_, _) in [] }, dataVersion: { 0 },
                synchronise: { () throws(StorageError) in try self.do("flush") },
                now: { self.state.withLock { $0.now } })
        }
    }

    private static func isDurable(_ result: Result<BatchWriter.Written, StorageError>) -> Bool? {
        try? result.get().isDurable
    }

    @Test("A batch that fails is noted once beside the database, until one is written; so is what an earlier process left")
    func unstored() async {
        let disk = Disk()
        let noted = Mutex<[Bool]>([])
        let writer = BatchWriter(
            commit: { (_) throws(StorageError) in try disk.do("commit") }, commitByHeadset: { (_, _) in [] },
            dataVersion: { 0 }, synchronise: {},
            noteUnstored: { isUnstored in noted.withLock { $0.append(isUnstored) } })
        for refuses in [false, false, true, true, false, true] {
            disk.refuse(refuses)
            _ = await writer.write(WriteBatch(number: 1))
        }
        #expect(noted.withLock { $0 } == [false, true, false, true])
    }

    @Test("Only after a flush, which follows the commit and happens every ten seconds")
    func interval() async {
        let disk = Disk()
        let writer = disk.writer()
        var durable: [Bool?] = []
        for _ in 0...20 {
            durable.append(Self.isDurable(await writer.write(WriteBatch(number: 1))))
            disk.turn(.seconds(1))
        }
        #expect(durable.indices.filter { durable[$0] == true } == [0, 10, 20])
        #expect(disk.done.count { $0 == "flush" } == 3)
        #expect(disk.done.prefix(4) == ["commit", "flush", "commit", "commit"])
    }

    @Test("Not where the disk refuses the flush, which is tried again with the next commit")
    func refusedFlush() async {
        let disk = Disk()
        let writer = disk.writer()
        disk.refuse(true)
        for _ in 0..<3 {
            #expect(Self.isDurable(await writer.write(WriteBatch(number: 1))) == false)
            disk.turn(.seconds(1))
        }
        #expect(disk.done == ["commit", "flush", "commit", "flush", "commit", "flush"])
        disk.refuse(false)
        #expect(Self.isDurable(await writer.write(WriteBatch(number: 1))) == true)
        disk.turn(.seconds(9))
        #expect(Self.isDurable(await writer.write(WriteBatch(number: 1))) == false)
    }

    @Test("Nothing is flushed for a commit that failed")
    func failedCommit() async {
        let disk = Disk()
        let writer = disk.writer(commits: false)
        disk.refuse(true)
        await #expect(throws: StorageError.diskFull(detail: "commit")) { try await writer.write(WriteBatch(number: 1)).get() }
        #expect(disk.done == ["commit"])
    }
}
