import Bluetooth
import Headsets
import Simulation

/// A connection that everyday faults befall, for weeks of virtual time; one heartbeat a second instead of samples.
struct ConnectionSimulation {
    var seed: UInt64
    var seconds: Int64

    func run() -> Cost {
        var options = SimulatedWorld.Options()
        options.dataNotifications = .heartbeat(.seconds(1))
        let world = SimulatedWorld(
            seed: seed, headsets: [.buffered()], faults: .everyday, options: options,
            start: MonotonicTime(nanoseconds: 60_000_000_000))
        let end = world.now + .seconds(seconds)
        var driver = start(world)
        var restart: MonotonicTime?
        var returns = 0
        var cost = Cost.measure {
            while true {
                var next = end
                for instant in [world.nextEventTime, restart ?? driver.deadline] {
                    if let instant, instant < next { next = instant }
                }
                guard next < end else { break }
                world.advance(to: max(next, world.now))
                for fault in world.takeHostFaults() where fault.fault == .daemonKilled {
                    world.kill()
                    restart = world.now + fault.duration
                }
                if let due = restart {
                    guard due <= world.now else { continue }
                    restart = nil
                    returns += driver.returns
                    driver = start(world)
                }
                driver.process(at: world.now)
            }
            return seconds
        }
        cost.facts = [("returns", Double(returns + driver.returns)), ("events", Double(world.eventCount))]
        return cost
    }

    private func start(_ world: SimulatedWorld) -> MachineDriver {
        MachineDriver(
            world.makeCentral(), identifiers: world.headsets[0].identifiers,
            proof: world.headsets[0].specification.serialNumber, seed: seed, at: world.now)
    }
}
