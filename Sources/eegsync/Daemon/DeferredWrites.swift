import Acquisition
import Bluetooth
import Storage
import Synchronization

/// Small writes to the database that nobody waits for: what the acquisition thread learns of headsets and wants to know again
/// in the next process. They are made on a thread of their own, since a database can take seconds. One that fails is made again
/// later; where the process ends before, what it would have kept is learnt again.
actor DeferredWrites {
    /// What a write concerns: a later write of the same replaces one that was not made yet, so that never more wait than there
    /// are headsets and adapters.
    enum Subject: Hashable, Sendable {
        /// The handles of a headset.
        case handleMap(PeripheralIdentifier)
        /// Its keys; of Bluetooth Classic, its link key.
        case bond(PeripheralIdentifier)
        /// That the process has run for long enough.
        case start
        /// Whether a person wants the adapter with an address off.
        case adapterPower(UInt64)
    }

    /// A write.
    typealias Write = @Sendable (AcquisitionStore) throws(StorageError) -> Void

    /// How soon a write is made again that failed.
    private static let retryPause = Duration.seconds(10)

    private let thread = PollThread(name: "eegsync-keep")
    private let store: AcquisitionStore
    private let retryPause: Duration
    private nonisolated let waiting = Mutex<[(subject: Subject, write: Write)]>([])
    private nonisolated let wakeUps: AsyncStream<Void>
    private nonisolated let wakeUp: AsyncStream<Void>.Continuation

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(store: AcquisitionStore, retryPause: Duration = DeferredWrites.retryPause) {
        self.store = store
        self.retryPause = retryPause
        // A wake-up stands for all that waits.
        (wakeUps, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Has a write made soon. Returns at once.
    nonisolated func add(_ subject: Subject, _ write: @escaping Write) {
        waiting.withLock { waiting in
            waiting.removeAll { $0.subject == subject }
            waiting.append((subject, write))
        }
        wakeUp.yield()
    }

    /// Makes writes until ``finish()``, and then what still waits, once.
    func run() async {
        for await _ in wakeUps {
            guard !makeWrites() else { continue }
            Task { [wakeUp, retryPause] in
                try? await Task.sleep(for: retryPause)
                wakeUp.yield()
            }
        }
        _ = makeWrites()
    }

    /// Ends ``run()``.
    nonisolated func finish() {
        wakeUp.finish()
    }

    /// Makes all writes that wait. Returns false where one failed, which then waits again unless a later one has
    /// replaced it.
    private func makeWrites() -> Bool {
        let writes = waiting.withLock { waiting in
            defer { waiting.removeAll() }
            return waiting
        }
        let failed = writes.filter { (try? $0.write(store)) == nil }
        waiting.withLock { waiting in
            waiting = failed.filter { old in !waiting.contains { $0.subject == old.subject } } + waiting
        }
        return failed.isEmpty
    }
}
