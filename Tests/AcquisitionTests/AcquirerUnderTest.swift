import Bluetooth
import Headsets
import Storage

@testable import Acquisition

/// An acquirer in virtual time with the headset of a ``ScriptedCentral`` and a database in memory.
final class AcquirerUnderTest {
    /// Something is due, turn after turn, and nothing ends it.
    struct DueForEver: Error {}

    /// What becomes of batches.
    enum Commits {
        /// Committed at once; a power cut costs nothing.
        case durable
        /// Committed at once; the disk was not made to keep it yet.
        case volatile
        /// The disk is full.
        case never
    }

    let script = HeadsetScript()
    /// A second headset, where it is in range.
    let neighbour = HeadsetScript(identifier: PeripheralIdentifier(address: 0xC0_55_DA_B0_13_25, type: .public))
    let store: Store
    let acquirer: Acquirer
    /// May change a batch on its way to the database.
    var willCommit: (inout WriteBatch) -> Void = { _ in }
    var commits = Commits.durable
    var profile: any HeadsetProfile = BufferedEEGProfile()
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
    /// How often something was due.
    private(set) var turnCount = 0
    /// The batch that the full disk has refused.
    private var refused: WriteBatch?

    init(hasNeighbour: Bool = false, limits: AcquisitionLimits = AcquisitionLimits()) throws {
        store = try Store.inMemory(hostBoot: HostBoot(uuid: "test"))
        let central = ScriptedCentrals(hasNeighbour ? [script, neighbour] : [script])
        acquirer = Acquirer(central: central, nextStreamID: try store.nextStreamID(), limits: limits, seed: 1)
        acquirer.observeClock(unixNanoseconds: 1_790_000_000_000_000_000, isSynchronised: true, at: now)
    }

    /// Wants the headset recorded.
    @discardableResult func want(_ name: String = "left") throws -> RecordingID {
        try store.startRecording(headset: name, model: "buffered-eeg", at: now)
    }

    func reconcile() throws {
        try acquirer.reconcile(with: store, profile: { [profile] _ in profile }, at: now)
    }

    /// Lets the time pass, at most until the headset's connection is in a phase.
    func run(_ duration: Duration, until phase: ConnectionPhase? = nil) throws {
        let end = now + duration
        while phase == nil || self.phase != phase, let due = acquirer.deadline, due <= end {
            now = max(now, due)
            turnCount += 1
            acquirer.process(at: now)
            if let batch = acquirer.takeBatch(at: now) { try commit(batch) }
            if turnCount > 100_000 { throw DueForEver() }
        }
        if phase == nil { now = max(now, end) }
    }

    private func commit(_ batch: WriteBatch) throws {
        guard commits != .never else { return refused = batch }
        var batch = batch
        willCommit(&batch)
        var refused: [RefusedPart] = []
        do throws(StorageError) {
            try store.commit(batch)
        } catch {
            guard error.isRefusal else { throw error }
            refused = try store.commitByHeadset(batch, at: now)
        }
        acquirer.committed(batch.number, isDurable: commits == .durable, refused: refused, at: now)
    }

    /// Takes what the acquirer holds at last, after a batch that was refused.
    func takeRest() throws -> WriteBatch? {
        commits = .durable
        if let refused { try commit(refused) }
        refused = nil
        return acquirer.takeBatch(at: now, force: true)
    }

    /// Where a headset's connection stands.
    func phase(of name: String) -> ConnectionPhase? { acquirer.headsets.first { $0.name == name }?.phase }

    /// Where the first headset's connection stands.
    var phase: ConnectionPhase? { acquirer.headsets.first?.phase }
}
