import Evidence
import Foundation
import GRDB
import GRDBSQLite

/// How many rows, and the sum of their digests.
struct OwnedSum: Hashable, Sendable {
    var rowCount: Int64 = 0
    var sum = DigestSum()

    mutating func add(_ digest: Digest) {
        rowCount += 1
        sum.add(digest)
    }

    var data: Data { Data(sum.bytes) }
}

/// What the triggers of ``DigestedTable`` compute with. They run several times a second for each stream: SQLite's values are
/// read where they lie.
enum RowDigestFunctions {
    /// Adds to a connection:
    ///
    /// - `row_digest(table, values...)`: the digest of one row, which is also the sum of it alone;
    /// - `digest_sum_with(sum, digest)` and `digest_sum_without(sum, digest)`: the sum with a row more, or less;
    /// - `digest_sum_changed(sum, table, values before..., values after...)`: the sum with a row changed.
    static func add(to db: Database) throws {
        try add("row_digest", -1, to: db) { context, count, values in
            RowDigestFunctions.answer(context) {
                guard let values, count > 0 else { return nil }
                return RowDigestFunctions.digest(values, table: values[0], from: 1, to: Int(count)).bytes
            }
        }
        try add("digest_sum_with", 2, to: db) { context, _, values in
            RowDigestFunctions.answer(context) { RowDigestFunctions.sum(values) { $0.add($1) } }
        }
        try add("digest_sum_without", 2, to: db) { context, _, values in
            RowDigestFunctions.answer(context) { RowDigestFunctions.sum(values) { $0.subtract($1) } }
        }
        try add("digest_sum_changed", -1, to: db) { context, count, values in
            RowDigestFunctions.answer(context) {
                guard let values, count >= 2, count.isMultiple(of: 2), var sum = DigestSum(RowDigestFunctions.blob(values[0]))
                else {
                    return nil
                }
                let half = (Int(count) - 2) / 2
                sum.subtract(RowDigestFunctions.digest(values, table: values[1], from: 2, to: 2 + half))
                sum.add(RowDigestFunctions.digest(values, table: values[1], from: 2 + half, to: Int(count)))
                return sum.bytes
            }
        }
    }

    /// The digest of a row's values.
    static func digest(table: String, of values: some Sequence<DatabaseValue>) -> Digest {
        var row = RowDigest(table: table)
        for value in values {
            switch value.storage {
            case .null: row.appendNull()
            case .int64(let integer): row.append(integer: integer)
            case .double(let real): row.append(real: real)
            case .string(let text): row.append(text: text.utf8)
            case .blob(let bytes): row.append(blob: bytes)
            }
        }
        return row.value
    }

    // MARK: SQLite's values

    private typealias Values = UnsafeMutablePointer<OpaquePointer?>
    private typealias Function = @convention(c) (OpaquePointer?, Int32, Values?) -> Void

    private static func add(_ name: String, _ argumentCount: Int32, to db: Database, _ function: Function) throws {
        let code = sqlite3_create_function_v2(
            db.sqliteConnection, name, argumentCount, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, function, nil, nil, nil)
        guard code == SQLITE_OK else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "the function \(name) cannot be added")
        }
    }

    /// Hands 32 bytes to SQLite, or the error that makes the statement fail.
    private static func answer(_ context: OpaquePointer?, _ body: () -> [UInt8]?) {
        guard let bytes = body() else { return sqlite3_result_error(context, "a sum of digests is not 32 bytes", -1) }
        // SQLITE_TRANSIENT: SQLite copies them. The macro is no expression that Swift imports.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_result_blob(context, bytes, Int32(bytes.count), transient)
    }

    private static func sum(_ values: Values?, _ change: (inout DigestSum, Digest) -> Void) -> [UInt8]? {
        guard let values, var sum = DigestSum(blob(values[0])), let digest = Digest(blob(values[1])) else { return nil }
        change(&sum, digest)
        return sum.bytes
    }

    private static func blob(_ value: OpaquePointer?) -> [UInt8] {
        guard sqlite3_value_type(value) == SQLITE_BLOB else { return [] }
        return Array(bytes(sqlite3_value_blob(value), of: value))
    }

    /// The bytes of a text or a blob. What points to them comes first: it may convert the value.
    private static func bytes(_ start: UnsafeRawPointer?, of value: OpaquePointer?) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
    }

    private static func text(_ value: OpaquePointer?) -> UnsafeRawBufferPointer {
        bytes(sqlite3_value_text(value).map { UnsafeRawPointer($0) }, of: value)
    }

    private static func digest(_ values: Values, table: OpaquePointer?, from first: Int, to end: Int) -> Digest {
        var row = RowDigest(table: text(table))
        for index in first..<end {
            let value = values[index]
            switch sqlite3_value_type(value) {
            case SQLITE_INTEGER: row.append(integer: sqlite3_value_int64(value))
            case SQLITE_FLOAT: row.append(real: sqlite3_value_double(value))
            case SQLITE_TEXT: row.append(text: text(value))
            case SQLITE_BLOB: row.append(blob: bytes(sqlite3_value_blob(value), of: value))
            default: row.appendNull()
            }
        }
        return row.value
    }
}
