import Glibc
import Synchronization

/// Which files a database was opened as, and what their names lead to by now. Whoever deletes, moves or replaces the file under
/// a process that has it open takes only its name: the process goes on with a file that nobody else finds any more, and that is
/// gone when it ends (unlink(2)).
package final class OpenedFile: Sendable {
    /// What a name leads to.
    package enum Finding: Hashable, Sendable {
        /// The file that was opened.
        case same
        /// No file.
        case nothing
        /// Another file.
        case another
    }

    /// A file, whatever its names.
    private struct Identity: Hashable {
        var device: UInt64
        var number: UInt64

        init(_ facts: stat) { (device, number) = (UInt64(facts.st_dev), UInt64(facts.st_ino)) }

        init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            self.init(facts)
        }
    }

    let path: String
    private let database: Identity
    /// The log and what readers share, by their names' endings. SQLite keeps to them for as long as a connection is open.
    private let companions: [(ending: String, file: Identity)]
    private let isLost = Atomic(false)

    /// To be made once SQLite has the database and its log open.
    init?(path: String) {
        guard let database = Identity(path) else { return nil }
        self.path = path
        self.database = database
        companions = ["-wal", "-shm"].compactMap { ending in Identity(path + ending).map { (ending, $0) } }
    }

    /// What a path leads to; nil where that cannot be seen just now, as on a network that is away.
    package func finding(at path: String) -> Finding? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return [ENOENT, ENOTDIR].contains(errno) ? Finding.nothing : nil }
        return Identity(facts) == database ? .same : .another
    }

    /// How the file is found without its name: the path that it has by now, and how many names are left.
    var present: (path: String, names: Int)? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            var facts = stat()
            let descriptor = "/proc/self/fd/" + name
            guard stat(descriptor, &facts) == 0, Identity(facts) == database else { continue }
            return (DatabaseFiles.target(ofLink: descriptor) ?? path, Int(facts.st_nlink))
        }
        return nil
    }

    /// True once the path was found to lead elsewhere, and until it leads to the file again: nothing is opened by it then.
    var isLeft: Bool { isLost.load(ordering: .acquiring) }

    func setLeft(_ isLeft: Bool) { isLost.store(isLeft, ordering: .releasing) }

    /// Takes the names of the log and of what readers share away, where they are still those of this database: SQLite would
    /// take them for another one's that gets the path, and write the pages of the one into the other
    /// (https://www.sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use).
    func removeNames() {
        for (ending, file) in companions where Identity(path + ending) == file { unlink(path + ending) }
    }
}
