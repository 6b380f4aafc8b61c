import Bluetooth
import Foundation
import GRDB
import Glibc
import Testing

@testable import Storage
@testable import eegsync

/// Whether what is wanted is stored, judged by what is committed.
@Suite struct StorageSituationTests {
    private static let holder = GrownLog.Holder(pid: 99, name: "sqlite3", hasTransaction: true)

    private static func facts(_ change: (inout StorageFacts) -> Void) -> StorageFacts {
        var facts = StorageFacts(process: DaemonProcess(pid: 4711))
        facts.freeBytes = 1_000_000_000
        change(&facts)
        return facts
    }

    @Test func nothingIsSaidWhileNothingSpeaksAgainstIt() {
        #expect(StorageSituation(Self.facts { _ in }) == nil)
        // A short transaction of somebody else, a full disk to which nothing is to be written: no row waits.
        #expect(StorageSituation(Self.facts { $0.lockHolders = [Self.holder] }) == nil)
        #expect(StorageSituation(Self.facts { $0.freeBytes = 0 }) == nil)
    }

    private static let cases: [(StorageSituation.Cause, words: String, remedy: String, StorageFacts)] = [
        (.processStopped, "(pid 4711) is stopped", "kill -CONT 4711", facts { $0.process.isStopped = true }),
        (.deleted, "(pid 4711) records into a file that nobody finds", "systemctl stop", facts { $0.isGone = true }),
        (.replaced, "(pid 4711) records into another file", "systemctl stop", facts { $0.isElsewhere = true }),
        (.diskFull, "is full (12.0 kB free)", "make room", facts { ($0.hasUnstored, $0.freeBytes) = (true, 12_000) }),
        (.diskFull, "is full", "make room", facts { ($0.isOverdue, $0.freeBytes) = (true, 0) }),
        (.readOnly, "mounted read-only", "remount", facts { ($0.hasUnstored, $0.isReadOnly) = (true, true) }),
        (
            .writeLock, "sqlite3 (pid 99) holds", "kill 99",
            facts { ($0.isOverdue, $0.lockHolders) = (true, [Self.holder]) }
        ),
        (.refused, "does not take", "journalctl", facts { $0.hasUnstored = true }),
        (.silent, "(pid 4711) commits nothing", "restart", facts { $0.isOverdue = true }),
    ]

    @Test(arguments: cases.indices) func eachCauseIsNamedWithWhatAPersonCanDo(index: Int) throws {
        let (cause, words, remedy, facts) = Self.cases[index]
        let situation = try #require(StorageSituation(facts))
        #expect(situation.cause == cause)
        #expect(situation.sentence.contains(words) && situation.remedy.contains(remedy), "\(situation)")
    }

    @Test func allCausesAreTried() {
        #expect(Set(Self.cases.map(\.0)) == Set(StorageSituation.Cause.allCases))
    }

    /// `left` streams, as was committed last, and its newest row is of the present.
    private func streaming(_ database: RecordedDatabase) throws -> ReadOnlyStore {
        try database.record()
        let store = try database.acquisitionStore()
        let headset = try #require(try store.headset(named: "left"))
        var batch = WriteBatch(number: 2)
        batch.changes = [
            .connectionEvent(
                ConnectionEventRecord(headset: headset, at: HostClock.now - .seconds(9), state: "streaming", detail: nil))
        ]
        try store.commit(batch)
        try store.close()
        return try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
    }

    private static func status(
        _ store: ReadOnlyStore, after seconds: Double, daemon: DaemonProcess? = DaemonProcess(pid: 4711, started: .boot)
    ) throws -> StatusFacts {
        try StatusFacts(
            store: store, configuration: nil, now: HostClock.now + .nanoseconds(Int64(seconds * 1e9)), process: daemon)
    }

    @Test func freshnessIsThatOfTheNewestCommittedRow() throws {
        let store = try streaming(try RecordedDatabase())
        let fresh = try Self.status(store, after: 1)
        #expect(fresh.storage == nil && fresh.severity == .good && fresh.severity.exitCode == 0)
        #expect(fresh.headsets[0].sentence == "streams")
        let stale = try Self.status(store, after: 32)
        #expect(stale.storage?.cause == .silent)
        #expect(stale.severity == .waiting && stale.severity.exitCode == 69)
        let seconds = try #require(stale.headsets[0].stateSeconds)
        #expect((32..<36).contains(seconds), "since the newest row, and not since it began to stream: \(seconds)")
        let lines = stale.lines(style: .plain, columns: nil)
        #expect(lines.first == "Nothing is stored: eegsync run (pid 4711) commits nothing.", "\(lines)")
        #expect(lines.contains { $0.hasPrefix("left is not stored (for 3") }, "\(lines)")
        #expect(try stale.json().contains("\"cause\" : \"silent\""))
    }

    @Test func aStoppedProcessIsSaidAtOnce() throws {
        let store = try streaming(try RecordedDatabase())
        let facts = try Self.status(store, after: 0, daemon: DaemonProcess(pid: 4711, isStopped: true, started: .boot))
        #expect(facts.storage?.cause == .processStopped && facts.severity.exitCode == 69)
    }

    @Test func aProcessThatHasJustBegunHasNotMissedAnything() throws {
        let store = try streaming(try RecordedDatabase())
        let facts = try Self.status(
            store, after: 3600, daemon: DaemonProcess(pid: 4711, started: HostClock.now + .seconds(3599)))
        #expect(facts.storage == nil)
        // The state is that of an earlier process.
        #expect(facts.headsets[0].sentence == "is about to be looked for" && facts.severity.exitCode == 75)
        let seconds = try #require(facts.headsets[0].stateSeconds)
        #expect((0..<3).contains(seconds))
        let later = try Self.status(
            store, after: 3600, daemon: DaemonProcess(pid: 4711, started: HostClock.now + .seconds(3500)))
        #expect(later.storage?.cause == .silent, "it has committed nothing since it began")
    }

    @Test func afterADeathTheTimeCountsFromItsLatestSign() throws {
        let store = try streaming(try RecordedDatabase())
        let facts = try Self.status(store, after: 100, daemon: nil)
        #expect(facts.storage == nil && facts.severity.exitCode == 69)
        let seconds = try #require(facts.headsets[0].stateSeconds)
        #expect((99..<102).contains(seconds), "\(seconds)")
        #expect(
            facts.lines(style: .plain, columns: nil)[0].hasPrefix("left waits for eegsync run, which does not run (for 1 min 4")
        )
    }

    @Test func aWishThatIsYoungerThanTheDeathCountsFromItself() throws {
        let database = try RecordedDatabase()
        let store = try ControlStore(path: database.path, hostBoot: try HostBoot.current())
        try store.startRecording(headset: "left", model: "ganglion", at: HostClock.now - .seconds(2))
        let facts = try StatusFacts(store: store, configuration: nil, now: HostClock.now, process: nil)
        let seconds = try #require(facts.headsets[0].stateSeconds)
        #expect((1..<4).contains(seconds))
    }

    @Test func aHeadsetThatTheDaemonDoesNotKnowIsSaidToBeIgnored() throws {
        let database = try RecordedDatabase()
        let store = try ControlStore(path: database.path, hostBoot: try HostBoot.current())
        try store.startRecording(headset: "ghost", model: "ganglion", at: HostClock.now - .seconds(60))
        let started = HostClock.now - .seconds(5)
        func facts(_ started: MonotonicTime) throws -> StatusFacts {
            try StatusFacts(
                store: store, configuration: nil, now: HostClock.now, process: DaemonProcess(pid: 1, started: started))
        }
        #expect(try facts(started).headsets[0].sentence == "is about to be looked for")
        let acquisition = try database.acquisitionStore()
        var batch = WriteBatch(number: 1)
        batch.changes = [
            .process(.started(ProcessIdentity(version: "1", pid: 1), at: HostClock.now - .seconds(29)))
        ]
        try acquisition.commit(batch)
        let ignored = try facts(HostClock.now - .seconds(30))
        #expect(ignored.headsets[0].sentence == "is wanted, but eegsync run has not begun with it", "\(ignored.headsets)")
        #expect(ignored.headsets[0].remedy?.contains("names ghost with the model ganglion") == true)
        #expect(ignored.severity.exitCode == 69)
    }

    @Test func theKernelsLineOfAProcessIsRead() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        let folder = root.appendingPathComponent("proc/812")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let numbers = (4...21).map(String.init).joined(separator: " ")
        for (state, isStopped) in [("S", false), ("T", true), ("t", true), ("D", false)] {
            try "812 (eeg) sync (T) \(state) \(numbers) 4500 23 24\n".write(
                to: folder.appendingPathComponent("stat"), atomically: true, encoding: .utf8)
            let process = DaemonProcess(pid: 812, files: SystemFiles(root: root.path))
            #expect(process.isStopped == isStopped)
            #expect(process.started == MonotonicTime(nanoseconds: 4500 * (1_000_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK))))))
        }
        let own = DaemonProcess(pid: getpid(), files: SystemFiles())
        let age = HostClock.now - (try #require(own.started))
        #expect(!own.isStopped && age > .zero && age < .seconds(86_400))
    }

    @Test func whoeverWritesIsNamed() throws {
        let database = try RecordedDatabase()
        let store = try streaming(database)
        let writer = try ControlStore(path: database.path, hostBoot: try HostBoot.current())
        #expect(WriteAheadLogInspection(files: SystemFiles(), others: []).writers(of: database.path).isEmpty)
        #expect(try store.headsets(at: HostClock.now).count == 1)
        var file = stat()
        #expect(stat(database.path + "-shm", &file) == 0)
        let root = database.directory.appendingPathComponent("root")
        try FileManager.default.createDirectory(
            at: root.appendingPathComponent("proc/99"), withIntermediateDirectories: true)
        try """
        1: POSIX  ADVISORY  READ 812 fd:00:\(file.st_ino) 124 124
        2: POSIX  ADVISORY  WRITE 99 fd:00:\(file.st_ino) 120 120
        3: POSIX  ADVISORY  WRITE 98 fd:00:\(file.st_ino) 122 122
        """.write(toFile: root.path + "/proc/locks", atomically: true, encoding: .utf8)
        try "sqlite3\n".write(toFile: root.path + "/proc/99/comm", atomically: true, encoding: .utf8)
        let found = WriteAheadLogInspection(files: SystemFiles(root: root.path)).writers(of: database.path)
        #expect(found.map(\.pid) == [99] && found[0].name == "sqlite3")
        try writer.close()
    }

    /// Of a headset that streams, whose newest row is of so many seconds before the present, with a spool that has got
    /// something so long ago.
    private func isLate(newestRow: Int, spooled: Int?, started: Int = 3600) throws -> Bool {
        let now = MonotonicTime.boot + .seconds(10_000)
        let inspection = StorageInspection(
            process: DaemonProcess(pid: 1, started: now - .seconds(started)), now: now, commitInterval: .seconds(10),
            spooled: spooled.map { now - .seconds($0) })
        func instant(_ age: Int) -> StoredInstant {
            StoredInstant(time: now - .seconds(age), isSameHostBoot: true, unixNanoseconds: nil)
        }
        let store = try streaming(try RecordedDatabase())
        var activity = try #require(try store.headsets(at: HostClock.now).first)
        activity.stateEntered = instant(5000)
        for index in activity.streams.indices { activity.streams[index].lastSample = instant(newestRow) }
        return inspection.isLate(activity)
    }

    @Test func aProcessThatPutsNothingIntoItsSpoolIsFoundBeforeTheNextTransactionIsDue() throws {
        // The spool is no store: what stands there for longer than two transactions is late all the same.
        #expect(try isLate(newestRow: 26, spooled: 0))
        #expect(try !isLate(newestRow: 24, spooled: 0))
        #expect(try !isLate(newestRow: 9, spooled: 6))
        #expect(try isLate(newestRow: 9, spooled: 8))
        // Without one, only transactions say anything; a transaction that is newer than the spool says that all is well.
        #expect(try !isLate(newestRow: 9, spooled: nil))
        #expect(try !isLate(newestRow: 3, spooled: 8))
        #expect(try !isLate(newestRow: 9, spooled: 100, started: 5), "a process that has just begun")
    }

    @Test func theSignOfTheSpoolIsWhenItsFileWasWritten() throws {
        let database = try RecordedDatabase()
        try database.record()
        let store = try database.acquisitionStore()
        #expect(try SpoolSign.latest(store) == nil)
        let spool = database.path + "-spool"
        try store.database.write { db in
            try db.execute(
                sql: "INSERT INTO spool VALUES (1, ?, 'token', (SELECT max(id) FROM host_boot), 0)", arguments: [spool])
        }
        #expect(try SpoolSign.latest(store) == nil, "its file is not there")
        try Data("x".utf8).write(to: URL(fileURLWithPath: spool))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -100)], ofItemAtPath: spool)
        let sign = try #require(try SpoolSign.latest(store))
        #expect((95...110).contains((HostClock.now - sign).inSeconds))
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: 1e6)], ofItemAtPath: spool)
        #expect(try SpoolSign.latest(store).map { $0 <= HostClock.now } == true, "a clock that was set back since")
    }
}
