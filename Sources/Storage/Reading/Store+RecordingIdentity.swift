import GRDB

extension Store {
    /// The universal identifier of a recording, the same in every copy of it.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such recording.
    package func identity(of recording: RecordingID) throws(StorageError) -> String {
        try database.read { db in
            guard
                let uuid = try String.fetchOne(
                    db, sql: "SELECT uuid FROM recording WHERE id = ?", arguments: [recording.rawValue])
            else { throw StorageError.notFound(what: "recording \(recording.rawValue)") }
            return uuid
        }
    }
}
