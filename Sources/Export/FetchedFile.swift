import Glibc

/// The file of a recording that somebody else's database gives: written beside its final name, looked at, flushed, and named
/// once it is whole.
package struct FetchedFile {
    package let path: String
    package let replacesExisting: Bool

    package init(path: String, replacesExisting: Bool) {
        (self.path, self.replacesExisting) = (path, replacesExisting)
    }

    /// Writes the file. Returns what was made of it, and its bytes.
    ///
    /// - Parameter body: gets the path of an empty file, and writes a database into it. Where it throws, there is no file.
    /// - Throws: ``ExportError`` where the file cannot be written, and what the body throws.
    package func write<Result>(_ body: (_ path: String) throws -> Result) throws -> (result: Result, byteCount: Int64) {
        // SQLite writes into an empty file that is there.
        let file = try PartialFile(path: path, replacesExisting: replacesExisting, isNamed: true, isDatabase: true)
        let result = try body(file.temporaryPath)
        file.measure()
        try file.synchronize()
        try file.publish(replacesExisting: replacesExisting)
        return (result, file.byteCount)
    }

    /// Lends the path of an empty file to what writes a database there and reads it; the file is gone afterwards, however this
    /// process ends. Only its owner may read it: it holds everything of a recording.
    ///
    /// - Parameter output: what is written from the database: the file lies beside it, on the same disk, with a hidden name.
    /// - Throws: ``ExportError`` where the file cannot be made, and what the body throws.
    package static func whileNeeded<Result>(
        beside output: String, _ body: (_ path: String) throws -> Result
    ) throws -> Result {
        var name = Substring(output)
        while name.count > 1, name.hasSuffix("/") { name.removeLast() }
        let file = try PartialFile(path: name + ".fetched", replacesExisting: true, isNamed: true)
        guard chmod(file.temporaryPath, 0o600) == 0 else {
            throw ExportError.cannotWrite(path: file.temporaryPath, reason: String(cString: strerror(errno)))
        }
        return try withExtendedLifetime(file) { try body(file.temporaryPath) }
    }
}
