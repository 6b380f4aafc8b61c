import Foundation
import GRDB

/// A value of a small table that comes back from a centre.
package enum FetchedValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])

    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let integer): integer.databaseValue
        case .real(let real): real.databaseValue
        case .text(let text): text.databaseValue
        case .bytes(let bytes): Data(bytes).databaseValue
        }
    }
}

/// Rows of a small table that come back from a centre, as a machine's database has them.
package struct FetchedTable: Hashable, Sendable {
    /// The table; a name of this program, not of the centre.
    package var name: String
    /// Its columns, as SQL; names of this program, too.
    package var columns: [String]
    /// For each row as many values as there are columns.
    package var rows: [[FetchedValue]]

    package init(name: String, columns: [String], rows: [[FetchedValue]]) {
        (self.name, self.columns, self.rows) = (name, columns, rows)
    }
}
