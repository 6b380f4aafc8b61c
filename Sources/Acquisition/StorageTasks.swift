package import Bluetooth
package import Storage

/// Does what an engine wants of the database. Each call takes as long as the disk: never on the thread that stamps arrivals.
package struct StorageTasks: Sendable {
    private let store: AcquisitionStore
    private let commit: @Sendable (WriteBatch) throws(StorageError) -> Void
    private let synchronise: @Sendable (_ rewriting: Bool) throws(StorageError) -> Void

    /// Creates the tasks of a database.
    ///
    /// - Parameters:
    ///   - commit: writes a batch; the store's own by default.
    ///   - synchronise: makes what was committed survive a power cut, as ``EngineEffect/flush(rewriting:)`` asks; the store's
    ///     own by default.
    package init(
        _ store: AcquisitionStore, commit: (@Sendable (WriteBatch) throws(StorageError) -> Void)? = nil,
        synchronise: (@Sendable (_ rewriting: Bool) throws(StorageError) -> Void)? = nil
    ) {
        self.store = store
        let storeCommit: @Sendable (WriteBatch) throws(StorageError) -> Void = { (batch) throws(StorageError) in
            try store.commit(batch)
        }
        let storeSynchronise: @Sendable (Bool) throws(StorageError) -> Void = { (rewriting) throws(StorageError) in
            if rewriting { try store.checkpoint() } else { try store.synchronise() }
        }
        self.commit = commit ?? storeCommit
        self.synchronise = synchronise ?? storeSynchronise
    }

    /// Does what the effect asks for. Returns the answer; nil where the effect has none, or does not concern the database.
    package func perform(_ effect: EngineEffect, at now: MonotonicTime) -> EngineEvent? {
        switch effect {
        case .readWishes(let version):
            .wishes(Self.result { () throws(StorageError) in try store.wishes(unlessVersion: version) })
        case .loadResumeState(let recording):
            .resumeState(recording, Self.result { () throws(StorageError) in try store.resumeState(of: recording) })
        case .spool(let batch):
            .spooled(batch.number, Self.result { () throws(StorageError) in try store.keep(batch, at: now) })
        case .commit(let batch):
            .committed(
                batch.number,
                Self.result { () throws(StorageError) in
                    try commit(batch)
                    return []
                })
        case .commitByHeadset(let batch):
            .committed(
                batch.number, Self.result { () throws(StorageError) in try store.commitByHeadset(batch, at: now) })
        case .flush(let rewriting): .flushed(Self.result { () throws(StorageError) in try synchronise(rewriting) })
        case .checkpoint: checkpoint()
        case .decide(let decision):
            .decided(decision, Self.result { () throws(StorageError) in try store.control.follow(decision, at: now) })
        case .readMarks(let key): .marks(Self.result { () throws(StorageError) in try store.marks(after: key) })
        case .noteUnstored(let isUnstored): note(isUnstored)
        // What could not be removed is tried again with the next look.
        case .trimHistory(let time): .trimmed((try? store.trimHistory(before: time)) ?? 0)
        case .request, .readClock, .report, .beat, .tap, .greetReader, .finished: nil
        }
    }

    /// What could not be done now is done when the database is closed.
    private func checkpoint() -> EngineEvent {
        try? store.checkpointBeside()
        return .checkpointed
    }

    private func note(_ isUnstored: Bool) -> EngineEvent? {
        store.noteUnstored(isUnstored)
        return nil
    }

    private static func result<Value>(_ body: () throws(StorageError) -> Value) -> Result<Value, StorageError> {
        do {
            return .success(try body())
        } catch {
            return .failure(error)
        }
    }
}
