import Bluetooth
import Foundation
import GRDB
import Headsets

@testable import Storage

/// A file with two recordings of two headsets, as the acquisition writes them: each an EEG of 40 s (10,240 numbers, three
/// blocks) with a gap that was recovered in part, a channel that came late, two annotations and an arrival a second, and an
/// accelerometer. Everything is flushed.
struct EvidenceFixture {
    let directory: TemporaryDirectory
    var path: String { directory.path("eegsync.sqlite") }

    static let first: (recording: Int64, eeg: Int64, accelerometer: Int64) = (1, 1, 2)
    static let second: (recording: Int64, eeg: Int64, accelerometer: Int64) = (2, 3, 4)

    /// The files of the one that is copied, by name: recording takes a third of a second, and hundreds of tests want one.
    private static let recorded = Result { () throws -> [(name: String, mode: NSNumber, bytes: Data)] in
        let fixture = try EvidenceFixture(.anew)
        let files = FileManager.default
        return try files.contentsOfDirectory(atPath: fixture.directory.url.path).map { name in
            let path = fixture.directory.path(name)
            let mode = try files.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            return (name, mode ?? 0o600, try Data(contentsOf: URL(fileURLWithPath: path)))
        }
    }

    /// Where the file comes from: copies are one database, with one identity; what is recorded anew is another one.
    enum Origin { case copy, anew }

    init(_ origin: Origin = .copy) throws {
        directory = try TemporaryDirectory()
        switch origin {
        case .copy:
            for (name, mode, bytes) in try Self.recorded.get() {
                try bytes.write(to: URL(fileURLWithPath: directory.path(name)))
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory.path(name))
            }
        case .anew:
            let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
            try Self.record(Self.first, headset: "left", into: store)
            try Self.record(Self.second, headset: "right", into: store)
            try store.synchronise()
            try store.close()
        }
    }

    /// Opens the file as the process that acquires.
    func open(_ boot: HostBoot = Fixture.boot) throws -> AcquisitionStore { try AcquisitionStore(path: path, hostBoot: boot) }

    /// What an audit of the whole file says.
    func audit(isQuick: Bool = false, readerCount: Int = 2) throws -> AuditReport {
        do {
            return try ReadOnlyStore(path: path, hostBoot: Fixture.boot)
                .audit(AuditScope(isQuick: isQuick, readerCount: readerCount))
        } catch StorageError.corrupt(_, let detail) {
            return .damaged(detail)
        }
    }

    /// Writes as another program does: with foreign keys off, as sqlite3 has them, and without the triggers of this one.
    func write(_ sql: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
        try queue.close()
    }

    private static func record(
        _ keys: (recording: Int64, eeg: Int64, accelerometer: Int64), headset: String, into store: AcquisitionStore
    ) throws {
        let (eeg, accelerometer) = (StreamID(rawValue: keys.eeg), StreamID(rawValue: keys.accelerometer))
        let start = Fixture.start + .seconds(keys.recording)
        let recording = try store.control.startRecording(
            headset: headset, model: "buffered-eeg", label: "baseline", subject: "S0\(keys.recording)", task: "rest", at: start)
        var batch = WriteBatch(number: 1)
        batch.changes = [
            .stream(NewStream(id: eeg, recording: recording, position: 0, description: Fixture.eegDescription())),
            .stream(
                NewStream(
                    id: accelerometer, recording: recording, position: 1, description: Fixture.accelerometerDescription)),
            .recording(.started(recording, at: start)), .epoch(Fixture.epoch(eeg)), .epoch(Fixture.epoch(accelerometer)),
            .clockOffset(Fixture.offset),
        ]
        var facts = LinkFacts()
        facts.firmwareRevision = "1.\(keys.recording)"
        batch.changes.append(
            .link(LinkRecord(headset: HeadsetID(rawValue: keys.recording), recording: recording, began: start, facts: facts)))
        try store.commit(batch)
        try store.control.edit(
            recording, [(.subjectSex, "female"), (.property(key: "cap"), "M")], at: start)
        var words = WriteBatch(number: 60)
        for (number, kind) in [HeadsetMessageRecord.Kind.message, .refused].enumerated() {
            words.changes.append(
                .headsetMessage(
                    HeadsetMessageRecord(
                        headset: HeadsetID(rawValue: keys.recording), linkBegan: start, number: number, kind: kind,
                        text: "hello", bytes: nil, count: 1, byteCount: 0, first: start, last: start)))
        }
        try store.commit(words)
        for second in 0..<40 { try commit(second: Int64(second), eeg, accelerometer, start: start, into: store) }
        try store.commit(late(eeg))
        for (index, text) in ["eyes closed", "eyes open"].enumerated() {
            try store.control.mark(recording, text: text, durationSeconds: 1, at: start + .seconds(5 + index))
        }
    }

    /// One second of both streams. Of the EEG, n 2560 to 3071 are missing and channel 2 of 5000 to 5011.
    private static func commit(
        second: Int64, _ eeg: StreamID, _ accelerometer: StreamID, start: MonotonicTime, into store: AcquisitionStore
    ) throws {
        var batch = WriteBatch(number: UInt64(second) + 2)
        let range = second * 256..<(second + 1) * 256
        if range.contains(2560) {
            batch.changes.append(
                .ledger(.open(stream: eeg, firstN: 2560, channel: 0, count: 512, cause: .linkLost, noticed: start)))
        }
        if range.contains(5000) {
            batch.samples = [
                Fixture.rows(eeg, range.lowerBound..<5000, channels: 4),
                Fixture.rows(eeg, 5000..<5012, channels: 4, missing: 0b10),
                Fixture.rows(eeg, 5012..<range.upperBound, channels: 4),
            ]
            batch.changes.append(
                .ledger(.open(stream: eeg, firstN: 5000, channel: 2, count: 12, cause: .packetLost, noticed: start)))
        } else if !(2560..<3072).overlaps(range) {
            batch.samples = [Fixture.rows(eeg, range, channels: 4)]
        }
        let wide = second * 52..<(second + 1) * 52
        batch.samples.append(Fixture.rows(accelerometer, wide, channels: 3))
        let minute: (Int64) -> ClosedRange<Int64> = { second < 20 ? 0...$0 : ($0 + 1) / (second + 1) * 20...$0 }
        for (stream, last, frequency) in [(eeg, range.upperBound - 1, 256.0), (accelerometer, wide.upperBound - 1, 52.0)] {
            let isThere = stream != eeg || !(2560..<3072).overlaps(range)
            if isThere {
                batch.changes.append(
                    .segment(Fixture.segment(stream, minute(last), frequency: frequency, reference: start)))
                let sent = Int64(Double(last) / frequency * 1e9)
                batch.changes.append(
                    .arrival(
                        ArrivalRecord(
                            stream: stream, n: last, at: start + .nanoseconds(sent + 20_000_000), deviceTicks: UInt64(last) * 10
                        )))
            }
        }
        try store.commit(batch)
    }

    /// Of the gap 2700 to 2899 come after all, in two pieces, and six values of the channel.
    private static func late(_ eeg: StreamID) -> WriteBatch {
        var batch = WriteBatch(number: 50)
        batch.samples = [
            Fixture.rows(eeg, 2700..<2800, channels: 4), Fixture.rows(eeg, 2800..<2900, channels: 4, missing: 0b1),
        ]
        batch.changes = [
            .ledger(.recover(stream: eeg, firstN: 2560, channel: 0, count: 200)),
            .ledger(.open(stream: eeg, firstN: 2800, channel: 1, count: 100, cause: .packetDamaged, noticed: Fixture.start)),
            .fill(ChannelFill(stream: eeg, channel: 2, firstN: 5002, values: [1, 2, 3, 4, 5, 6])),
            .ledger(.recover(stream: eeg, firstN: 5000, channel: 2, count: 6)),
            .fill(ChannelFill(stream: eeg, channel: 1, firstN: 2810, values: [-1, 0])),
            .ledger(.recover(stream: eeg, firstN: 2800, channel: 1, count: 2)),
        ]
        return batch
    }
}
