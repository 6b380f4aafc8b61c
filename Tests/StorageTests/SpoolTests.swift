import Bluetooth
import Foundation
import GRDB
import Glibc
import Headsets
import Testing

@testable import Storage

/// What waits for its transaction outlives the process, is written once, and never twice.
struct SpoolTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path("eegsync.sqlite") }
    private var spoolPath: String { directory.path("spool") }

    init() throws { directory = try TemporaryDirectory() }

    private func open(boot: HostBoot = Fixture.boot) throws -> AcquisitionStore {
        try AcquisitionStore(path: path, hostBoot: boot, options: StoreOptions(spoolPath: spoolPath))
    }

    /// A recording with a stream of four channels and its first second.
    private func begin(_ store: AcquisitionStore) throws {
        let recording = try store.control.startRecording(headset: "left", model: "muse", at: Fixture.start)
        var batch = WriteBatch(number: 1)
        batch.changes = [
            .clockOffset(Fixture.offset), .recording(.started(recording, at: Fixture.start)),
            .stream(NewStream(id: Fixture.eeg, recording: recording, position: 0, description: Fixture.eegDescription())),
            .epoch(Fixture.epoch(Fixture.eeg)),
        ]
        batch.samples = [Fixture.rows(Fixture.eeg, 0..<256, channels: 4)]
        try store.commit(batch)
    }

    private func second(_ number: Int64) -> WriteBatch {
        var batch = WriteBatch(number: UInt64(number) + 1)
        let range = number * 256..<(number + 1) * 256
        batch.samples = [Fixture.rows(Fixture.eeg, range, channels: 4, missing: number == 2 ? 0b100 : 0)]
        batch.changes = [
            .segment(Fixture.segment(Fixture.eeg, 0...range.upperBound - 1, frequency: 256)),
            .arrival(
                ArrivalRecord(
                    stream: Fixture.eeg, n: range.upperBound - 1, at: Fixture.start + .seconds(number), deviceTicks: .max)),
        ]
        if number == 2 {
            batch.changes.append(
                .ledger(
                    .open(
                        stream: Fixture.eeg, firstN: 512, channel: 3, count: 256, cause: .packetLost, noticed: Fixture.start,
                        certainty: .counted)))
        }
        return batch
    }

    /// What `kill -9` leaves: the files as they are, and no close.
    private func die(_ store: consuming AcquisitionStore) throws {
        let copy = try TemporaryDirectory()
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.url.path) {
            try FileManager.default.copyItem(atPath: directory.path(name), toPath: copy.path(name))
        }
        try store.close()
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.url.path) {
            try FileManager.default.removeItem(atPath: directory.path(name))
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: copy.url.path) {
            try FileManager.default.moveItem(atPath: copy.path(name), toPath: directory.path(name))
        }
    }

    private func rowCount(_ store: some Store) throws -> Int? {
        try store.database.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM sample") }
    }

    @Test("What stood in the spool of a killed process is stored by the next one, and the audit holds")
    func recovered() throws {
        let first = try open()
        try begin(first)
        for number in 1...4 { try first.keep(second(Int64(number)), at: Fixture.start + .seconds(number)) }
        #expect(try rowCount(first) == 256)
        try die(first)
        let next = try open()
        #expect(next.recoveredSpool == RecoveredSpool(rowCount: 1024))
        #expect(try rowCount(next) == 1280)
        let audit = try next.audit()
        #expect(audit.findings == [])
        try die(next)
        let last = try open()
        #expect(last.recoveredSpool == nil)
        #expect(try rowCount(last) == 1280)
        try last.close()
        #expect(!FileManager.default.fileExists(atPath: spoolPath))
    }

    @Test("What was committed before the kill is not written again, although it still stands in the spool")
    func committedBefore() throws {
        let first = try open()
        try begin(first)
        var all = second(1)
        try first.keep(second(1), at: Fixture.start)
        try first.keep(second(2), at: Fixture.start)
        all.append(second(2))
        try first.commit(all)
        // Written over from the beginning of the file: the third stands before what is left of the second.
        try first.keep(second(3), at: Fixture.start)
        try die(first)
        let next = try open()
        #expect(next.recoveredSpool?.rowCount == 256)
        #expect(try rowCount(next) == 1024)
        #expect(try next.audit().findings == [])
        try next.close()
    }

    @Test(
        "A record that the death of the process has cut short is left out, and those before it are not",
        arguments: [1, 30, 3000])
    func cut(bytes: Int) throws {
        let first = try open()
        try begin(first)
        try first.keep(second(1), at: Fixture.start)
        try first.keep(second(2), at: Fixture.start)
        try die(first)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: spoolPath))
        try file.truncate(atOffset: file.seekToEnd() - UInt64(bytes))
        try file.close()
        let next = try open()
        #expect(next.recoveredSpool?.rowCount == 256)
        try next.close()
    }

    @Test("Any damaged byte of a record is found by its checksum")
    func damaged() throws {
        let bytes = try SpoolRecord.bytes(of: SpooledBatch(batch: second(1), at: Fixture.start), path: "test")
        #expect(SpoolRecord.batches(in: bytes).map(\.batch) == [second(1)])
        for index in stride(from: 0, to: bytes.count, by: 97) {
            var other = bytes
            other[other.startIndex + index] ^= 0x40
            // The number of a batch is not summed up: another one is an earlier or a later one.
            guard !(8..<16).contains(index) else { continue }
            #expect(SpoolRecord.batches(in: other).isEmpty, "byte \(index)")
        }
    }

    @Test("What is written besides, under an earlier number, takes nothing back of what is committed")
    func writtenBesides() throws {
        let first = try open()
        try begin(first)
        try first.keep(second(1), at: Fixture.start)
        try first.commit(second(1))
        try first.keep(second(2), at: Fixture.start)
        try first.commit(WriteBatch(number: 0))
        try die(first)
        let next = try open()
        #expect(next.recoveredSpool == RecoveredSpool(rowCount: 256))
        #expect(try rowCount(next) == 768)
        #expect(try next.audit().findings == [])
        try next.close()
    }

    @Test("Another process's spool, and one that is gone with the power, give nothing")
    func another() throws {
        let first = try open()
        try begin(first)
        try first.keep(second(1), at: Fixture.start)
        try die(first)
        try FileManager.default.removeItem(atPath: spoolPath)
        let next = try open(boot: Fixture.secondBoot)
        #expect(next.recoveredSpool == nil)
        #expect(try rowCount(next) == 256)
        try die(next)
        let other = try BatchSpool(path: spoolPath)
        try other.begin(token: "another")
        var batch = second(1)
        batch.number = 1
        try other.append(batch, at: Fixture.start)
        let last = try open(boot: Fixture.secondBoot)
        #expect(last.recoveredSpool == nil)
        try last.close()
    }

    @Test("What the database refuses is kept beside it, and does not hinder the next process")
    func refused() throws {
        let first = try open()
        try begin(first)
        try first.commit(second(1))
        var again = second(1)  // Rows that are there already.
        again.number += 1
        try first.keep(again, at: Fixture.start)
        try die(first)
        let next = try open()
        #expect(next.recoveredSpool?.problem?.contains("UNIQUE") == true)
        #expect(try next.audit().findings == [])
        try next.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(names.contains { $0.hasPrefix("eegsync.sqlite-refused-") })
    }

    @Test("Rows behind a part that was refused before the kill are left out: the open gap says that they are missing")
    func behindRefusal() throws {
        let first = try open()
        try begin(first)
        let part = HeadsetPart(
            headset: HeadsetID(rawValue: 1), recording: RecordingID(rawValue: 1), streams: [Fixture.eeg],
            presentStreams: [Fixture.eeg])
        try first.commit(second(1))
        var refused = second(2)
        refused.parts = [part]
        refused.changes.append(.segment(Fixture.segment(Fixture.eeg, 0...767, frequency: -1)))
        #expect(try first.commitByHeadset(refused, at: Fixture.start).count == 1)
        var later = second(3)
        later.parts = [part]
        try first.keep(later, at: Fixture.start)
        // The link is lost then, and nothing else.
        var lost = WriteBatch(number: 5)
        lost.parts = [part]
        lost.changes = [
            .ledger(
                .open(
                    stream: Fixture.eeg, firstN: 1024, channel: 0, count: nil, cause: .linkLost, noticed: Fixture.start))
        ]
        try first.keep(lost, at: Fixture.start)
        try die(first)
        let next = try open()
        #expect(next.recoveredSpool?.problem == nil)
        #expect(try rowCount(next) == 512)
        #expect(try next.gaps(of: RecordingID(rawValue: 1)).map(\.cause) == ["quarantined"])
        #expect(try next.audit().findings == [])
        try next.close()
    }

    @Test("It is for its owner alone, follows no link, and has a bound")
    func file() throws {
        let store = try open()
        try begin(store)
        var status = stat()
        #expect(stat(spoolPath, &status) == 0 && status.st_mode & 0o777 == 0o600)
        try store.close()
        try FileManager.default.createSymbolicLink(atPath: spoolPath, withDestinationPath: directory.path("elsewhere"))
        let refused = try open()
        #expect(!refused.hasSpool && refused.spoolProblem != nil)
        #expect(!FileManager.default.fileExists(atPath: directory.path("elsewhere")))
        try refused.close()

        let (spool, token) = (try BatchSpool.inMemory(), UUID().uuidString)
        try spool.begin(token: token)
        var large = second(1)
        large.number = 1
        large.samples = [Fixture.rows(Fixture.eeg, 0..<400_000, channels: 4)]
        try spool.append(large, at: Fixture.start)
        large.number += 1
        try spool.append(large, at: Fixture.start)
        large.number += 1
        #expect(throws: StorageError.self) { try spool.append(large, at: Fixture.start) }
        #expect(spool.batches(of: token).count == 2)
        // What was refused is committed before anything later is taken: a process that died would leave a hole.
        large.samples = []
        large.number += 1
        #expect(throws: StorageError.self) { try spool.append(large, at: Fixture.start) }
        spool.discard(upTo: large.number - 2)
        #expect(throws: StorageError.self) { try spool.append(large, at: Fixture.start) }
        spool.discard(upTo: large.number - 1)
        try spool.append(large, at: Fixture.start)
        #expect(spool.batches(of: token).map(\.batch.number) == [large.number])
    }

    @Test("A program that follows is seen by another process's question, and not when it has ended")
    func followers() throws {
        let store = try open()
        try begin(store)
        #expect(store.followers?.isFollowed == false)
        // A lock of the own process does not count (fcntl(2)): Python holds it.
        let reader = Process()
        reader.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        reader.arguments = [
            "python3", "-c",
            """
            import fcntl, sys
            file = open(sys.argv[1])
            fcntl.lockf(file, fcntl.LOCK_SH)
            print("locked", flush=True)
            sys.stdin.read()
            """, path + "-follow",
        ]
        let (output, input) = (Pipe(), Pipe())
        (reader.standardOutput, reader.standardInput) = (output, input)
        try reader.run()
        // Six bytes of it may come before the seventh.
        let line = try #require(try output.fileHandleForReading.read(upToCount: 7))
        #expect(line == Data("locked\n".utf8))
        #expect(try store.wishes(unlessVersion: nil).isFollowed)
        try input.fileHandleForWriting.close()
        reader.waitUntilExit()
        #expect(try !store.wishes(unlessVersion: nil).isFollowed)
        try store.close()
    }
}
