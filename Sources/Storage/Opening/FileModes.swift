import Foundation
import Glibc

/// Who else may read or write the files of a database, which their directory decides:
///
/// | directory | files | the group |
/// |---|---|---|
/// | may not be written by the group | lose the group's right to write | reads, at most |
/// | ... and hands its group down (set-group-ID, 2750) | log and shared memory stay when nobody writes | reads, always |
/// | may be written by the group (2770) | may be written by it | writes: wishes, and everything else |
///
/// In each case the keys of pairings and the lock are their owner's alone: whoever can open a file can lock it (flock(2)), and
/// keep the daemon from starting.
struct FileModes {
    let database: String
    private let directory: mode_t
    /// Whose the directory is; nil where there is none.
    private let owner: (user: uid_t, group: gid_t)?

    init(database: String) {
        self.database = database
        var facts = stat()
        let name = URL(fileURLWithPath: database).deletingLastPathComponent().path
        let isThere = stat(name, &facts) == 0
        directory = isThere ? facts.st_mode : 0
        owner = isThere ? (facts.st_uid, facts.st_gid) : nil
    }

    /// True where the group writes.
    var isWrittenByGroup: Bool { directory & S_IWGRP != 0 }

    /// True where the group is to read, whether or not something acquires, and nothing more.
    var isReadByGroup: Bool { directory & (S_IWGRP | S_ISGID | S_IXGRP) == S_ISGID | S_IXGRP }

    /// Lets the group write a new file where it may write the directory. SQLite gives its WAL and shared-memory files the mode
    /// of the database.
    ///
    /// - Parameter isSecret: where the group does not write, nobody but the owner reads.
    func share(_ file: Int32, isSecret: Bool = false) {
        // Fails for a file of somebody else, who has decided then.
        if isWrittenByGroup {
            _ = fchmod(file, 0o660)
        } else if isSecret {
            _ = fchmod(file, 0o600)
        }
    }

    /// Gives a new file of root to the owner of its directory, so that the first command of an administrator does not keep the
    /// service from its database. SQLite does so with its WAL and shared-memory files.
    func hand(_ file: Int32) {
        guard geteuid() == 0, let owner else { return }
        _ = fchown(file, owner.user, owner.group)
    }

    /// Takes from the group and from others what an earlier directory gave them: the right to write. To be called before SQLite
    /// opens the files, and without opening one: to close it would take away SQLite's locks.
    func tighten() {
        guard !isWrittenByGroup else { return }
        let companions = ["-wal", "-shm", "-follow", "-witness"].map { database + $0 }
        for path in [database] + companions {
            var facts = stat()
            // A database may be a link; what stands beside it is not followed.
            guard (path == database ? stat(path, &facts) : lstat(path, &facts)) == 0, facts.st_mode & S_IFMT == S_IFREG,
                facts.st_mode & 0o022 != 0
            else { continue }
            chmod(path, facts.st_mode & 0o755)
        }
    }
}
