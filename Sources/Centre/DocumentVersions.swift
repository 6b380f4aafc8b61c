import Storage

/// Which version of what is said of a recording a centre has, as it counts them.
///
/// A version is asked before the database is read, and said with what is sent of it: so of two processes on one database the
/// later one puts nothing back that the other one has sent meanwhile. And what was taken away at the centre, or put back there,
/// has another one.
final class DocumentVersions {
    private let connection: CentreConnection
    private var versions: [RecordingID: Int64] = [:]

    /// - Returns: nil where the centre counts none.
    init?(_ connection: CentreConnection) throws(CentreError) {
        self.connection = connection
        let answer = try connection.execute("SELECT to_regprocedure('ship_document(jsonb, boolean, bigint)') IS NOT NULL")
        guard answer.first?.first == "t" else { return nil }
    }

    /// Asks for that of a recording, once on each connection.
    func ask(_ recording: RecordingID, uuid: () throws -> String) throws {
        guard versions[recording] == nil else { return }
        versions[recording] = try present(try uuid())
    }

    /// Sends all that is said of a recording, or what has changed.
    ///
    /// - Throws: `refused`, such that it is tried again, where the centre has another version than the one that is known here.
    func send(_ document: String, isWhole: Bool, of recording: RecordingID) throws(CentreError) {
        let supposed = "\(versions[recording] ?? 0)"
        let answer = try connection.execute(
            "SELECT ship_document($1, $2, $3)", [document, isWhole ? "t" : "f", supposed], isRepeated: true)
        versions[recording] = answer.first?.first.flatMap { $0 }.flatMap { Int64($0) }
    }

    /// That of a recording as it is known here, to be put back where a transaction with ``send(_:isWhole:of:)`` has failed.
    subscript(recording: RecordingID) -> Int64? {
        get { versions[recording] }
        set { versions[recording] = newValue }
    }

    private func present(_ uuid: String) throws(CentreError) -> Int64 {
        try connection.execute("SELECT ship_version($1)", [uuid]).first?.first.flatMap { $0 }.flatMap { Int64($0) } ?? 0
    }
}
