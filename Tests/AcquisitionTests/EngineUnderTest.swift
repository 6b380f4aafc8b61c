import Bluetooth
import Headsets
import Rehearsal
import Storage
import Synchronization

@testable import Acquisition

/// An engine in virtual time with the headset of a ``ScriptedCentral`` and a database in memory.
final class EngineUnderTest {
    /// Something is due, iteration after iteration, and nothing ends it.
    struct DueForEver: Error {}

    /// What becomes of batches.
    enum Commits {
        /// Committed at once; a power cut costs nothing.
        case durable
        /// Committed at once; the disk cannot be made to keep it.
        case volatile
        /// The disk is full.
        case never
    }

    let script = HeadsetScript()
    /// A second headset, where it is in range.
    let neighbour = HeadsetScript(identifier: PeripheralIdentifier(address: 0xC0_55_DA_B0_13_25, type: .public))
    let store: AcquisitionStore
    let driver: VirtualDriver
    var commits = Commits.durable
    /// True while the database cannot be read.
    var readsFail = false
    /// Every batch that was committed.
    private(set) var batches: [WriteBatch] = []
    private(set) var returns: [StreamingReturn] = []
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
    /// How often something was due.
    private(set) var iterationCount = 0
    private let known: KnownProfile

    /// The profile of every headset, as a test has it.
    private final class KnownProfile: Sendable {
        let profile = Mutex<any HeadsetProfile>(BufferedEEGProfile())
        /// By name: what a person demands as a serial number.
        let serials = Mutex<[String: String]>([:])
        /// Headsets that nobody has configured.
        let unnamed = Mutex<Set<String>>([])
        /// By name: addresses that tell two headsets apart which prove nothing.
        let identifiers: [String: PeripheralIdentifier]

        init(_ identifiers: [String: PeripheralIdentifier]) { self.identifiers = identifiers }

        func lookUp(_ open: OpenRecording) -> KnownHeadset? {
            if unnamed.withLock({ $0.contains(open.headsetName) }) { return nil }
            return KnownHeadset(
                name: open.headsetName, profile: profile.withLock { $0 },
                identifiers: [identifiers[open.headsetName]].compactMap(\.self),
                identityProof: serials.withLock { $0[open.headsetName] })
        }
    }

    /// - Parameter flushInterval: how often commits are made to survive a power cut; each of them by default.
    init(hasNeighbour: Bool = false, limits: AcquisitionLimits = AcquisitionLimits(), flushInterval: Duration = .zero) throws {
        store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "test"))
        var limits = limits
        (limits.wishesInterval, limits.flushInterval) = (nil, flushInterval)
        let known = KnownProfile(hasNeighbour ? ["left": script.identifier, "right": neighbour.identifier] : [:])
        self.known = known
        driver = try VirtualDriver(
            central: ScriptedCentrals(hasNeighbour ? [script, neighbour] : [script]), store: store, limits: limits, seed: 1,
            lookUp: { known.lookUp($0) },
            readClock: VirtualDriver.rightClock(unixNanosecondsAtBoot: 1_790_000_000_000_000_000))
        driver.conduct = { [unowned self] effect, _ in
            switch (commits, effect) {
            case (_, .readWishes) where readsFail, (_, .loadResumeState) where readsFail:
                VirtualDriver.TaskConduct(error: .sqlite(code: 10, detail: "test"))
            case (.never, .commit), (.never, .commitByHeadset), (.volatile, .flush):
                VirtualDriver.TaskConduct(error: .diskFull(detail: "test"))
            default: VirtualDriver.TaskConduct()
            }
        }
        driver.committed = { [unowned self] batch, _ in batches.append(batch) }
        driver.reported = { [unowned self] report, _ in if case .returned(let back) = report { returns.append(back) } }
    }

    var engine: AcquisitionEngine { driver.engine }

    var profile: any HeadsetProfile {
        get { known.profile.withLock { $0 } }
        set { known.profile.withLock { $0 = newValue } }
    }

    /// What a person demands as the serial number of a headset.
    func demand(_ serial: String?, of name: String = "left") { known.serials.withLock { $0[name] = serial } }

    /// A person leaves a headset out of the configuration.
    func leaveOut(_ name: String) { _ = known.unnamed.withLock { $0.insert(name) } }

    /// Wants the headset recorded.
    @discardableResult func want(_ name: String = "left") throws -> RecordingID {
        try store.control.startRecording(headset: name, model: "buffered-eeg", at: now)
    }

    /// Somebody has changed the wishes: the engine reads them.
    func reconcile() throws {
        driver.handle(.wishesChanged, at: now)
        for _ in 0..<4 { driver.step(at: now) }
    }

    /// The central says something.
    func emit(_ event: CentralEvent) {
        driver.handle(.central([event]), at: now)
    }

    /// A person reloads.
    func reload() {
        driver.handle(.reloaded { [known] in known.lookUp($0) }, at: now)
    }

    /// Takes the returns to streaming since the last time.
    func takeReturns() -> [StreamingReturn] {
        defer { returns.removeAll() }
        return returns
    }

    /// When something is due next; nil for never.
    var nextDue: MonotonicTime? { driver.deadline }

    /// Lets the time pass, at most until the headset's connection is in a phase.
    func run(_ duration: Duration, until phase: ConnectionPhase? = nil) throws {
        let end = now + duration
        while phase == nil || self.phase != phase, let due = driver.deadline, due <= end {
            now = max(now, due)
            iterationCount += 1
            driver.step(at: now)
            if iterationCount > 100_000 { throw DueForEver() }
        }
        if phase == nil { now = max(now, end) }
    }

    /// What is committed once the disk takes it again.
    func takeRest() throws -> [WriteBatch] {
        commits = .durable
        batches.removeAll()
        try run(.seconds(5))
        return batches
    }

    /// Where a headset's connection stands.
    func phase(of name: String) -> ConnectionPhase? { engine.headsets.first { $0.name == name }?.phase }

    /// Where the first headset's connection stands.
    var phase: ConnectionPhase? { engine.headsets.first?.phase }
}
