package import Bluetooth
import Foundation
import GRDB
import Glibc

/// What was erased of a participant, and what a person has still to look at.
package struct SubjectErasure: Hashable, Sendable {
    /// The recordings that are gone.
    package var recordings: [Int64] = []
    /// Files of this program beside the database that held older states of it, and are gone.
    package var removedFiles: [String] = []
    /// Where the participant's names still stand: columns of other recordings, which only a person can judge.
    package var mentions: [String] = []
    /// Files beside the database that may hold the participant, and that somebody has made on purpose.
    package var otherFiles: [String] = []
    /// The recordings that are still there, wholly or in part; empty unless something hindered it.
    package var remaining: [Int64] = []
    /// What hindered it before the end, such as another program that reads an older state; nil where nothing is left. Whoever
    /// erases the participant once more goes on.
    package var hindrance: StorageError?
}

extension AcquisitionStore {
    /// The recordings of a participant: those whose subject is called so, and those whose subject's name is that.
    package func recordings(ofSubject subject: String) throws(StorageError) -> [RecordingID] {
        try database.read { db in
            try Int64.fetchAll(
                db,
                sql: """
                    SELECT r.id FROM recording AS r LEFT JOIN recording_detail AS d ON d.recording_id = r.id
                    WHERE r.subject = ?1 OR d.subject_name = ?1 ORDER BY r.id
                    """, arguments: [subject]
            ).map(RecordingID.init)
        }
    }

    /// Erases a participant: the recordings with all that was said of them, earlier names in what people have edited, captures
    /// of the headsets that recorded them, and every byte that the file and its log still had of it.
    ///
    /// The file is written anew, so the room for that must be there; nobody acquires meanwhile. What a card or a disk keeps
    /// in blocks that the file system does not use any more is beyond the reach of a program.
    ///
    /// What was begun and hindered, or interrupted, is gone on with by the same call, also where no recording of the
    /// participant is left: then what is beside the database is looked through and the file is written anew once more.
    ///
    /// - Parameters:
    ///   - requester: the user who asks for it.
    ///   - progress: gets how many rows are gone, and how many there were, for each recording.
    /// - Returns: what is gone; ``SubjectErasure/hindrance`` where something of it is still to be done.
    /// - Throws: ``StorageError/refused(reason:)`` where a recording goes on; `diskFull` where the room is not there. Nothing
    ///   was changed then.
    package func forget(
        subject: String, by requester: String, at now: MonotonicTime,
        progress: (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
    ) throws(StorageError) -> SubjectErasure {
        try requireRoomToCompact()
        var erasure = SubjectErasure()
        let recordings = try recordings(ofSubject: subject)
        try requireEnd(of: recordings)
        erasure.remaining = recordings.map(\.rawValue)
        do throws(StorageError) {
            try execute("PRAGMA secure_delete = ON")
            // Names first: who goes on after an interruption learns them from the recordings.
            let names = try names(of: subject, recordings)
            let streams = try uuids(of: recordings)
            for name in names { try eraseEdits(naming: name) }
            for recording in recordings {
                try eraseCaptures(of: recording)
                try control.delete(recording, means: .forget, by: requester, at: now, progress: progress)
                erasure.recordings.append(recording.rawValue)
                erasure.remaining.removeAll { $0 == recording.rawValue }
            }
            for name in names { erasure.mentions += try columns(naming: name) }
            // Before what another program may hinder.
            try eraseBeside(of: streams, &erasure)
            try compact()
        } catch {
            erasure.hindrance = error
        }
        return erasure
    }

    /// True where a participant was erased from this database before, wholly or in part.
    package func hasForgotten() throws(StorageError) -> Bool { try deletions().contains { $0.means == .forget } }

    /// Throws where a recording is wanted: its deletion would be refused when others are gone already.
    private func requireEnd(of recordings: [RecordingID]) throws(StorageError) {
        let wanted = try database.read { db in
            try Int64.fetchAll(
                db,
                sql: """
                    SELECT id FROM recording WHERE desired_state <> 'stopped'
                        AND id NOT IN (SELECT recording_id FROM deletion) ORDER BY id
                    """)
        }
        guard let number = recordings.map(\.rawValue).first(where: wanted.contains) else { return }
        throw .refused(
            reason: "recording \(number) is wanted: it is being recorded, or goes on with the next `eegsync run`; stop it "
                + "first (eegsync record stop)")
    }

    /// Erases what is beside the database: lines of the witness, and copies that this program has made.
    private func eraseBeside(of streams: Set<String>, _ erasure: inout SubjectErasure) throws(StorageError) {
        guard let path else { return }
        eraseWitness(of: streams.union(try forgottenStreams()), beside: path)
        let leftovers = HousekeepingFiles(of: path)
        erasure.removedFiles = leftovers.olderStates.filter { unlink($0) == 0 }
        erasure.otherFiles = leftovers.keptAside
        SchemaSnapshot.synchroniseDirectory(of: path)
    }

    private func execute(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws(StorageError) {
        try database.perform { writer in
            try writer.writeWithoutTransaction { db in try db.execute(sql: sql, arguments: arguments) }
        }
    }

    /// What the participant is called in the recordings.
    private func names(of subject: String, _ recordings: [RecordingID]) throws(StorageError) -> [String] {
        try database.read { db in
            var names: Set<String> = [subject]
            for recording in recordings {
                let row = try Row.fetchOne(
                    db,
                    sql: """
                        SELECT r.subject, d.subject_name FROM recording AS r
                        LEFT JOIN recording_detail AS d ON d.recording_id = r.id WHERE r.id = ?
                        """, arguments: [recording.rawValue])
                for name in [row?[0] as String?, row?[1] as String?] { if let name { names.insert(name) } }
            }
            return names.sorted()
        }
    }

    private func uuids(of recordings: [RecordingID]) throws(StorageError) -> Set<String> {
        try database.read { db in
            var uuids: Set<String> = []
            for recording in recordings {
                try uuids.formUnion(
                    String.fetchAll(
                        db, sql: "SELECT uuid FROM stream WHERE recording_id = ? AND uuid IS NOT NULL",
                        arguments: [recording.rawValue]))
            }
            return uuids
        }
    }

    /// The streams of all participants who were erased: an erasure that was interrupted may have left lines of theirs.
    private func forgottenStreams() throws(StorageError) -> Set<String> {
        try database.read { db in
            try String.fetchSet(
                db,
                sql: """
                    SELECT s.uuid FROM deleted_stream AS s JOIN deletion AS d ON d.id = s.deletion_id
                    WHERE d.means = 'forget' AND s.uuid IS NOT NULL
                    """)
        }
    }

    /// Captures hold what was on the air, samples included.
    private func eraseCaptures(of recording: RecordingID) throws(StorageError) {
        try database.write { db in
            try db.execute(
                sql: "DELETE FROM capture WHERE headset_id = (SELECT headset_id FROM recording WHERE id = ?)",
                arguments: [recording.rawValue])
        }
    }

    /// A recording that was someone else's by mistake still says who.
    private func eraseEdits(naming name: String) throws(StorageError) {
        try database.write { db in
            for column in ["before", "after"] {
                try db.execute(
                    sql: """
                        UPDATE recording_edit SET \(column) = NULL
                        WHERE field IN ('subject', 'subject_name') AND \(column) = ?
                        """, arguments: [name])
            }
        }
    }

    /// Columns of text in which a name stands, and of which recording.
    private func columns(naming name: String) throws(StorageError) -> [String] {
        let texts = [
            ("annotation", "description", "recording_id"), ("recording", "label", "id"), ("recording", "task", "id"),
            ("recording_detail", "notes", "recording_id"), ("recording_detail", "session", "recording_id"),
            ("recording_property", "value", "recording_id"), ("recording_edit", "before", "recording_id"),
            ("recording_edit", "after", "recording_id"),
        ]
        return try database.read { db in
            try texts.flatMap { table, column, owner in
                try Int64.fetchAll(
                    db, sql: "SELECT DISTINCT \(owner) FROM \(table) WHERE instr(lower(\(column)), lower(?)) > 0 ORDER BY 1",
                    arguments: [name]
                ).map { "\(table).\(column) of recording \($0)" }
            }
        }
    }

    /// The digests of chains identify what was in them to whoever has a copy.
    private func eraseWitness(of streams: Set<String>, beside path: String) {
        guard var witness = Witness.read(of: path) else { return }
        witness.heads.removeAll { streams.contains($0.stream) }
        witness.write(beside: path)
    }
}

/// Files beside a database that hold earlier states of it.
struct HousekeepingFiles {
    /// Copies from before the schema was changed, and what was refused of a spool: this program made them by itself.
    let olderStates: [String]
    /// What may be the only copy of what a person wants: the database of a newer version, after the way back, and what a
    /// database held that was deleted while it was recorded into.
    let keptAside: [String]

    init(of database: String) {
        let url = URL(fileURLWithPath: database)
        let directory = url.deletingLastPathComponent().path
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
        func paths(_ infixes: [String]) -> [String] {
            names.filter { name in infixes.contains { name.hasPrefix(url.lastPathComponent + $0) } }
                .map { directory + "/" + $0 }
        }
        olderStates = paths(["-before-", "-refused-", "-spool"])
        keptAside = paths(["-newer-", "-rescued-"])
    }
}
