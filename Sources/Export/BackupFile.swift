import Glibc
package import Storage

/// The file of a backup: written beside its final name, flushed, and named once it is whole.
package struct BackupFile {
    package let path: String
    package let replacesExisting: Bool
    /// What of the disk is not filled.
    package var reserve = DiskReserve()

    package init(path: String, replacesExisting: Bool) {
        (self.path, self.replacesExisting) = (path, replacesExisting)
    }

    /// Writes the copy. Returns its bytes.
    ///
    /// - Parameter progress: gets how many bytes are written, and about how many there will be.
    /// - Throws: ``ExportError`` where the file cannot be written, `StorageError` where the database cannot be read, or where
    ///   the copy would fill the last of the disk. No file was changed then.
    package func write(
        _ backup: DatabaseBackup, progress: @escaping (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
    ) throws -> Int64 {
        let size = try backup.size()
        let file = try PartialFile(
            path: path, replacesExisting: replacesExisting, isNamed: true, isDatabase: true,
            sparing: backup.database)
        try reserve.require(size, at: PartialFile.split(path).directory, for: "a copy of the database")
        // It holds everything, whoever may read the directory.
        guard chmod(file.temporaryPath, 0o600) == 0 else {
            throw ExportError.cannotWrite(path: path, reason: String(cString: strerror(errno)))
        }
        try backup.write(to: file.temporaryPath, progress: progress)
        file.measure()
        try file.synchronize()
        try file.publish(replacesExisting: replacesExisting)
        return file.byteCount
    }
}
