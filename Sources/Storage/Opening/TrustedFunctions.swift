import GRDB
import GRDBSQLite

/// The functions of JSON that eegsync's own schema uses, made usable where the schema of a database is not trusted.
///
/// SQLite vouches for most of its functions (SQLITE_INNOCUOUS), but in the versions that Debian has not for those of JSON,
/// which read nothing but their arguments. A function of the same name that does vouch, and asks SQLite's own, stands in for
/// each.
enum TrustedFunctions {
    /// The names, and as statements what SQLite answers.
    private static let functions: [(name: String, argumentCount: Int32, sql: String)] = [
        ("json_valid", 1, "SELECT json_valid(?1)"),
        ("->>", 2, "SELECT ?1 ->> ?2"),
    ]

    /// Adds them to a connection, and trusts the schema with nothing else.
    static func distrustSchema(of db: Database) throws {
        let delegate = JSONConnection()
        for function in functions {
            let statement = JSONStatement(connection: delegate, sql: function.sql, argumentCount: function.argumentCount)
            let code = sqlite3_create_function_v2(
                db.sqliteConnection, function.name, function.argumentCount,
                SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, Unmanaged.passRetained(statement).toOpaque(),
                { context, count, values in
                    guard let data = sqlite3_user_data(context) else { return }
                    Unmanaged<JSONStatement>.fromOpaque(data).takeUnretainedValue().answer(context, count, values)
                }, nil, nil, { data in data.map { Unmanaged<JSONStatement>.fromOpaque($0).release() } })
            guard code == SQLITE_OK else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "\(function.name) cannot be added")
            }
        }
        try db.execute(sql: "PRAGMA trusted_schema = OFF")
    }
}

/// A database in memory, without a schema, that only computes; opened when something is first computed.
private final class JSONConnection {
    private(set) lazy var handle: OpaquePointer? = {
        var handle: OpaquePointer?
        sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        return handle
    }()

    deinit { sqlite3_close_v2(handle) }
}

/// One of its statements. Used by one connection, which is used by one thread at a time.
private final class JSONStatement {
    private let connection: JSONConnection
    private let sql: String
    private let argumentCount: Int32
    private lazy var handle: OpaquePointer? = {
        var handle: OpaquePointer?
        sqlite3_prepare_v2(connection.handle, sql, -1, &handle, nil)
        return handle
    }()

    init(connection: JSONConnection, sql: String, argumentCount: Int32) {
        (self.connection, self.sql, self.argumentCount) = (connection, sql, argumentCount)
    }

    deinit { sqlite3_finalize(handle) }

    func answer(_ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let handle, let values, count == argumentCount else { return sqlite3_result_error_nomem(context) }
        for index in 0..<count { sqlite3_bind_value(handle, index + 1, values[Int(index)]) }
        if sqlite3_step(handle) == SQLITE_ROW {
            sqlite3_result_value(context, sqlite3_column_value(handle, 0))
        } else {
            sqlite3_result_error(context, sqlite3_errmsg(connection.handle), -1)
        }
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }
}
