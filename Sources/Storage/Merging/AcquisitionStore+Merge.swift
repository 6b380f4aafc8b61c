package import Bluetooth
import GRDB

/// Another database comes in. Nobody acquires meanwhile: a process that does holds the lock.
extension AcquisitionStore {
    /// Takes over what another database has and this one does not: each recording in one transaction, in which the audit of the
    /// recording holds before it is committed, and of each one here whose gaps it fills. A second time nothing is new. A
    /// rehearsal is one transaction, so that each recording finds what those before it have brought, as it would.
    ///
    /// - Parameters:
    ///   - other: the other database, which is only read.
    ///   - isRehearsal: whether everything is taken back, so that only the report is left.
    ///   - now: when it is done.
    ///   - progress: gets how many recordings are done, and how many there are.
    /// - Throws: ``MergeError``, `StorageError`. Recordings before the one that has failed were merged.
    package func merge(
        _ other: MergeSource, isRehearsal: Bool = false, at now: MonotonicTime,
        progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws -> MergeReport {
        if other.isFile(path) { throw MergeError.sameDatabase(path: other.path) }
        let recordings = try knownRecordings(of: other)
        try requireNoneGoesOn(recordings.map(\.uuid))
        // What is written stands in the log first.
        if let path { try database.reserve?.require(2 * other.bytes, at: path, for: "to take over \(other.name)") }
        let origin = MergeOrigin(source: other.name, hostBoot: hostBootID, boottime: now.nanoseconds)
        let uuids = Set(recordings.map(\.uuid))
        let merges = recordings.map { recording in
            RecordingMerge(recording: recording.key, uuid: recording.uuid, origin: origin, others: uuids)
        }
        guard isRehearsal else {
            let report = try run(merges, from: other, progress: progress) { merge, source in
                try inTransaction(.commit) { db in try merge.run(from: source, to: db) }
            }
            try synchronise()
            return report
        }
        return try inTransaction(.rollback) { db in
            try run(merges, from: other, progress: progress) { merge, source in try merge.run(from: source, to: db) }
        }
    }

    /// The recordings of the other database, by their keys there, with the UUIDs that they have here.
    private func knownRecordings(of other: MergeSource) throws -> [(key: Int64, uuid: String)] {
        let recordings = try other.recordings()
        return try other.store.database.perform { reader in
            try reader.read { source in
                try database.read { db in
                    try recordings.map { recording in
                        let uuid = try KnownRecording.uuid(
                            of: recording.key, called: recording.uuid, in: source, here: db)
                        return (key: recording.key, uuid: uuid)
                    }
                }
            }
        }
    }

    /// Does what `body` does for each recording, and reports it.
    private func run(
        _ merges: [RecordingMerge], from other: MergeSource, progress: (_ done: Int, _ total: Int) -> Void,
        _ body: (RecordingMerge, _ source: Database) throws -> (MergedRecording, [TwinComparison])
    ) throws -> MergeReport {
        var report = MergeReport()
        for (index, merge) in merges.enumerated() {
            progress(index, merges.count)
            let (merged, twins) = try merge.explaining(path: other.path) {
                try other.store.database.perform { reader in
                    try reader.read { source in try body(merge, source) }
                }
            }
            report.recordings.append(merged)
            report.twins += twins
        }
        progress(merges.count, merges.count)
        return report
    }

    /// Runs a piece of work in one transaction, which then ends as it is said.
    ///
    /// - Throws: ``MergeError`` as it is, every other error as a `StorageError`.
    private func inTransaction<Value>(
        _ end: Database.TransactionCompletion, _ body: (Database) throws -> Value
    ) throws -> Value {
        var value: Value?
        var problem: MergeError?
        do {
            try database.perform { writer in
                try writer.writeWithoutTransaction { db in
                    try db.inTransaction(.immediate) {
                        do {
                            value = try body(db)
                        } catch {
                            problem = error as? MergeError
                            throw error
                        }
                        return end
                    }
                }
            }
        } catch {
            if let problem { throw problem }
            throw error
        }
        guard let value else { throw StorageError.notFound(what: "result of the merge") }
        return value
    }

    /// A recording that goes on here grows from its end, which must not move under it.
    private func requireNoneGoesOn(_ uuids: [String]) throws {
        let wanted = try database.read { db in
            try Row.fetchAll(db, sql: "SELECT id, uuid FROM recording WHERE desired_state = 'recording' ORDER BY id")
        }
        if let row = wanted.first(where: { uuids.contains($0["uuid"]) }) { throw MergeError.goesOn(recording: row["id"]) }
    }
}

/// How one recording comes in.
private struct RecordingMerge {
    /// Its key there.
    let recording: Int64
    /// Its UUID here, where it is here.
    let uuid: String
    let origin: MergeOrigin
    /// UUIDs of all recordings of the other database, as they are here.
    let others: Set<String>

    func run(from source: Database, to db: Database) throws -> (MergedRecording, [TwinComparison]) {
        if let deleted = try deletedHere(source, db) { return (deleted, []) }
        var keys = MergedKeys()
        do {
            var facts = try MergedHost(source: source, db: db).bringOver(keys: &keys)
            let known = try Int64.fetchOne(db, sql: "SELECT id FROM recording WHERE uuid = ?", arguments: [uuid])
            let headset = try MergedHeadset(of: recording, here: known, from: source, to: db, keys: &keys)
            facts += headset.isNew ? 1 : 0
            var merged =
                if let known {
                    try RecordingUnion(source: source, db: db, recording: recording, here: known, origin: origin)
                        .run(headset, uuid: uuid, keys: &keys)
                } else {
                    try RecordingTakeover(source: source, db: db, recording: recording, origin: origin)
                        .run(headset, uuid: uuid, keys: &keys)
                }
            merged.facts += facts
            let number = merged.number ?? 0
            // The ledger of what is now here proves itself, or nothing comes in.
            if !merged.isNothingNew, let findings = try RecordingProof.contradiction(of: number, in: db) {
                throw StorageError.refused(reason: "together they contradict the evidence (\(findings))")
            }
            return (merged, try RecordingTwins(db: db, recording: number, origin: origin).run(except: others))
        } catch let unknown as MergedKeys.Unknown {
            throw StorageError.refused(reason: "a row's \(unknown.column) is \(unknown.key), which is not there")
        }
    }

    /// Runs a piece of work. What the database refuses is what the other one says.
    func explaining<Result>(path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StorageError {
            switch error {
            case .constraint(let detail), .refused(let detail):
                throw MergeError.contradiction(path: path, recording: uuid, detail: detail)
            default: throw error
            }
        }
    }

    /// What was deleted here on purpose does not come back.
    private func deletedHere(_ source: Database, _ db: Database) throws -> MergedRecording? {
        let streams = try String.fetchAll(
            source, sql: "SELECT uuid FROM stream WHERE recording_id = ? AND uuid IS NOT NULL", arguments: [recording])
        guard try streams.contains(where: { try Deletion.isNoted(stream: $0, in: db) }) else { return nil }
        let headset = try String.fetchOne(
            source, sql: "SELECT h.name FROM headset AS h JOIN recording AS r ON r.headset_id = h.id WHERE r.id = ?",
            arguments: [recording])
        return MergedRecording(
            outcome: .deleted, uuid: uuid, number: nil, numberThere: recording, headset: headset ?? "")
    }
}
