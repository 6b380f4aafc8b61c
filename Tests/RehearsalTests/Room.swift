import Acquisition
import Bluetooth
import Headsets
import Reconnection
import Simulation
import Storage

@testable import Rehearsal

/// A daemon that records one headset in a simulated world, and what a test does to both.
final class Room {
    let world: SimulatedWorld
    let store: AcquisitionStore
    let recording: RecordingID
    private(set) var driver: VirtualDriver
    private(set) var known: KnownHeadset
    static let name = "left"

    /// - Parameter known: the addresses that the configuration names.
    init(_ headsets: [HeadsetSpecification], model: any HeadsetProfile = GanglionProfile(), known: [PeripheralIdentifier] = [])
        throws
    {
        world = SimulatedWorld(seed: 1, headsets: headsets, start: MonotonicTime(nanoseconds: 1_000_000_000))
        store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "room"))
        let configured = KnownHeadset(name: Self.name, profile: model, identifiers: known)
        self.known = configured
        recording = try store.control.startRecording(headset: Self.name, model: model.model, at: world.now)
        driver = try Self.start(world, store, configured)
    }

    private static func start(_ world: SimulatedWorld, _ store: AcquisitionStore, _ known: KnownHeadset) throws -> VirtualDriver
    {
        try VirtualDriver(
            central: world.makeCentral(), store: store, seed: 1, lookUp: { _ in known },
            readClock: VirtualDriver.rightClock(unixNanosecondsAtBoot: 1_790_000_000_000_000_000))
    }

    /// Lets time pass.
    func run(_ duration: Duration) throws {
        try world.advance(
            to: world.now + duration, next: { driver.deadline },
            step: { now throws(StorageError) in
                driver.step(at: now)
                return false
            })
    }

    /// A person changes the addresses in the configuration and reloads.
    func reload(_ identifiers: [PeripheralIdentifier]) {
        known.identifiers = identifiers
        driver.handle(.reloaded { [known] _ in known }, at: world.now)
    }

    /// A person changes what is done about addresses, or by what services it is found, and reloads.
    func reload(adoption: Adoption = Adoption(), pairingServices: [BluetoothUUID] = []) {
        known.adoption = adoption
        known.pairingServices = pairingServices
        driver.handle(.reloaded { [known] _ in known }, at: world.now)
    }

    /// The process dies, and another begins.
    func restart() throws {
        driver.kill(completing: true, at: world.now)
        world.kill()
        driver = try Self.start(world, store, known)
    }

    /// Where the headset's connection stands.
    var phase: ConnectionPhase? { driver.engine.headsets.first?.phase }

    /// The addresses at which the headset has streamed, the latest first.
    func reached() throws -> [PeripheralIdentifier] {
        try store.headset(named: Self.name).map { try store.identifiers(of: $0) } ?? []
    }
}
