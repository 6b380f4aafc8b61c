import Glibc
import Synchronization

/// The hidden names of files that are being written, as far as they have one.
///
/// Whatever gets such a name gets it here: made and noted in one step, so that a signal finds either both or nothing.
package enum TemporaryNames {
    private struct State {
        var names: [String] = []
        var nameCount = 0
        /// What these begin with was removed by a signal that ends the process: nothing is made there any more.
        var ended: [String] = []

        func hasEnded(_ path: String) -> Bool { ended.contains { path.hasPrefix($0) } }
    }

    private static let own = Mutex(State())
    /// Held while files that belong together get their names. It is taken before ``own``, never after it.
    private static let publication = Mutex(())
    /// No other program's files end so.
    private static let ending = ".eegsync-partial"
    /// What SQLite may put beside a database.
    private static let companions = ["", "-journal", "-wal", "-shm"]

    /// Removes all unfinished files of this process that have a name, and lets it make no further ones; for a signal that
    /// ends it.
    ///
    /// - Parameter directory: Only there; tests run beside others.
    package static func removeAll(in directory: String = "") {
        publication.withLock { _ in
            own.withLock { own in
                own.ended.append(directory)
                for name in own.names where name.hasPrefix(directory) { unlinkAll(name) }
                own.names.removeAll { $0.hasPrefix(directory) }
            }
        }
    }

    /// Hidden, so that no pattern such as `*.edf` finds it, and another one each time.
    static func name(beside path: String) -> String {
        let (directory, name) = PartialFile.split(path)
        let number = own.withLock { own in
            own.nameCount += 1
            return own.nameCount
        }
        return "\(directory)/.\(name).\(getpid())-\(number)\(ending)"
    }

    /// Makes what has a hidden name, and notes it, with no moment between in which a signal would miss it.
    ///
    /// - Throws: ``ExportError`` where a signal has ended the process's exports already, or what `make` throws; it has made
    ///   nothing then.
    static func add(_ name: String, making make: (String) throws -> Void) throws {
        _ = try add(in: name) {
            try make(name)
            return name
        }
    }

    /// Makes what has a hidden name of the kernel's choice in a directory, and notes it.
    static func add(in directory: String, making make: () throws -> String) throws -> String {
        try own.withLock { own in
            guard !own.hasEnded(directory) else { throw ended(directory) }
            let name = try make()
            own.names.append(name)
            return name
        }
    }

    /// Makes what has a name only until `body` returns; a signal that ends the process waits meanwhile.
    ///
    /// - Throws: ``ExportError`` where a signal has ended the process's exports already.
    static func whileOneIsThere<Value>(_ name: String, _ body: (String) -> Value) throws -> Value {
        try own.withLock { own in
            guard !own.hasEnded(name) else { throw ended(name) }
            return body(name)
        }
    }

    /// Gives names to files that are worth nothing without each other; a signal that ends the process waits meanwhile.
    ///
    /// - Throws: ``ExportError`` where a signal has ended the process's exports already, or what `body` throws.
    static func publishTogether(_ path: String, _ body: () throws -> Void) throws {
        try publication.withLock { _ in
            guard !own.withLock({ $0.hasEnded(path) }) else { throw ended(path) }
            try body()
        }
    }

    private static func ended(_ path: String) -> ExportError {
        .cannotWrite(path: path, reason: "a signal ended the export")
    }

    static func forget(_ name: String) { own.withLock { own in own.names.removeAll { $0 == name } } }

    static func remove(_ name: String) {
        unlinkAll(name)
        forget(name)
    }

    private static func unlinkAll(_ name: String) {
        // A directory of unfinished files has no further ones in it.
        if unlink(name) != 0, errno == EISDIR {
            // What another thread adds meanwhile goes, too; it can add nothing to a directory that is gone.
            repeat {
                for file in DatasetDirectory.names(in: name) { unlink("\(name)/\(file)") }
            } while rmdir(name) != 0 && (errno == ENOTEMPTY || errno == EEXIST)
        }
        for companion in companions.dropFirst() { unlink(name + companion) }
    }

    /// Runs a piece of work that a signal does not interrupt, and takes a name off the list: what has it is complete then.
    ///
    /// - Throws: ``ExportError`` where a signal has come already, or what the work throws.
    static func whileSignalsWait(for name: String, _ body: () throws -> Void) throws {
        try own.withLock { own in
            guard let index = own.names.firstIndex(of: name) else { throw ended(name) }
            own.names.remove(at: index)
            try body()
        }
    }

    /// Removes what exports have left in a directory that were killed, files and directories: nobody holds its lock.
    static func removeAbandoned(in directory: String) {
        guard let folder = opendir(directory) else { return }
        defer { closedir(folder) }
        var abandoned: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            guard name.hasPrefix("."), name.hasSuffix(ending) else { continue }
            abandoned.append("\(directory)/\(name)")
        }
        for path in abandoned where !own.withLock({ $0.names.contains(path) }) {
            let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            guard file >= 0 else { continue }
            if flock(file, LOCK_EX | LOCK_NB) == 0 { unlinkAll(path) }
            close(file)
        }
    }
}
