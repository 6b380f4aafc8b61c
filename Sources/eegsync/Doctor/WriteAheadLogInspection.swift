import Foundation
import Glibc
import Storage

/// A write-ahead log that has outgrown its bound, and who keeps it from beginning anew.
///
/// SQLite writes the log from its beginning again once everything in it is in the database and nobody reads it. A read
/// transaction that somebody has forgotten makes it grow as long as the recording goes on; no error shows it until the disk
/// is full.
struct GrownLog: Hashable, Encodable {
    /// A process that has the database open.
    struct Holder: Hashable, Encodable {
        var pid: Int32
        var name: String
        /// True where it is inside a transaction; false where that is not known.
        var hasTransaction: Bool
    }

    var bytes: Int64
    /// What it should not exceed.
    var boundBytes = StoreOptions.writeAheadLogBound
    /// Those in a transaction, or, where none was found, all others that have the database open.
    var holders: [Holder]

    /// What is wrong.
    var sentence: String {
        let log = "the write-ahead log has grown to \(Quantity.bytes(bytes))"
        let names = holders.map { "\($0.name.printable) (pid \($0.pid))" }.joined(separator: ", ")
        if holders.isEmpty { return "\(log); who keeps it from beginning anew was not found, as far as this user may look" }
        if holders.contains(where: \.hasTransaction) {
            return "\(log) and goes on growing while a transaction is open in \(names)"
        }
        return "\(log); the database is also open in \(names)"
    }

    /// What a person can do.
    var remedy: String {
        let pids = holders.map { "\($0.pid)" }.joined(separator: " ")
        if holders.isEmpty {
            return "look again in a minute, as root: sudo eegsync doctor; a log that nobody reads begins anew"
        }
        return "end the transaction there (COMMIT or .quit), or that program: kill \(pids); the log then begins anew by itself"
    }
}

/// Looks for what a grown write-ahead log has to do with.
struct WriteAheadLogInspection {
    let files: SystemFiles
    /// Processes that are not meant: this one, and the daemon, which opens transactions of milliseconds.
    var others: Set<Int32> = [getpid()]

    /// SQLite's locks on the shared memory file that readers hold during a transaction: WAL_READ_LOCK of wal.c, 120 + 3 to 7.
    private static let readLocks: ClosedRange<Int64> = 123...127
    /// The one that whoever writes holds: WAL_WRITE_LOCK of wal.c, 120 + 0.
    private static let writeLock: ClosedRange<Int64> = 120...120

    /// - Returns: nil where the log is as small as it should be.
    func grownLog(of store: some Store, bound: Int64 = StoreOptions.writeAheadLogBound) -> GrownLog? {
        guard let path = store.path, store.writeAheadLogBytes > bound else { return nil }
        let inTransaction = readers(of: path)
        let holders = inTransaction.isEmpty ? openers(of: path) : inTransaction
        return GrownLog(bytes: store.writeAheadLogBytes, boundBytes: bound, holders: holders)
    }

    /// Those that hold a lock of a reader.
    private func readers(of path: String) -> [GrownLog.Holder] { holders(of: path, "READ", Self.readLocks) }

    /// Those that are inside a transaction that writes, so that nobody else can commit.
    func writers(of path: String) -> [GrownLog.Holder] { holders(of: path, "WRITE", Self.writeLock) }

    /// Those that hold a lock, by proc_locks(5): lines such as
    /// `3: POSIX  ADVISORY  READ 812 fd:00:131074 124 124`. Everybody may read them.
    private func holders(of path: String, _ kind: String, _ range: ClosedRange<Int64>) -> [GrownLog.Holder] {
        var file = stat()
        guard stat(path + "-shm", &file) == 0 else { return [] }
        var pids: Set<Int32> = []
        for line in (files.text("/proc/locks") ?? "").split(separator: "\n") {
            let fields = line.split(separator: " ")
            // The number of the file alone: of some file systems the device differs from what stat(2) says.
            guard fields.count == 8, fields[3] == kind, fields[5].hasSuffix(":\(file.st_ino)"), let pid = Int32(fields[4]),
                let first = Int64(fields[6]), let last = Int64(fields[7]), pid > 0, !others.contains(pid),
                first <= range.upperBound, last >= range.lowerBound
            else { continue }
            pids.insert(pid)
        }
        return pids.sorted().map { GrownLog.Holder(pid: $0, name: name(of: $0), hasTransaction: true) }
    }

    /// Those that have one of the database's files open, as far as this user may look.
    private func openers(of path: String) -> [GrownLog.Holder] {
        let wanted = [path, path + "-wal", path + "-shm"].compactMap { FileIdentity(path: $0) }
        return files.names(in: "/proc").compactMap { Int32($0) }.sorted().compactMap { pid in
            guard !others.contains(pid) else { return nil }
            let folder = "/proc/\(pid)/fd"
            let isOpen = files.names(in: folder).contains { name in
                FileIdentity(path: "\(files.root)\(folder)/\(name)").map(wanted.contains) ?? false
            }
            return isOpen ? GrownLog.Holder(pid: pid, name: name(of: pid), hasTransaction: false) : nil
        }
    }

    private func name(of pid: Int32) -> String { files.text("/proc/\(pid)/comm") ?? "a process" }
}

/// Which file a path leads to.
private struct FileIdentity: Hashable {
    let device: UInt
    let number: UInt

    init?(path: String) {
        var file = stat()
        guard stat(path, &file) == 0 else { return nil }
        device = UInt(file.st_dev)
        number = UInt(file.st_ino)
    }
}
