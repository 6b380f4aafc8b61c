import CLinux
import Glibc
import Storage

/// Which file the path of the database names: a restored one beside a running page is another, which its connection, that has
/// the old one open, would never see.
struct ServedFile: Sendable {
    /// Which file a path names. Where one is removed, the next one may get its number, and has another birth.
    struct Identity: Hashable {
        var device: UInt64
        var number: UInt64
        /// UTC nanoseconds since 1970; 0 where the file system, or the kernel, does not say.
        var birth: Int64

        /// Nil where there is no file just now.
        init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            (device, number) = (UInt64(facts.st_dev), UInt64(facts.st_ino))
            let birth = clinux_birth_nanoseconds(path)
            // It has gone meanwhile.
            if birth == -Int64(ENOENT) { return nil }
            self.birth = max(0, birth)
        }
    }

    private let path: String
    private let opened: Identity?

    /// Made before the database is opened, so that a file that is put there meanwhile is noticed, too.
    init(path: String) {
        self.path = path
        opened = Identity(path)
    }

    /// True where the path names another file by now; false while it names none.
    var isReplaced: Bool { Identity(path).map { $0 != opened } ?? false }

    /// Looks whether the file is the one that was opened. One that cannot be opened yet, such as half of a copy, or a restored
    /// one that waits for the daemon, changes nothing: who begins anew now would end there.
    ///
    /// - Throws: ``Failure`` where it is another one that can be opened.
    func requireSame() throws(Failure) {
        guard isReplaced, (try? ReadOnlyStore(path: path, hostBoot: HostBoot.current())) != nil else { return }
        throw Failure(
            problem: "the file \(path) is another one than the database that the page was opened with.",
            consequence: "the page ends; as a service it is started again at once, with that file.",
            remedy: "start it again where no service does: eegsync serve.", code: .temporary)
    }
}
