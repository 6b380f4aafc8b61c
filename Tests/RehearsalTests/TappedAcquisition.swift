import Acquisition
import Bluetooth
import Headsets
import Simulation
import Storage
import Tap

@testable import Rehearsal

/// A virtual acquisition of one headset, and a witness at its tap.
final class TappedAcquisition {
    let world: SimulatedWorld
    let store: AcquisitionStore
    let recording: RecordingID
    let driver: VirtualDriver
    let witness = TapWitness()
    /// What was written.
    private(set) var batches: [WriteBatch] = []

    /// - Parameters:
    ///   - isRead: true where the witness reads from the beginning.
    ///   - defect: between the engine and the database.
    init(
        _ headset: HeadsetSpecification = .buffered(), profile: any HeadsetProfile = BufferedEEGProfile(),
        script: [ScriptedFault] = [], faults: FaultProbabilities = .none, isRead: Bool = true, defect: PlantedDefect? = nil
    ) throws {
        world = SimulatedWorld(
            seed: 1, headsets: [headset], faults: faults, script: script, start: MonotonicTime(nanoseconds: 1_000_000_000))
        store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "tapped"))
        let known = KnownHeadset(name: "left", profile: profile, identifiers: [headset.identifier])
        recording = try store.control.startRecording(headset: "left", model: profile.model, at: world.now)
        driver = try VirtualDriver(
            central: world.makeCentral(), store: store, seed: 1, lookUp: { _ in known },
            conduct: { effect, _ in
                // Marks of people are read beside everything else: what a reader's coming costs the database is not compared.
                if case .readMarks = effect { return VirtualDriver.TaskConduct() }
                return VirtualDriver.TaskConduct(duration: .milliseconds(5))
            },
            readClock: VirtualDriver.rightClock(unixNanosecondsAtBoot: 1_790_000_000_000_000_000))
        driver.willCommit = { batch in defect?.spoil(&batch) }
        driver.committed = { [unowned self] batch, _ in
            batches.append(batch)
            if isRead { witness.store(batch) }
        }
        driver.tapped = { [unowned self] messages, _ in witness.hear(messages) }
        if isRead { join() }
    }

    /// A reader comes.
    func join(_ number: UInt64 = 1) {
        driver.handle(.readerJoined(TapQueue.ReaderID(rawValue: number), droppedReaders: 0), at: world.now)
    }

    /// Lets time pass.
    func run(_ duration: Duration) { driver.advance(world, to: world.now + duration) }

    /// The process ends in order.
    func end() throws { try driver.end(at: world.now) }

    /// An instant so long after the world's begin.
    static func instant(_ after: Duration) -> MonotonicTime { MonotonicTime(nanoseconds: 1_000_000_000) + after }
}
