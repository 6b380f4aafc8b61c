import GRDB

/// What rows of the other database are called here.
struct MergedKeys {
    /// Rows that have a number of their own, by which others name them.
    enum Kind: Hashable {
        case hostBoot, machine, headset, recording, stream, provenance, link, refit, annotation

        /// What a column names; nil for a plain value.
        init?(column: String) {
            switch column {
            case "headset_id": self = .headset
            case "recording_id": self = .recording
            case "stream_id": self = .stream
            case "machine_id": self = .machine
            case "provenance_id": self = .provenance
            case "link_id": self = .link
            case "refit_id": self = .refit
            case "replaces": self = .annotation
            case _ where column.hasSuffix("host_boot_id"): self = .hostBoot
            default: return nil
            }
        }
    }

    /// A row names one that is not there.
    struct Unknown: Error { let column: String, key: Int64 }

    private var keys: [Kind: [Int64: Int64]] = [:]

    subscript(kind: Kind, key: Int64) -> Int64? {
        get { keys[kind]?[key] }
        set { keys[kind, default: [:]][key] = newValue }
    }

    /// A value of a column, as it is here.
    ///
    /// - Throws: ``Unknown``.
    func value(_ value: DatabaseValue, of column: String) throws -> DatabaseValue {
        guard let kind = Kind(column: column), let key = Int64.fromDatabaseValue(value) else { return value }
        guard let here = self[kind, key] else { throw Unknown(column: column, key: key) }
        return here.databaseValue
    }

    /// Numbers beyond it are not taken over: those of later rows would follow them.
    private static let keyBound: Int64 = 1 << 32

    /// A number for a new row: the other database's where it is free here, so that exports are the same.
    ///
    /// - Parameter used: queries for the numbers that are used, or were.
    static func free(_ key: Int64, _ used: (table: String, column: String)..., in db: Database) throws -> Int64 {
        var highest: Int64 = 0
        var isUsed = !(1...keyBound).contains(key)
        for (table, column) in used {
            isUsed =
                try isUsed
                || Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(column) = ?)", arguments: [key])
                    ?? true
            highest = max(highest, try Int64.fetchOne(db, sql: "SELECT max(\(column)) FROM \(table)") ?? 0)
        }
        return isUsed ? highest + 1 : key
    }
}
