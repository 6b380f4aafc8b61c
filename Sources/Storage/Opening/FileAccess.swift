import Foundation
import Glibc

/// Whether this user may reach and read a database file: a directory that may not be searched looks like one in which nothing
/// is.
struct FileAccess {
    let path: String

    /// Throws where the file, or a directory above it, is closed to this user.
    ///
    /// - Throws: ``StorageError/denied(path:group:)``.
    func check() throws(StorageError) {
        var file = stat()
        if stat(path, &file) == 0 {
            guard access(path, R_OK) != 0, errno == EACCES else { return }
            throw .denied(path: path, group: Self.group(of: file, mayDo: S_IRGRP))
        }
        guard errno == EACCES else { return }
        throw .denied(path: path, group: closedDirectoryGroup)
    }

    /// True where nothing can be written beside the file, whoever asks.
    var isOnReadOnlyFileSystem: Bool {
        var system = statvfs()
        return statvfs(path, &system) == 0 && system.f_flag & UInt(ST_RDONLY) != 0
    }

    /// The group of the first directory on the way that this user may not search.
    private var closedDirectoryGroup: String? {
        var directory = URL(fileURLWithPath: path).deletingLastPathComponent()
        var file = stat()
        // The lowest directory that can be looked at is the one that cannot be searched.
        while stat(directory.path, &file) != 0 {
            guard directory.path != "/" else { return nil }
            directory.deleteLastPathComponent()
        }
        return Self.group(of: file, mayDo: S_IXGRP)
    }

    /// The group that the mode of a file allows something; nil where it allows that to none but the owner, or to root alone.
    private static func group(of file: stat, mayDo bit: mode_t) -> String? {
        guard file.st_mode & bit != 0, file.st_gid != 0 else { return nil }
        var entry = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 4096)
        guard getgrgid_r(file.st_gid, &entry, &buffer, buffer.count, &found) == 0, found != nil, let name = entry.gr_name else {
            return nil
        }
        return String(cString: name)
    }
}
