import Glibc
import Storage

/// A file that is being written beside its final name, and gets that name only when it is complete.
///
/// Until then it has no name at all, so that the kernel removes it however this process ends (O_TMPFILE, open(2)). Where the
/// file system has no such files, it has a hidden name, and where SQLite has to open it by name, it is in a hidden directory:
/// a signal that ends the process removes them, and what `kill -9` has left is removed by the next export into the directory.
/// SQLite makes a file anew that was removed before it is opened, and others beside it; in a directory that is gone it cannot.
package final class PartialFile {
    /// The final name.
    let path: String
    /// How it is opened until then.
    private(set) var temporaryPath: String
    private(set) var byteCount: Int64 = 0
    private var descriptor: Int32
    private let isNamed: Bool
    /// What another database may have left beside the final name; nil for a file that is no database.
    private let leftLog: LeftLog?
    /// What has a hidden name, where anything has: the file, or the directory that it is in.
    private var hiddenName = ""
    /// Of the hidden directory, whose lock it holds; -1 where there is none.
    private var home: Int32 = -1
    /// What of the disk of the database is not filled; nil where the file is on another one.
    private let reserve: (path: String, reserve: DiskReserve)?
    /// How many bytes there are when the reserve is looked at next.
    private var nextLook: Int64 = 0
    /// So many bytes are written between two looks.
    private static let bytesBetweenLooks: Int64 = 16_000_000
    private var isPublished = false

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - isNamed: true where a program must find it by a path that is not this process's own.
    ///   - isDatabase: true for one of SQLite, beside whose name no log of another one may lie; a log that nobody uses goes
    ///     where `replacesExisting` is true.
    ///   - database: a database; none of its files is replaced, whatever is asked for, and the last of the disk that it is on
    ///     is left free.
    ///   - reserve: how much that is.
    /// - Throws: ``ExportError``; `ofDatabase`, `exists` where the final name is taken and `replacesExisting` is false,
    /// `leftLog`, `cannotWrite` where what has it is no regular file: a device, a pipe or a socket is never replaced.
    init(
        path: String, replacesExisting: Bool, isNamed: Bool = false, isDatabase: Bool = false,
        sparing database: String? = nil, reserve: DiskReserve = DiskReserve()
    ) throws {
        self.path = path
        let log = isDatabase ? LeftLog(path: path) : nil
        leftLog = log
        let (directory, _) = Self.split(path)
        self.reserve = database.flatMap { Self.areOnOneDisk(directory, $0) ? ($0, reserve) : nil }
        descriptor = -1
        temporaryPath = ""
        // Before anything opens it: who closes a file gives back the locks that SQLite has on it in this process.
        if let database, DatabaseFiles(of: database).has(path) {
            self.isNamed = false
            throw ExportError.ofDatabase(path: path, database: database)
        }
        if let reason = Self.reasonToKeep(path) {
            self.isNamed = false
            throw ExportError.cannotWrite(path: path, reason: reason)
        }
        guard replacesExisting || access(path, F_OK) != 0 else {
            self.isNamed = false
            throw ExportError.exists(path: path)
        }
        do {
            try log?.check(isRemoved: replacesExisting)
        } catch {
            self.isNamed = false
            throw error
        }
        TemporaryNames.removeAbandoned(in: directory)
        descriptor = isNamed ? -1 : open(directory, Self.unnamed | O_RDWR | O_CLOEXEC, 0o644)
        temporaryPath = "/proc/self/fd/\(descriptor)"
        self.isNamed = descriptor < 0 || access(temporaryPath, R_OK) != 0
        guard self.isNamed else { return }
        if descriptor >= 0 { close(descriptor) }
        hiddenName = TemporaryNames.name(beside: path)
        temporaryPath = isNamed ? hiddenName + "/" + Self.split(path).name : hiddenName
        descriptor = -1
        try TemporaryNames.add(hiddenName, making: isNamed ? makeHome : makeFile)
        // By this lock an export of another process sees that this one lives.
        let lock = isNamed ? home : descriptor
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { throw failure() }
    }

    deinit {
        if isNamed, !isPublished { TemporaryNames.remove(hiddenName) }
        for opened in [descriptor, home] where opened >= 0 { close(opened) }
    }

    /// Why what has a name is not replaced, whoever asks for it; nil where nothing has it, or a regular file.
    ///
    /// A symbolic link to a file is replaced itself; one to something else, as `/dev/stdout` often is, is kept, too.
    private static func reasonToKeep(_ path: String) -> String? {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return nil }
        if facts.st_mode & S_IFMT == S_IFLNK, stat(path, &facts) != 0 { return nil }
        switch facts.st_mode & S_IFMT {
        case S_IFREG: return nil
        case S_IFDIR: return "it is a directory"
        default: return "it is no regular file"
        }
    }

    private func makeHome(_ name: String) throws {
        guard mkdir(name, 0o700) == 0 else { throw failure() }
        home = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        do {
            guard home >= 0 else { throw failure() }
            try makeFile(temporaryPath)
        } catch {
            rmdir(name)
            throw error
        }
    }

    private func makeFile(_ name: String) throws {
        unlink(name)
        descriptor = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure() }
    }

    /// O_TMPFILE, which Swift does not import: its bit of asm-generic/fcntl.h, and O_DIRECTORY.
    private static let unnamed = 0o20_000_000 | O_DIRECTORY

    /// Appends bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard let base = bytes.baseAddress else { return }
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(descriptor, base + done, bytes.count - done)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            done += count
        }
        byteCount += Int64(done)
        guard byteCount >= nextLook else { return }
        nextLook = byteCount + Self.bytesBetweenLooks
        try requireRoom(for: 0)
    }

    /// Throws where so many bytes more would fill what is kept free of the disk of the database.
    func requireRoom(for bytes: Int64) throws {
        guard let reserve else { return }
        do {
            try reserve.reserve.require(bytes, at: reserve.path, for: "an export")
        } catch {
            throw ExportError.diskFull(path: path)
        }
    }

    /// Whether two paths name one file.
    package static func isSame(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_ino == second.st_ino
            && first.st_dev == second.st_dev
    }

    private static func areOnOneDisk(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev
    }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }

    /// Replaces bytes that were written before.
    func overwrite(_ bytes: [UInt8], at offset: Int64) throws {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, Int(offset) + done) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            done += count
        }
    }

    /// Forgets everything that was written.
    func restart() throws {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw failure() }
        byteCount = 0
    }

    /// Takes note of what another program has written into the file.
    func measure() {
        byteCount = Int64(lseek(descriptor, 0, SEEK_END))
    }

    /// Waits until the bytes are on the disk.
    func synchronize() throws {
        guard fsync(descriptor) == 0 else { throw failure() }
    }

    /// Gives the file its final name. Call ``synchronize()`` before.
    func publish(replacesExisting: Bool) throws {
        // A program may have come and gone since the file was begun.
        try leftLog?.check(isRemoved: replacesExisting)
        if replacesExisting {
            try leftLog?.remove()
            try replace()
        } else if link(to: path) {
            // A link, unlike a rename, never replaces a file that appeared meanwhile.
            if isNamed { TemporaryNames.remove(hiddenName) }
        } else if errno == EEXIST {
            throw ExportError.exists(path: path)
        } else {
            // File systems of memory sticks have no links.
            guard isNamed, access(path, F_OK) != 0 else { throw isNamed ? ExportError.exists(path: path) : failure() }
            try replace()
        }
        isPublished = true
        // The name, too, is to survive a power cut; where a directory cannot be synchronised nothing is lost but that.
        let directory = open(Self.split(path).directory, O_RDONLY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
    }

    private func link(to name: String) -> Bool {
        isNamed
            ? Glibc.link(temporaryPath, name) == 0
            : linkat(AT_FDCWD, temporaryPath, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0
    }

    /// A link never replaces, a rename needs a name: so a file without one gets a hidden name first.
    private func replace() throws {
        var name = temporaryPath
        if !isNamed {
            name = TemporaryNames.name(beside: path)
            hiddenName = name
            try TemporaryNames.add(name) { name in
                unlink(name)
                guard link(to: name) else { throw failure() }
            }
        }
        guard rename(name, path) == 0 else {
            let failure = failure()
            TemporaryNames.remove(hiddenName)
            throw failure
        }
        if home >= 0 { TemporaryNames.remove(hiddenName) } else { TemporaryNames.forget(hiddenName) }
    }

    /// Writes to another descriptor from now on; tests give it a full device.
    func replaceDescriptor(_ other: Int32) {
        close(descriptor)
        descriptor = other
    }

    /// The directory and the last component of a path.
    static func split(_ path: String) -> (directory: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let directory = path[..<slash]
        return (directory.isEmpty ? "/" : String(directory), String(path[path.index(after: slash)...]))
    }

    private func failure() -> ExportError {
        let code = errno
        if code == ENOSPC || code == EDQUOT { return .diskFull(path: path) }
        return .cannotWrite(path: path, reason: String(cString: strerror(code)))
    }
}
