import Bluetooth
import Foundation
import Glibc
import Synchronization

/// The keys of pairings over the kernel's sockets, in a file of their own beside the database: `<database>-keys`.
///
/// The database is for those who read recordings; the keys are for the process alone that loads them into the kernel. So the
/// file has mode 0600, whatever the database's. It is replaced as a whole: at each instant its name leads to what was kept
/// before, or to what is kept now, both on the disk.
final class PairingKeyFile: Sendable {
    /// Nil for a database in memory, whose keys live as long.
    let path: String?
    /// The database, whose owner owns the file.
    private let database: String?
    private let contents = Mutex<PairingKeys?>(nil)

    init(database: String?) {
        self.database = database
        path = database.map(Self.path(of:))
    }

    /// True where this process is the database's owner, or root, who gives the file to the owner.
    var isOwners: Bool {
        var facts = stat()
        guard geteuid() != 0, let database, stat(database, &facts) == 0 else { return true }
        return facts.st_uid == geteuid()
    }

    static func path(of database: String) -> String { database + "-keys" }

    /// What is kept; empty where there is no file.
    ///
    /// - Throws: `cannotOpen` where the file cannot be read, is a link or was written by a newer version.
    func keys() throws(StorageError) -> PairingKeys {
        try contents.withLock { (contents) throws(StorageError) in try Self.read(path, &contents) }
    }

    /// Keeps something else. Nothing is changed where that fails.
    ///
    /// - Throws: `diskFull`, `readOnly`, `cannotOpen`.
    func change(_ body: (inout PairingKeys) -> Void) throws(StorageError) {
        try contents.withLock { (contents) throws(StorageError) in
            let before = try Self.read(path, &contents)
            var keys = before
            body(&keys)
            guard keys != before else { return }
            try write(keys)
            contents = keys
        }
    }

    private static func read(_ path: String?, _ contents: inout PairingKeys?) throws(StorageError) -> PairingKeys {
        if let contents { return contents }
        let keys = try path.map { (path) throws(StorageError) in try read(path) } ?? PairingKeys()
        contents = keys
        return keys
    }

    /// The most bytes of such a file: thousands of keys.
    private static let sizeMaximum = 4 << 20

    private static func read(_ path: String) throws(StorageError) -> PairingKeys {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file < 0, errno == ENOENT { return PairingKeys() }
        guard file >= 0 else { throw .companion(path) }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw .cannotOpen(path: path, reason: "it is no regular file")
        }
        // Somebody has copied it, or restored it from somewhere: secret again from now on.
        if facts.st_mode & 0o077 != 0 { _ = fchmod(file, 0o600) }
        guard let data = try? handle.read(upToCount: sizeMaximum) else { throw .companion(path) }
        if let keys = PairingKeys(data) { return keys }
        // Half a file is none that this program has written. Headsets are paired anew; a person may look at what it was.
        guard PairingKeys.isOfNewerVersion(data) else {
            rename(path, path + "-damaged")
            return PairingKeys()
        }
        throw .cannotOpen(path: path, reason: "a newer version of eegsync has written it")
    }

    private func write(_ keys: PairingKeys) throws(StorageError) {
        guard let path, let database else { return }
        let temporary = path + ".new"
        unlink(temporary)
        let file = Glibc.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .companion(temporary) }
        defer { Glibc.close(file) }
        do throws(StorageError) {
            let bytes = keys.data
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count == bytes.count else { throw count < 0 ? .companion(temporary) : .diskFull(detail: temporary) }
            var original = stat()
            // Where root changes the schema, the daemon must be able to read it.
            if geteuid() == 0, stat(database, &original) == 0 { _ = fchown(file, original.st_uid, original.st_gid) }
            guard fchmod(file, 0o600) == 0, fsync(file) == 0, rename(temporary, path) == 0 else {
                throw .companion(temporary)
            }
        } catch {
            unlink(temporary)
            throw error
        }
        SchemaSnapshot.synchroniseDirectory(of: path)
    }
}

extension StorageError {
    /// A file beside the database that cannot be opened or written, by errno.
    static func companion(_ path: String, _ code: Int32 = errno) -> StorageError {
        let reason = String(cString: strerror(code))
        return switch code {
        case EROFS, EACCES, EPERM: .readOnly(detail: "\(path): \(reason)")
        case ENOSPC, EDQUOT: .diskFull(detail: "\(path): \(reason)")
        case ELOOP: .cannotOpen(path: path, reason: "it is a symbolic link, which eegsync does not follow; remove it")
        default: .cannotOpen(path: path, reason: reason)
        }
    }
}
