import Bluetooth
import CentralContract
import Simulation

/// A bench in virtual time: a simulated world with one headset that has memory.
final class SimulatedBench: ContractBench {
    private let world: SimulatedWorld
    private(set) var now: MonotonicTime

    init(seed: UInt64, system: SimulatedWorld.System = .bluetoothd) {
        var options = SimulatedWorld.Options()
        options.system = system
        // An instant like that of a machine that has been up for a while.
        now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        world = SimulatedWorld(seed: seed, headsets: [.buffered()], options: options, start: now)
    }

    var headset: ContractHeadset {
        let specification = world.headsets[0].specification
        return ContractHeadset(
            identifier: specification.identifier, serialNumber: specification.serialNumber ?? "")
    }

    var keepsLinks: Bool { world.options.system == .bluetoothd }

    func makeCentral() -> any Central { world.makeCentral() }

    func pass(until instant: MonotonicTime) { now = max(now, instant) }

    func takeAway(for duration: Duration) { inflict(.outOfRange, for: duration) }

    func closeLinkFromHeadset() { inflict(.headsetDisconnect) }

    func switchAdapterOff(for duration: Duration) { inflict(.adapterOff, for: duration) }

    private func inflict(_ fault: Fault, for duration: Duration = .zero) {
        world.schedule(ScriptedFault(at: now, fault, for: duration))
    }
}
