import Glibc

/// The room on a file system, for this user.
package struct DiskRoom: Hashable, Sendable {
    package var freeBytes: Int64
    package var totalBytes: Int64

    package init(freeBytes: Int64, totalBytes: Int64) {
        (self.freeBytes, self.totalBytes) = (freeBytes, totalBytes)
    }

    /// The file system of a file or directory; nil where it is not there.
    package init?(of path: String) {
        var system = statvfs()
        guard statvfs(path, &system) == 0 else { return nil }
        let size = Int64(clamping: system.f_frsize)
        self.init(
            freeBytes: Int64(clamping: system.f_bavail).multipliedClamping(size),
            totalBytes: Int64(clamping: system.f_blocks).multipliedClamping(size))
    }

    /// What is kept free: the last 200 MB, of a small disk its last tenth.
    package var reserve: Int64 { min(DiskReserve.bytesMaximum, totalBytes / 10) }

    /// What may be filled.
    package var usableBytes: Int64 { max(0, freeBytes - reserve) }
}

/// The last of the disk that the database is on, which nothing of this program fills: a full disk breaks other programs, and
/// leaves no room to mend it.
package struct DiskReserve: Sendable {
    /// 200 MB: what a system needs to be logged into, to write its journal, and to be mended.
    package static let bytesMaximum: Int64 = 200_000_000
    /// Free pages of a database that make a commit without any growth of the file: some minutes of every headset.
    static let freePageBytes: Int64 = 16_000_000

    private let measure: @Sendable (String) -> DiskRoom?

    /// - Parameter measure: the room of a path's file system; the kernel's own answer by default.
    package init(measure: @escaping @Sendable (_ path: String) -> DiskRoom? = { DiskRoom(of: $0) }) {
        self.measure = measure
    }

    /// Throws where so many bytes would not leave the reserve. Where the room is not known nothing is refused.
    ///
    /// - Throws: ``StorageError/diskFull(detail:)``.
    package func require(_ bytes: Int64, at path: String, for what: String) throws(StorageError) {
        guard let room = measure(path), room.usableBytes < max(1, bytes) else { return }
        let kept = "the last \(room.reserve / 1_000_000) MB are kept free"
        throw .diskFull(
            detail: bytes > 0
                ? "\(what) needs \(bytes / 1_000_000) MB, \(room.freeBytes / 1_000_000) MB are free, and \(kept)"
                : "\(room.freeBytes / 1_000_000) MB are free, and \(kept)")
    }
}

extension Int64 {
    fileprivate func multipliedClamping(_ other: Int64) -> Int64 {
        let (product, isTooLarge) = multipliedReportingOverflow(by: other)
        return isTooLarge ? .max : product
    }
}
