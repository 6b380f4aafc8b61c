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
        var outcome: Result<Int, any Error> = .success(0)
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            outcome = Result { try read(into: UnsafeMutableRawBufferPointer(buffer)) }
            if case .success(let count) = outcome { done = count }
        }
        _ = try outcome.get()
        return bytes
    }

    /// Fills memory with the next bytes, and returns how many they are: fewer only at the end of the file.
    func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
        var done = 0
        while done < memory.count {
            let got = Glibc.read(descriptor, memory.baseAddress.map { $0 + done }, memory.count - done)
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else {
                let reason = String(cString: strerror(errno))
                throw ExportError.verificationFailed(path: path, detail: "it cannot be read: \(reason)")
            }
            if got == 0 { break }
            done += got
        }
        return done
    }
}
