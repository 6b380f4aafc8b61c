import Glibc

/// A directory beside a file, of its owner alone (0700), for what is thrown away when a piece of work is done.
///
/// Whatever ends the work, the directory goes with all that is in it: an error, and a signal that ends the process
/// (``TemporaryNames/removeAll(in:)``). What `kill -9` has left is removed by the next one, or by the next export, beside it.
package enum HiddenDirectory {
    /// Runs a piece of work that has such a directory.
    ///
    /// - Throws: ``ExportError`` where it cannot be made, or what the work throws.
    package static func during<Value>(beside file: String, _ body: (_ path: String) throws -> Value) throws -> Value {
        removeAbandoned(beside: file)
        let path = TemporaryNames.name(beside: file)
        var descriptor: Int32 = -1
        defer { if descriptor >= 0 { close(descriptor) } }
        try TemporaryNames.add(path) { path in
            guard mkdir(path, 0o700) == 0 else { throw failure(path) }
            // By this lock another process sees that this one lives.
            descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let failure = failure(path)
                rmdir(path)
                throw failure
            }
        }
        defer { TemporaryNames.remove(path) }
        return try body(path)
    }

    /// Removes what processes that were killed have left beside a file.
    package static func removeAbandoned(beside file: String) {
        TemporaryNames.removeAbandoned(in: PartialFile.split(file).directory)
    }

    private static func failure(_ path: String) -> ExportError {
        let code = errno
        if code == ENOSPC || code == EDQUOT { return .diskFull(path: path) }
        return .cannotWrite(path: path, reason: String(cString: strerror(code)))
    }
}
