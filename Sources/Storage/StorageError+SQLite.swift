import GRDB

extension StorageError {
    /// Translates any error of the database layer; result codes: https://www.sqlite.org/rescode.html
    init(_ error: any Error, path: String) {
        if let error = error as? StorageError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self = .sqlite(code: 1, detail: "\(error)")
            return
        }
        // SQLite's own words and code: a person has no use for the statement.
        let detail = "\(error.message ?? "no reason was given") (SQLite code \(error.extendedResultCode.rawValue))"
        switch error.resultCode {
        case .SQLITE_CANTOPEN: self = .cannotOpen(path: path, reason: error.message ?? "no reason was given")
        case .SQLITE_NOTADB, .SQLITE_CORRUPT: self = .corrupt(path: path, detail: detail)
        case .SQLITE_FULL: self = .diskFull(detail: detail)
        case .SQLITE_READONLY where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK: self = .leftJournal(path: path)
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: self = .readOnly(detail: detail)
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy(detail: detail)
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH: self = .constraint(detail: detail)
        default: self = .sqlite(code: error.extendedResultCode.rawValue, detail: detail)
        }
    }
}
