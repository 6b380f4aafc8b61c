import Bluetooth
import Simulation

/// A world with one daemon process that does only what the test asks for.
final class Bench {
    let world: SimulatedWorld
    private(set) var central: SimulatedCentral
    /// What the present process received and ``take()`` did not take.
    private(set) var events: [CentralEvent] = []
    /// Seconds between two looks; nil for a driver that sleeps until the deadline.
    private let step: Double?

    init(
        seed: UInt64 = 1, headsets: [HeadsetSpecification] = [.counting()], faults: FaultProbabilities = .none,
        script: [ScriptedFault] = [], options: SimulatedWorld.Options = SimulatedWorld.Options(), step: Double? = nil
    ) {
        world = SimulatedWorld(seed: seed, headsets: headsets, faults: faults, script: script, options: options)
        central = world.makeCentral()
        self.step = step
    }

    /// Lets the time pass, delivering events as a driver does.
    func run(seconds: Double) {
        let end = world.now + .nanoseconds(Int64(seconds * 1e9))
        while world.now < end {
            let wanted = step.map { world.now + .nanoseconds(Int64($0 * 1e9)) } ?? central.deadline ?? end
            events += central.process(at: min(end, wanted))
        }
        events += central.process(at: end)
    }

    /// Lets the first seconds pass, in which nothing but the adapter's state is reported.
    func begin(seconds: Double) {
        run(seconds: seconds)
        events = []
    }

    /// Takes the events so far.
    @discardableResult
    func take() -> [CentralEvent] {
        defer { events = [] }
        return events
    }

    /// Kills the process and starts the next.
    func restart() {
        events = []
        central = world.makeCentral()
    }

    /// Connects the headset and discovers its services.
    func connect(_ number: Int = 0) {
        run(seconds: 1)
        let identifier = world.headsets[number].identifier
        central.request(.connect(identifier, attempt: Attempt(number: 1)))
        run(seconds: 1)
        central.request(.discoverServices(on: identifier, attempt: Attempt(number: 2)))
        run(seconds: 1)
        events = []
    }
}

extension MonotonicTime {
    /// The instant that many seconds after boot.
    static func seconds(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }
}
