import Bluetooth
import CLinux
import Storage

/// Speaks to the database on a thread of its own, so that a slow commit delays neither time stamps nor anybody's task.
actor BatchWriter {
    private let thread = PollThread(name: "eegsync-write")
    private let commit: @Sendable (WriteBatch) throws(StorageError) -> Void
    private let commitByHeadset: @Sendable (WriteBatch, MonotonicTime) throws(StorageError) -> [RefusedPart]
    private let dataVersion: @Sendable () throws(StorageError) -> Int64
    private let synchronise: @Sendable () throws(StorageError) -> Void
    private let noteUnstored: @Sendable (Bool) -> Void
    /// What was noted last; nil before the first batch, as an earlier process may have left a note.
    private var isUnstored: Bool?
    private let now: @Sendable () -> MonotonicTime
    private var lastSynchronised: MonotonicTime = .boot

    /// How often commits are made to survive a power cut. A headset may forget samples only then; each time costs the disk a
    /// flush, which wears an SD card.
    private static let synchroniseInterval = Duration.seconds(10)

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(
        commit: @escaping @Sendable (WriteBatch) throws(StorageError) -> Void,
        commitByHeadset: @escaping @Sendable (WriteBatch, MonotonicTime) throws(StorageError) -> [RefusedPart],
        dataVersion: @escaping @Sendable () throws(StorageError) -> Int64,
        synchronise: @escaping @Sendable () throws(StorageError) -> Void,
        noteUnstored: @escaping @Sendable (Bool) -> Void = { _ in },
        now: @escaping @Sendable () -> MonotonicTime = { MonotonicTime(nanoseconds: clinux_boottime_nanoseconds()) }
    ) {
        self.synchronise = synchronise
        self.noteUnstored = noteUnstored
        self.now = now
        self.commit = commit
        self.commitByHeadset = commitByHeadset
        self.dataVersion = dataVersion
    }

    /// A batch that is committed, except for what was refused.
    struct Written {
        /// True where everything committed so far survives a power cut.
        var isDurable: Bool
        /// The headsets whose parts break a rule of the database: nothing of them was stored.
        var refused: [RefusedPart] = []
    }

    /// Commits a batch; tells what became of it, or why nothing was committed.
    func write(_ batch: WriteBatch) -> Result<Written, StorageError> {
        var refused: [RefusedPart] = []
        do {
            try commit(batch)
        } catch {
            guard error.isRefusal, !batch.parts.isEmpty else {
                note(isUnstored: true)
                return .failure(error)
            }
            do {
                refused = try commitByHeadset(batch, now())
            } catch {
                note(isUnstored: true)
                return .failure(error)
            }
        }
        note(isUnstored: false)
        let now = now()
        guard now - lastSynchronised >= Self.synchroniseInterval else {
            return .success(Written(isDurable: false, refused: refused))
        }
        // A disk that cannot flush costs nothing yet: the headset keeps what is not acknowledged.
        guard (try? synchronise()) != nil else { return .success(Written(isDurable: false, refused: refused)) }
        lastSynchronised = now
        return .success(Written(isDurable: true, refused: refused))
    }

    private func note(isUnstored: Bool) {
        guard self.isUnstored != isUnstored else { return }
        self.isUnstored = isUnstored
        noteUnstored(isUnstored)
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
