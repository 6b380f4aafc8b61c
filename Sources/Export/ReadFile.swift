import Glibc

/// A file that is read from its beginning to its end.
final class ReadFile {
    let path: String
    /// The size when it was opened.
    let byteCount: Int64
    private let descriptor: Int32

    init(path: String) throws {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ExportError.verificationFailed(path: path, detail: "it cannot be opened: \(String(cString: strerror(errno)))")
        }
        byteCount = Int64(lseek(descriptor, 0, SEEK_END))
        lseek(descriptor, 0, SEEK_SET)
    }

    deinit { close(descriptor) }

    /// The next bytes: as many as asked for, fewer only at the end of the file.
    func read(atMost count: Int) throws -> [UInt8] {
        var failed: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                let got = Glibc.read(descriptor, buffer.baseAddress.map { $0 + done }, count - done)
                if got < 0 && errno == EINTR { continue }
                if got < 0 { failed = errno }
                if got <= 0 { break }
                done += got
            }
        }
        guard failed == 0 else {
            throw ExportError.verificationFailed(path: path, detail: "it cannot be read: \(String(cString: strerror(failed)))")
        }
        return bytes
    }
}
