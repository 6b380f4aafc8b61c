import Foundation
import Glibc

/// Puts a configuration where the service reads it: the old one or the new one is there at any instant, never half of one.
struct ConfigurationInstallation {
    /// The group whose service reads it.
    static let group = "eegsync"

    /// The file; where links to it are followed, what they lead to: who has it under version control keeps it so.
    let path: String

    /// Prepares an installation; nothing is written.
    ///
    /// - Parameter followsLinks: false to replace a link instead of what it leads to, where others may have made it.
    init(path: String, followsLinks: Bool = true) {
        self.path = followsLinks ? URL(fileURLWithPath: path).resolvingSymlinksInPath().path : path
    }

    /// Writes the text beside the file, flushed to the disk, and renames it.
    ///
    /// Owner, group and mode are those of the file that is there, else 0644. A text with a passkey is for the owner and the
    /// group of the service alone.
    ///
    /// - Parameter isSecret: whether the text has a passkey.
    /// - Throws: ``FileReason``; the file that was there is then untouched.
    func install(_ text: String, isSecret: Bool) throws(FileReason) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let draft = "\(folder)/.\(URL(fileURLWithPath: path).lastPathComponent)-\(UUID().uuidString)"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.reason() }
        do throws(FileReason) {
            defer { close(descriptor) }
            try Self.write(text, to: descriptor)
            try adopt(descriptor, isSecret: isSecret)
            guard fsync(descriptor) == 0, rename(draft, path) == 0 else { throw Self.reason() }
        } catch {
            unlink(draft)
            throw error
        }
        try Self.flush(directory: folder)
    }

    /// Gives the new file owner, group and mode.
    private func adopt(_ descriptor: Int32, isSecret: Bool) throws(FileReason) {
        var before = stat()
        let exists = lstat(path, &before) == 0 && before.st_mode & S_IFMT == S_IFREG
        var mode: mode_t = exists ? before.st_mode & 0o777 : 0o644
        var (owner, group) = exists ? (before.st_uid, before.st_gid) : (geteuid(), getegid())
        if isSecret, mode & 0o004 != 0 {
            mode = mode & 0o770 | 0o040
            if let service = getgrnam(Self.group) { group = service.pointee.gr_gid }
        }
        // Who may not give files away keeps them: the mode says who reads.
        if fchown(descriptor, owner, group) != 0 { (owner, group) = (geteuid(), getegid()) }
        guard fchmod(descriptor, mode) == 0 else { throw Self.reason() }
    }

    private static func write(_ text: String, to descriptor: Int32) throws(FileReason) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw reason() }
            rest = rest.dropFirst(count)
        }
    }

    /// A rename survives a power cut once the directory is flushed.
    private static func flush(directory: String) throws(FileReason) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw reason() }
        defer { close(descriptor) }
        // A boot partition (vfat) may not know it: EINVAL.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw reason() }
    }

    private static func reason() -> FileReason { FileReason(String(cString: strerror(errno))) }
}

extension Configuration {
    /// Whether it has what nobody but the service should read.
    var hasSecrets: Bool { headsets.contains { $0.passkey != nil } }
}
