/// A database that is only looked at, by whoever may read the file.
package struct ReadOnlyStore: Store {
    package let hostBoot: HostBoot
    package let presentBoot: Int64?
    package let database: OpenDatabase

    /// Opens a database file, which must exist and is not changed.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - hostBoot: the boot that instants given to this store belong to.
    /// - Throws: `directoryMissing`, `cannotOpen`, `newerSchema`, `corrupt`, `needsWriter`, `busy`.
    package init(path: String, hostBoot: HostBoot) throws(StorageError) {
        let opening = DatabaseOpening(path: path, options: StoreOptions())
        try self.init(try opening.openForReading(), hostBoot: hostBoot)
    }

    /// The same for a program that may be alone with the database and may not write beside it: where nobody has the database
    /// open and it is complete without a log, it is read as it stands (https://www.sqlite.org/uri.html#uriimmutable). Whoever
    /// opens it so closes it at once: a program that begins to write meanwhile is not noticed.
    ///
    /// - Throws: `directoryMissing`, `cannotOpen`, `newerSchema`, `corrupt`, `needsWriter`, `busy`.
    package init(unattended path: String, hostBoot: HostBoot) throws(StorageError) {
        let opening = DatabaseOpening(path: path, options: StoreOptions())
        do throws(StorageError) {
            try self.init(try opening.openForReading(), hostBoot: hostBoot)
        } catch {
            guard case .needsWriter = error, !DatabaseOpening.hasLog(path) else { throw error }
            try self.init(try opening.openForReading(isImmutable: true), hostBoot: hostBoot)
        }
    }

    private init(_ database: OpenDatabase, hostBoot: HostBoot) throws(StorageError) {
        self.database = database
        presentBoot = try database.row(of: hostBoot)
        self.hostBoot = hostBoot
    }
}
