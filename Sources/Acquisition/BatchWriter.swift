import Bluetooth
import CLinux
import Storage

/// Speaks to the database on a thread of its own, so that a slow commit delays neither time stamps nor anybody's task.
actor BatchWriter {
    private let thread = PollThread(name: "eegsync-write")
    private let commit: @Sendable (WriteBatch) throws(StorageError) -> Void
    private let dataVersion: @Sendable () throws(StorageError) -> Int64
    private let synchronise: @Sendable () throws(StorageError) -> Void
    private let now: @Sendable () -> MonotonicTime
    private var lastSynchronised: MonotonicTime = .boot

    /// How often commits are made to survive a power cut. A headset may forget samples only then; each time costs the disk a
    /// flush, which wears an SD card.
    private static let synchroniseInterval = Duration.seconds(10)

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(
        commit: @escaping @Sendable (WriteBatch) throws(StorageError) -> Void,
        dataVersion: @escaping @Sendable () throws(StorageError) -> Int64,
        synchronise: @escaping @Sendable () throws(StorageError) -> Void,
        now: @escaping @Sendable () -> MonotonicTime = { MonotonicTime(nanoseconds: clinux_boottime_nanoseconds()) }
    ) {
        self.synchronise = synchronise
        self.now = now
        self.commit = commit
        self.dataVersion = dataVersion
    }

    /// Commits a batch; tells whether everything committed so far survives a power cut, or why it was not committed.
    func write(_ batch: WriteBatch) -> Result<Bool, StorageError> {
        do {
            try commit(batch)
        } catch {
            return .failure(error)
        }
        let now = now()
        guard now - lastSynchronised >= Self.synchroniseInterval else { return .success(false) }
        // A disk that cannot flush costs nothing yet: the headset keeps what is not acknowledged.
        guard (try? synchronise()) != nil else { return .success(false) }
        lastSynchronised = now
        return .success(true)
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
