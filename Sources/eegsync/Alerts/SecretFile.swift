import Foundation
import Glibc

/// A small file that only its owner may read, such as one with the address of a webhook.
enum SecretFile {
    /// The most bytes of such a file.
    private static let lengthMaximum = 16_384

    /// The lines that are neither empty nor begin with `#`, without blanks at their ends.
    ///
    /// - Parameter isClosedByDirectory: true where the directory keeps others out, whatever the file's mode.
    /// - Throws: ``FileReason`` in words that complete "cannot be read: ...".
    static func lines(of path: String, isClosedByDirectory: Bool = false) throws(FileReason) -> [String] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileReason(String(cString: strerror(errno))) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw FileReason("it is not a regular file")
        }
        guard isClosedByDirectory || status.st_mode & 0o077 == 0 else {
            throw FileReason("others than its owner may read it; chmod 600 \(path)")
        }
        let data: Data
        do {
            // Nil at the end, which is where an empty file begins.
            data = try handle.read(upToCount: lengthMaximum + 1) ?? Data()
        } catch {
            throw FileReason(error)
        }
        guard data.count <= lengthMaximum else { throw FileReason("it is larger than 16 KiB") }
        guard let text = String(bytes: data, encoding: .utf8) else { throw FileReason("it is not UTF-8 text") }
        return text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}
