import Foundation
import Glibc

/// Whether somebody reads what is recorded as it comes: the file `<database>-follow`, on which such a program holds a shared
/// lock for as long as it reads (fcntl(2), F_SETLK with F_RDLCK, which needs no permission to write).
///
/// Transactions are rare, to spare a card; while the lock is held they are made each second. The kernel takes it back when
/// its holder ends in whatever way, so nobody who has looked costs anything later.
final class FollowerFile: Sendable {
    private let descriptor: Int32

    /// Nil where the file cannot be made: nobody can follow then.
    init?(database path: String) {
        let file = open(Self.path(of: path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard file >= 0 else { return nil }
        FileModes(database: path).share(file)
        descriptor = file
    }

    deinit { close(descriptor) }

    static func path(of database: String) -> String { database + "-follow" }

    /// True while another program holds the lock. Takes nothing itself.
    var isFollowed: Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        guard fcntl(descriptor, F_GETLK, &lock) == 0 else { return false }
        return lock.l_type != Int16(F_UNLCK)
    }
}

/// Held by a program that reads what is recorded as it comes.
package final class Follower: Sendable {
    private let descriptor: Int32

    /// - Parameter path: the database file; nil where no daemon of this version has ever written it, or this user may not read.
    package init?(database path: String) {
        let file = open(FollowerFile.path(of: path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        var lock = flock()
        lock.l_type = Int16(F_RDLCK)
        lock.l_whence = Int16(SEEK_SET)
        guard fcntl(file, F_SETLK, &lock) == 0 else {
            close(file)
            return nil
        }
        descriptor = file
    }

    deinit { close(descriptor) }
}
