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
        database = try DatabaseOpening(path: path, options: StoreOptions()).openForReading()
        presentBoot = try database.row(of: hostBoot)
        self.hostBoot = hostBoot
    }
}
