import Foundation
import Glibc

/// What outlives a process that could not write: a file beside the database, empty, so that a full disk has room for it.
extension Store {
    private var marker: String? { path.map { $0 + "-unstored" } }

    /// True where an earlier process ended, in whatever way, while a batch of its rows could not be written.
    public var hasUnstored: Bool { marker.map { FileManager.default.fileExists(atPath: $0) } ?? false }

    /// Notes that rows wait which the database does not take, or that all are written. Best effort: a medium that takes no
    /// file either keeps no note.
    public func noteUnstored(_ isUnstored: Bool) {
        guard let marker else { return }
        if isUnstored {
            let file = Glibc.open(marker, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
            if file >= 0 { Glibc.close(file) }
        } else {
            guard unlink(marker) == 0 else { return }
        }
        // The entry itself must survive a power cut.
        let directory = Glibc.open(URL(fileURLWithPath: marker).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        Glibc.close(directory)
    }
}
