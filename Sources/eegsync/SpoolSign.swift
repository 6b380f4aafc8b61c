import Bluetooth
import Foundation
import Glibc
import Storage

/// When the acquiring process has put something into its spool last.
///
/// What stands there survives the death of the process, and not a power cut, so it does not count as stored. But it is written
/// each second, and transactions are made each ten: a process that has put nothing there for seconds does not acquire.
enum SpoolSign {
    /// On the clock of the present boot; nil where the process has no spool, or this user may not see it.
    static func latest(_ store: some Store) throws -> MonotonicTime? {
        guard let path = try store.spoolPath() else { return nil }
        var file = stat()
        guard stat(path, &file) == 0 else { return nil }
        let written = Int64(file.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(file.st_mtim.tv_nsec)
        // The kernel stamps files with the wall clock of the moment; who sets it back has a file of the future.
        let offset = HostClock.offset().offsetNanoseconds
        return min(HostClock.now, MonotonicTime(nanoseconds: written &- offset))
    }
}
