import Glibc

/// A directory to which exports add files: its lock, and what is in it.
struct DatasetDirectory {
    let path: String
    /// True where this export made the directory.
    private let isMade: Bool

    /// Makes the directory where there is none.
    ///
    /// - Throws: ``ExportError``: `exists` where the path is a file.
    init(path: String) throws {
        self.path = path
        var status = stat()
        if stat(path, &status) != 0 {
            guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
                throw ExportError.cannotWrite(path: path, reason: String(cString: strerror(errno)))
            }
            isMade = true
            return
        }
        isMade = false
        guard status.st_mode & S_IFMT == S_IFDIR else { throw ExportError.exists(path: path) }
    }

    /// Removes the directory if this export made it and nothing is in it.
    func removeIfEmpty() {
        if isMade { rmdir(path) }
    }

    /// Runs a piece of work while no other export changes the dataset, after what earlier ones have left was put in order.
    func locked<Result>(_ body: () throws -> Result) throws -> Result {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ExportError.cannotWrite(path: path, reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw ExportError.cannotWrite(path: path, reason: String(cString: strerror(errno))) }
        }
        try DatasetStaging.recover(in: path)
        return try body()
    }

    /// The names in a directory, sorted; none where it cannot be read.
    static func names(in directory: String) -> [String] {
        guard let folder = opendir(directory) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// How many bytes files have together.
    static func byteCount(of paths: [String]) -> Int64 {
        paths.reduce(0) { sum, path in
            var status = stat()
            return stat(path, &status) == 0 ? sum + Int64(status.st_size) : sum
        }
    }

    /// The whole of a small file; nil where it cannot be read.
    static func bytes(of path: String) -> [UInt8]? {
        guard let file = try? ReadFile(path: path) else { return nil }
        return try? file.read(atMost: Int(file.byteCount))
    }

    /// Makes a directory and those above it.
    static func makeDirectory(_ path: String) throws {
        if mkdir(path, 0o755) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else { throw ExportError.cannotWrite(path: path, reason: String(cString: strerror(errno))) }
        try makeDirectory(PartialFile.split(path).directory)
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
            throw ExportError.cannotWrite(path: path, reason: String(cString: strerror(errno)))
        }
    }
}
