import Storage

/// Speaks to the database on a thread of its own, so that a slow commit delays neither time stamps nor anybody's task.
actor BatchWriter {
    private let thread = PollThread(name: "eegsync-write")
    private let commit: @Sendable (WriteBatch) throws(StorageError) -> Void
    private let dataVersion: @Sendable () throws(StorageError) -> Int64

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(
        commit: @escaping @Sendable (WriteBatch) throws(StorageError) -> Void,
        dataVersion: @escaping @Sendable () throws(StorageError) -> Int64
    ) {
        self.commit = commit
        self.dataVersion = dataVersion
    }

    /// Writes a batch; returns once it is on disk, or why it is not.
    func write(_ batch: WriteBatch) -> StorageError? {
        do {
            try commit(batch)
            return nil
        } catch {
            return error
        }
    }

    /// A number that changes with the operator's wishes.
    func readDataVersion() -> Result<Int64, StorageError> {
        do {
            return .success(try dataVersion())
        } catch {
            return .failure(error)
        }
    }
}
