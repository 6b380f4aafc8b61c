import Glibc

/// A file that is being written under a temporary name beside its final one, and gets the final name only when it is complete.
///
/// A file that is not published is removed when this object goes away.
final class PartialFile {
    /// The final name.
    let path: String
    /// The name until then; hidden, so that no pattern such as `*.edf` finds it.
    let temporaryPath: String
    private(set) var byteCount: Int64 = 0
    private var descriptor: Int32
    private var isPublished = false

    /// Creates the temporary file.
    ///
    /// - Throws: ``ExportError``; `exists` where the final name is taken and `replacesExisting` is false.
    init(path: String, replacesExisting: Bool) throws {
        self.path = path
        let (directory, name) = Self.split(path)
        temporaryPath = "\(directory)/.\(name).\(getpid()).partial"
        descriptor = -1
        guard replacesExisting || access(path, F_OK) != 0 else { throw ExportError.exists(path: path) }
        // What a killed process of the same number left behind is of no use to anyone.
        unlink(temporaryPath)
        descriptor = open(temporaryPath, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure() }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if !isPublished { unlink(temporaryPath) }
    }

    /// Appends bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard let base = bytes.baseAddress else { return }
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(descriptor, base + done, bytes.count - done)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            done += count
        }
        byteCount += Int64(done)
    }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }

    /// Replaces bytes that were written before.
    func overwrite(_ bytes: [UInt8], at offset: Int64) throws {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, Int(offset) + done) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            done += count
        }
    }

    /// Forgets everything that was written.
    func restart() throws {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw failure() }
        byteCount = 0
    }

    /// Removes the temporary file, so that a program that insists on creating it can; ``adopt()`` takes it back.
    func vacate() {
        close(descriptor)
        descriptor = -1
        unlink(temporaryPath)
    }

    /// Goes on with the file that was created under the temporary name.
    func adopt() throws {
        descriptor = open(temporaryPath, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        byteCount = Int64(lseek(descriptor, 0, SEEK_END))
    }

    /// Waits until the bytes are on the disk.
    func synchronize() throws {
        guard fsync(descriptor) == 0 else { throw failure() }
    }

    /// Gives the file its final name. Call ``synchronize()`` before.
    func publish(replacesExisting: Bool) throws {
        if replacesExisting {
            guard rename(temporaryPath, path) == 0 else { throw failure() }
        } else if link(temporaryPath, path) == 0 {
            // A link, unlike a rename, never replaces a file that appeared meanwhile.
            unlink(temporaryPath)
        } else if errno == EEXIST {
            throw ExportError.exists(path: path)
        } else {
            // File systems of memory sticks have no links.
            guard access(path, F_OK) != 0 else { throw ExportError.exists(path: path) }
            guard rename(temporaryPath, path) == 0 else { throw failure() }
        }
        isPublished = true
        // The name, too, is to survive a power cut; where a directory cannot be synchronised nothing is lost but that.
        let directory = open(Self.split(path).directory, O_RDONLY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
    }

    /// Writes to another descriptor from now on; tests give it a full device.
    func replaceDescriptor(_ other: Int32) {
        close(descriptor)
        descriptor = other
    }

    /// The directory and the last component of a path.
    static func split(_ path: String) -> (directory: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let directory = path[..<slash]
        return (directory.isEmpty ? "/" : String(directory), String(path[path.index(after: slash)...]))
    }

    private func failure() -> ExportError {
        let code = errno
        if code == ENOSPC || code == EDQUOT { return .diskFull(path: path) }
        return .cannotWrite(path: path, reason: String(cString: strerror(code)))
    }
}
