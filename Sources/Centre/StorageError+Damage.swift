import Storage

extension StorageError {
    /// What is wrong with a part of the database, whose other parts may be sound; nil for what concerns all of it.
    var damage: String? {
        switch self {
        case .corrupt(_, let detail): "the database is damaged where it stands: \(detail)"
        // 10 is SQLITE_IOERR: a sector that cannot be read.
        case .sqlite(let code, let detail) where code & 0xFF == 10: "it cannot be read from the disk: \(detail)"
        default: nil
        }
    }
}
