/// A file that is written as a whole: beside its final name, flushed, read back and compared, and only then named.
package struct DocumentFile {
    private let file: PartialFile
    private let replacesExisting: Bool
    /// Called between writing and reading back; tests plant defects here.
    var afterWriting: (_ temporaryPath: String) throws -> Void = { _ in }

    /// Creates the file under a temporary name, before the work for its contents is done.
    ///
    /// - Parameters:
    ///   - database: a database; none of its files is replaced, and the last of the disk that it is on is left free.
    /// - Throws: ``ExportError``; `exists` where the name is taken and `replacesExisting` is false.
    package init(path: String, replacesExisting: Bool, sparing database: String? = nil) throws {
        self.replacesExisting = replacesExisting
        file = try PartialFile(path: path, replacesExisting: replacesExisting, sparing: database)
    }

    /// Writes the contents, and gives the file its name. Returns its bytes.
    ///
    /// - Throws: ``ExportError``; no file was changed then.
    package func publish(_ contents: String) throws -> Int64 {
        let bytes = Array(contents.utf8)
        try file.requireRoom(for: Int64(bytes.count))
        try file.write(bytes)
        try file.synchronize()
        try afterWriting(file.temporaryPath)
        guard try ReadFile(path: file.temporaryPath).read(atMost: bytes.count + 1) == bytes else {
            throw ExportError.verificationFailed(path: file.path, detail: "its bytes differ")
        }
        try file.publish(replacesExisting: replacesExisting)
        return file.byteCount
    }
}
