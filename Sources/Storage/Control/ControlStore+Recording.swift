package import Bluetooth
import GRDB

/// What people say of a recording.
extension ControlStore {
    /// Says something of a recording instead of what was said before, all or nothing. What was said before is kept.
    ///
    /// - Parameter changes: what is said; nil to say nothing any more.
    /// - Returns: the fields that had said something else.
    /// - Throws: ``StorageError/notFound(what:)``, or ``StorageError/refused(reason:)`` for what the field cannot say.
    @discardableResult
    package func edit(
        _ recording: RecordingID, _ changes: [(field: RecordingField, value: String?)], at now: MonotonicTime
    ) throws(StorageError) -> [RecordingField] {
        for (field, value) in changes { try field.check(value) }
        return try write { db in
            try Self.requireRecording(recording, in: db)
            var changed: [RecordingField] = []
            for (field, value) in changes {
                let before = try field.value(of: recording, in: db)
                guard before != value else { continue }
                try field.set(value, of: recording, in: db)
                try db.execute(
                    sql: """
                        INSERT INTO recording_edit (recording_id, field, before, after, host_boot_id, boottime_ns)
                        VALUES (?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [recording.rawValue, field.name, before, value, hostBootID, now.nanoseconds])
                changed.append(field)
            }
            return changed
        }
    }
}

extension RecordingField {
    /// Throws where the field cannot say that.
    func check(_ value: String?) throws(StorageError) {
        if case .property(let key) = self, key.isEmpty || key.count > 64 {
            throw .refused(reason: "'\(key)' is no key: 1 ... 64 characters are allowed")
        }
        guard let value else { return }
        if value.isEmpty || value.count > RecordingField.lengthMaximum {
            throw .refused(reason: "\(name) has \(value.count) characters, and 1 ... \(RecordingField.lengthMaximum) fit")
        }
        if let words, !words.contains(value) {
            throw .refused(reason: "'\(value)' is no \(name): allowed are \(words.joined(separator: ", "))")
        }
        if self == .subjectBirthdate, !Self.isDate(value) {
            throw .refused(reason: "'\(value)' is no subject_birthdate: write it as 1990-12-31")
        }
    }

    /// True for a day of the Gregorian calendar, such as `1990-12-31`.
    private static func isDate(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], let year = Int(parts[0]), let month = Int(parts[1]),
            let day = Int(parts[2]), year >= 1, (1...12).contains(month)
        else { return false }
        let isLeap = year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...days[month - 1]).contains(day)
    }

    fileprivate func value(of recording: RecordingID, in db: Database) throws -> String? {
        switch self {
        case .property(let key):
            try String.fetchOne(
                db, sql: "SELECT value FROM recording_property WHERE recording_id = ? AND key = ?",
                arguments: [recording.rawValue, key])
        default:
            try String.fetchOne(
                db, sql: "SELECT \(name) FROM \(table ?? "") WHERE \(key) = ?", arguments: [recording.rawValue])
        }
    }

    func set(_ value: String?, of recording: RecordingID, in db: Database) throws {
        if case .property(let key) = self {
            guard let value else {
                return try db.execute(
                    sql: "DELETE FROM recording_property WHERE recording_id = ? AND key = ?",
                    arguments: [recording.rawValue, key])
            }
            return try db.execute(
                sql: """
                    INSERT INTO recording_property (recording_id, key, value) VALUES (?, ?, ?)
                    ON CONFLICT (recording_id, key) DO UPDATE SET value = excluded.value
                    """, arguments: [recording.rawValue, key, value])
        }
        if table == "recording_detail" {
            try db.execute(
                sql: "INSERT INTO recording_detail (recording_id) VALUES (?) ON CONFLICT (recording_id) DO NOTHING",
                arguments: [recording.rawValue])
        }
        try db.execute(
            sql: "UPDATE \(table ?? "") SET \(name) = ? WHERE \(key) = ?", arguments: [value, recording.rawValue])
    }

    /// The column of the recording's key in ``table``.
    private var key: String { table == "recording" ? "id" : "recording_id" }
}
