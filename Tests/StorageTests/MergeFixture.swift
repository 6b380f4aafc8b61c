import Bluetooth
import Foundation
import GRDB
import Headsets

@testable import Storage

/// Databases that go back to one another, as a card that was copied: one recording of an EEG, whose copies were recorded on.
struct MergeFixture {
    let directory: TemporaryDirectory

    func path(_ name: String) -> String { directory.path(name + ".sqlite") }

    /// Begins a recording and copies the database for each name.
    init(_ names: String..., in boot: HostBoot = Fixture.boot) throws {
        directory = try TemporaryDirectory()
        guard let first = names.first else { return }
        let store = try AcquisitionStore(path: path(first), hostBoot: boot)
        let recording = try store.control.startRecording(headset: "left", model: "buffered-eeg", at: Fixture.start)
        var batch = Fixture.firstBatch(recording)
        batch.samples = [Fixture.rows(Fixture.eeg, 0..<100, channels: 4)]
        batch.changes.append(.segment(Fixture.segment(Fixture.eeg, 0...99, frequency: 256)))
        try store.commit(batch)
        try store.control.mark(recording, text: "begun", durationSeconds: nil, at: Fixture.start)
        try store.close()
        for name in names.dropFirst() { try FileManager.default.copyItem(atPath: path(first), toPath: path(name)) }
    }

    /// Records on in one of them: rows of ranges that ascend, each hole between them a gap, and ends the recording.
    ///
    /// - Parameters:
    ///   - lacking: rows without channel 2.
    ///   - epoch: nil where the headset went on counting.
    ///   - change: what becomes of the first value of a row.
    func record(
        _ name: String, _ ranges: [Range<Int64>], lacking: Range<Int64>? = nil, epoch: EpochRecord? = nil,
        boot: HostBoot = Fixture.boot, change: [Int64: Int32] = [:], isOpen: Bool = false
    ) throws {
        let store = try AcquisitionStore(path: path(name), hostBoot: boot)
        var (batch, end) = (WriteBatch(number: 7), Int64(100))
        if boot != Fixture.boot { batch.changes.append(.clockOffset(Fixture.offset)) }
        if let epoch { batch.changes.append(.epoch(epoch)) }
        func open(_ first: Int64, _ channel: Int, _ count: Int64?) -> Change {
            .ledger(
                .open(
                    stream: Fixture.eeg, firstN: first, channel: channel, count: count, cause: .linkLost,
                    noticed: Fixture.start, certainty: count == nil ? .unknown : .counted))
        }
        for range in ranges {
            if range.lowerBound > end { batch.changes.append(open(end, 0, range.lowerBound - end)) }
            let hole = lacking.map { $0.clamped(to: range) } ?? range.lowerBound..<range.lowerBound
            for piece in [range.lowerBound..<hole.lowerBound, hole, hole.upperBound..<range.upperBound] where !piece.isEmpty {
                var rows = Fixture.rows(Fixture.eeg, piece, channels: 4, missing: piece == hole ? 0b10 : 0)
                for (n, value) in change where piece.contains(n) { rows.values[Int(n - piece.lowerBound) * 4] = value }
                batch.samples.append(rows)
            }
            end = range.upperBound
        }
        if let lacking { batch.changes.append(open(lacking.lowerBound, 2, Int64(lacking.count))) }
        if let epoch {
            batch.changes.append(
                .segment(Fixture.segment(Fixture.eeg, 100...end - 1, frequency: 256, epoch: epoch.number)))
        } else if boot != Fixture.boot {
            batch.changes.append(.segment(Fixture.segment(Fixture.eeg, 100...end - 1, frequency: 256)))
        } else {
            batch.changes.append(.segment(Fixture.segment(Fixture.eeg, 0...end - 1, frequency: 256)))
        }
        if isOpen { batch.changes.append(open(end, 0, nil)) }
        try store.commit(batch)
        try store.control.mark(
            RecordingID(rawValue: 1), text: "in \(name)", durationSeconds: nil, at: Fixture.start + .seconds(2))
        try store.control.stopRecording(headset: "left", at: Fixture.start + .seconds(10))
        try store.close()
    }

    /// Merges one into another.
    @discardableResult
    func merge(
        _ other: String, into here: String, isRehearsal: Bool = false, in boot: HostBoot = Fixture.boot
    ) throws -> MergeReport {
        let store = try AcquisitionStore(path: path(here), hostBoot: boot)
        defer { try? store.close() }
        let source = try MergeSource(path: path(other), hostBoot: boot)
        return try store.merge(source, isRehearsal: isRehearsal, at: Fixture.start)
    }

    func audit(_ name: String) throws -> AuditReport {
        try ReadOnlyStore(path: path(name), hostBoot: Fixture.boot).audit()
    }

    /// Rows of a query, as text.
    func rows(_ name: String, _ sql: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path(name))
        defer { try? queue.close() }
        return try queue.read { db in try Row.fetchAll(db, sql: sql).map { "\(Array($0.databaseValues))" } }
    }

    /// Everything that a database holds.
    func everything(_ name: String) throws -> [String] {
        let tables = try rows(
            name, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY 1")
        return try tables.flatMap { table in
            let plain = table.dropFirst(2).dropLast(2)
            return [table] + (try rows(name, "SELECT * FROM \(plain) ")).sorted()
        }
    }

    /// Writes as another program does: with foreign keys off, and without the triggers of this one.
    func write(_ sql: String, to name: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: path(name), configuration: configuration)
        try queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
        try queue.close()
    }
}
