import Glibc

/// A dataset's directory: its lock, and the files of it that exports read.
struct BIDSDataset {
    let path: String
    /// True where this export made the directory.
    private let isMade: Bool

    static let descriptionName = "dataset_description.json"

    /// - Throws: ``ExportError``: `exists` where the path is a file, `notRepresentable` where it is a directory of something
    ///   else.
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
        let visible = Self.names(in: path).filter { !$0.hasPrefix(".") }
        guard visible.isEmpty || visible.contains(Self.descriptionName) else {
            throw ExportError.notRepresentable(
                what: "The directory \(path)", reason: "it holds files and no \(Self.descriptionName), so it is no dataset",
                advice: "Name a dataset, or a directory that is empty or not there yet.")
        }
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
        try BIDSStaging.recover(in: path)
        return try body()
    }

    /// A table of the dataset; nil where there is none.
    func table(_ name: String) -> BIDSTable? {
        Self.bytes(of: "\(path)/\(name)").flatMap { BIDSTable(parsing: $0) }
    }

    func contains(_ name: String) -> Bool { access("\(path)/\(name)", F_OK) == 0 }

    /// The tables of scans of all subjects and sessions, by their paths in the dataset.
    var scansTables: [String] {
        names(beginningWith: "sub-", in: "").flatMap { subject in
            ([subject] + names(beginningWith: "ses-", in: subject).map { "\(subject)/\($0)" }).flatMap { directory in
                Self.names(in: "\(path)/\(directory)").filter { $0.hasSuffix("_scans.tsv") }.map { "\(directory)/\($0)" }
            }
        }
    }

    private func names(beginningWith beginning: String, in directory: String) -> [String] {
        Self.names(in: "\(path)/\(directory)").filter { $0.hasPrefix(beginning) }
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
