import Glibc

/// The file that a capture is written to, as it comes: a capture that is cut off keeps what it has.
final class CaptureOutput {
    /// The path, or `-` for standard output.
    let path: String
    private(set) var byteCount: Int64 = 0
    private let descriptor: Int32

    /// Creates the file.
    ///
    /// - Parameter replacesExisting: whether a file of the name is overwritten.
    /// - Throws: ``Failure`` where it exists, cannot be created, or would be shown on a terminal.
    init(path: String, replacesExisting: Bool) throws {
        self.path = path
        guard path != "-" else {
            descriptor = STDOUT_FILENO
            guard isatty(STDOUT_FILENO) == 0 else {
                throw Failure(
                    problem: "the capture is no text, and standard output is a terminal.", consequence: "nothing was captured.",
                    remedy: "name a file, or read it with another program: eegsync capture HEADSET -o - | wireshark -k -i -.",
                    code: .usage)
            }
            return
        }
        descriptor = try PassedFile.descriptor ?? Self.create(path, replacesExisting: replacesExisting)
    }

    /// Creates a file.
    ///
    /// - Throws: ``Failure`` where it exists, or cannot be created.
    static func create(_ path: String, replacesExisting: Bool) throws -> Int32 {
        let descriptor = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | (replacesExisting ? O_TRUNC : O_EXCL), 0o644)
        guard descriptor >= 0 else {
            let isTaken = errno == EEXIST
            throw Failure(
                problem: isTaken
                    ? "the file \(path) exists." : "the file \(path) cannot be created: \(String(cString: strerror(errno))).",
                consequence: "nothing was captured.",
                remedy: isTaken ? "choose another name, or allow it with --force." : "choose another -o PATH.",
                code: .cannotCreate)
        }
        return descriptor
    }

    deinit { if descriptor > STDERR_FILENO { close(descriptor) } }

    /// Appends bytes.
    ///
    /// - Throws: ``Failure`` where the disk is full, or whoever read standard output has gone.
    func write(_ bytes: [UInt8]) throws {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                let isReaderGone = count < 0 && errno == EPIPE
                throw Failure(
                    problem: "the capture cannot be written to \(path): \(String(cString: strerror(errno))).",
                    consequence: "the capture ends; the file holds what was written until now.",
                    remedy: isReaderGone
                        ? "nothing, if the program that read it was to end; otherwise see why it did."
                        : "make room, or choose another -o PATH.", code: .ioError)
            }
            done += count
        }
        byteCount += Int64(bytes.count)
    }
}
