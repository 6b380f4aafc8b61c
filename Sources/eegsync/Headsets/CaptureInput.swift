import Capture
import Foundation
import Glibc

/// An open file with a capture, of which only what is needed is in memory. What comes through a pipe is kept in a file without
/// a name, which is gone when the program ends.
final class CaptureInput: Sendable {
    private let descriptor: Int32
    private let count: Int

    private init(descriptor: Int32, count: Int) {
        self.descriptor = descriptor
        self.count = count
    }

    deinit { close(descriptor) }

    /// The bytes; they keep the file open.
    var bytes: CaptureBytes {
        CaptureBytes(count: count) { offset, count in self.read(from: offset, count) }
    }

    /// Opens a file; `-` is the standard input.
    ///
    /// - Throws: why it cannot be read.
    static func open(_ path: String) throws -> CaptureInput {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileReason(String(cString: strerror(errno))) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            defer { close(descriptor) }
            throw FileReason(String(cString: strerror(errno)))
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return CaptureInput(descriptor: descriptor, count: Int(status.st_size))
        case S_IFIFO, S_IFSOCK:
            defer { close(descriptor) }
            return try keep(descriptor)
        default:
            close(descriptor)
            throw FileReason("it is a directory or a device")
        }
    }

    /// Reads a pipe to its end.
    private static func keep(_ pipe: Int32) throws -> CaptureInput {
        let template = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-replay-XXXXXX").path
        var name = Array(template.utf8CString)
        let kept = mkstemp(&name)
        guard kept >= 0 else { throw FileReason("what comes through the pipe cannot be kept at \(template)") }
        unlink(name)
        let input = CaptureInput(descriptor: kept, count: 0)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var total = 0
        while true {
            let count = Glibc.read(pipe, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileReason(String(cString: strerror(errno))) }
            if count == 0 { break }
            try input.append(buffer[..<count])
            total += count
        }
        return CaptureInput(descriptor: dup(kept), count: total)
    }

    private func append(_ bytes: ArraySlice<UInt8>) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileReason(String(cString: strerror(errno))) }
            rest = rest.dropFirst(count)
        }
    }

    /// Fewer only where the file ends, or cannot be read.
    private func read(from offset: Int, _ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let more = pread(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(offset + filled))
                if more < 0, errno == EINTR { continue }
                guard more > 0 else { return }
                filled += more
            }
        }
    }
}
