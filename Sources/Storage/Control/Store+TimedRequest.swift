import Bluetooth
import GRDB

/// A table of timed requests.
enum RequestTable: String {
    case capture
    case impedanceMeasurement = "impedance_measurement"

    /// The desired state of a request that is wanted.
    var wantedState: String {
        switch self {
        case .capture: "capturing"
        case .impedanceMeasurement: "measuring"
        }
    }
}

/// Timed requests: written by a command, followed by the acquisition, removed by the command.
extension Store {
    /// Requests that nobody cares for any more are removed.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where the database has no such headset.
    func start(
        _ table: RequestTable, headset: String, at now: MonotonicTime, until end: MonotonicTime
    ) throws(StorageError) -> Int64 {
        guard let id = try self.headset(named: headset) else { throw StorageError.notFound(what: "headset \(headset)") }
        let hostBoot = try requireHostBoot()
        let request = try connection.write { db in
            try db.execute(
                sql: "DELETE FROM \(table.rawValue) WHERE host_boot_id <> ? OR end_boottime_ns < ?",
                arguments: [hostBoot, (now - .seconds(60)).nanoseconds])
            try db.execute(
                sql: """
                    INSERT INTO \(table.rawValue)
                        (headset_id, desired_state, host_boot_id, requested_boottime_ns, end_boottime_ns)
                    VALUES (?, ?, ?, ?, ?)
                    """, arguments: [id.rawValue, table.wantedState, hostBoot, now.nanoseconds, end.nanoseconds])
            return db.lastInsertedRowID
        }
        noteControlChange()
        return request
    }

    /// Lets a request go on until `end`.
    func extend(_ table: RequestTable, _ request: Int64, until end: MonotonicTime) throws(StorageError) {
        try change("UPDATE \(table.rawValue) SET end_boottime_ns = ? WHERE id = ?", [end.nanoseconds, request])
    }

    /// Wants a request ended.
    func stop(_ table: RequestTable, _ request: Int64) throws(StorageError) {
        try change("UPDATE \(table.rawValue) SET desired_state = 'stopped' WHERE id = ?", [request])
    }

    /// Removes a request.
    func remove(_ table: RequestTable, _ request: Int64) throws(StorageError) {
        try change("DELETE FROM \(table.rawValue) WHERE id = ?", [request])
    }

    private func change(_ sql: String, _ arguments: StatementArguments) throws(StorageError) {
        try connection.write { db in try db.execute(sql: sql, arguments: arguments) }
        noteControlChange()
    }

    /// Requests that the acquisition has to care for.
    func open<ID: RawRepresentable<Int64>>(_ table: RequestTable, as type: ID.Type) throws(StorageError) -> [TimedRequest<ID>] {
        try connection.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT id, headset_id, desired_state = ? AND host_boot_id IS ? AS wanted, end_boottime_ns
                    FROM \(table.rawValue) WHERE is_complete = 0 ORDER BY id
                    """, arguments: [table.wantedState, hostBootID]
            ).compactMap { row in
                ID(rawValue: row["id"]).map {
                    TimedRequest(
                        id: $0, headset: HeadsetID(rawValue: row["headset_id"]), isWanted: row["wanted"],
                        end: MonotonicTime(nanoseconds: row["end_boottime_ns"]))
                }
            }
        }
    }

    /// Whether the acquisition has done with a request; true for one that is not there any more.
    static func isComplete(_ table: RequestTable, _ request: Int64, in db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT is_complete FROM \(table.rawValue) WHERE id = ?", arguments: [request]) ?? true
    }
}
