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
        let file = try PartialFile(path: path, replacesExisting: replacesExisting, isNamed: true)
        let result = try body(file.temporaryPath)
        file.measure()
        try file.synchronize()
        try file.publish(replacesExisting: replacesExisting)
        return (result, file.byteCount)
    }
}
