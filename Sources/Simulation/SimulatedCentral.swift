package import Bluetooth

/// One daemon process's view of a ``SimulatedWorld``.
///
/// After a kill the instance is dead: its calls do nothing and it reports nothing.
package final class SimulatedCentral: Central {
    private let world: SimulatedWorld
    private let generation: UInt32

    init(world: SimulatedWorld, generation: UInt32) {
        self.world = world
        self.generation = generation
    }

    private var isAlive: Bool { world.process.isAlive && world.process.generation == generation }

    package var state: AdapterState { isAlive ? world.process.reportedState : .unknown }

    /// The present while events wait, else the time of the world's next event, of which this process need not hear.
    package var deadline: MonotonicTime? {
        guard isAlive else { return nil }
        return world.process.inbox.isEmpty ? world.nextEventTime : world.now
    }

    /// Lets the world go on until `now` and takes what it reports.
    package func process(at now: MonotonicTime) -> [CentralEvent] {
        guard isAlive else { return [] }
        world.advance(to: now)
        guard !world.process.inbox.isEmpty else { return [] }
        var events: [CentralEvent] = []
        swap(&events, &world.process.inbox)
        return events
    }

    package func request(_ request: CentralRequest) {
        if isAlive { world.take(request) }
    }
}
