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
    /// - Parameters:
    ///   - requester: the user who asks for it.
    ///   - progress: gets how many rows are gone, and how many there were, for each recording.
    /// - Throws: ``StorageError/refused(reason:)`` where a recording goes on; `diskFull`, `busy`.
    package func forget(
        subject: String, by requester: String, at now: MonotonicTime,
        progress: (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
    ) throws(StorageError) -> SubjectErasure {
        try requireRoomToCompact()
        var erasure = SubjectErasure()
        let recordings = try recordings(ofSubject: subject)
        let names = try names(of: subject, recordings)
        let streams = try uuids(of: recordings)
        try execute("PRAGMA secure_delete = ON")
        for recording in recordings {
            try eraseCaptures(of: recording)
            try control.delete(recording, means: .forget, by: requester, at: now, progress: progress)
            erasure.recordings.append(recording.rawValue)
        }
        for name in names { try eraseEdits(naming: name) }
        for name in names { erasure.mentions += try columns(naming: name) }
        try compact()
        guard let path else { return erasure }
        eraseWitness(of: streams, beside: path)
        let leftovers = HousekeepingFiles(of: path)
        erasure.removedFiles = leftovers.olderStates.filter { unlink($0) == 0 }
        erasure.otherFiles = leftovers.keptAside
        SchemaSnapshot.synchroniseDirectory(of: path)
        return erasure
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
    /// What a person has asked for: the database of a newer version, after the way back.
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
        keptAside = paths(["-newer-"])
    }
}
