package import Bluetooth

/// The world in which a daemon runs: a Bluetooth adapter, headsets, other programs, and everything that goes wrong.
///
/// A discrete-event simulation in one thread and in virtual time. The same seed, the same headsets and the same calls give
/// the same events. The world outlives the daemon: after ``kill()``, ``makeCentral()`` gives the next process its view.
/// A call to a central happens at the world's present, ``now``: drivers first process, then call.
package final class SimulatedWorld {
    /// How data notifications are sent.
    package enum DataNotifications: Hashable, Sendable {
        /// As the headset takes samples.
        case all
        /// One small notification at each interval, for long runs of the connection machine alone.
        case heartbeat(Duration)
    }

    /// What becomes of links when the process that made them is killed.
    package enum System: Hashable, Sendable {
        /// bluetoothd holds the link: it survives, services known, notifications off. Not that of a serial port, see
        /// ``kernelSockets``.
        case bluetoothd
        /// The process's own socket holds the link: it closes soon after.
        case kernelSockets
    }

    /// Choices that hold for a whole run.
    package struct Options: Hashable, Sendable {
        /// How data notifications are sent.
        package var dataNotifications = DataNotifications.all
        /// Who holds links.
        package var system = System.bluetoothd
        /// How long the link of a killed process stays up with ``System/kernelSockets``: the kernel's disconnect timeout.
        package var orphanDuration = Duration.seconds(2)
        /// How long the system takes to answer a request that needs no radio.
        package var systemLatency: ClosedRange<Duration> = .milliseconds(1) ... .milliseconds(15)
        /// How late notifications arrive.
        package var lateness = LatenessModel()

        /// Creates the options.
        package init() {}

        /// The interval of ``DataNotifications/heartbeat(_:)``; nil for ``DataNotifications/all``.
        var heartbeat: Duration? {
            if case .heartbeat(let interval) = dataNotifications { interval } else { nil }
        }
    }

    /// The seed of everything random.
    package let seed: UInt64
    /// The choices of this run.
    package let options: Options
    /// The faults of this run.
    package let faults: FaultProbabilities
    /// The headsets, in the order of their specifications.
    package private(set) var headsets: [SimulatedHeadset] = []
    /// How often each fault was really injected.
    package internal(set) var injected = InjectedFaults()
    /// What the daemon did against the contract of ``Central``; at most ``violationLimit`` are kept.
    package internal(set) var contractViolations: [ContractViolation] = []
    /// The most violations that are kept.
    package static let violationLimit = 100
    /// A checksum over all events that centrals have emitted, with their times: equal for equal runs.
    package internal(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    /// The number of events that centrals have emitted.
    package internal(set) var eventCount = 0
    /// The state of the adapter, reported or not.
    package internal(set) var adapterState = AdapterState.poweredOn

    /// What the headset sends instead of the simulated signal; only in a world of one headset.
    package var tape: (any SignalTape)?
    /// The world's present in nanoseconds.
    var clock: Int64
    var queue = EventQueue()
    /// What the present process knows and waits for.
    var process = SimulatedProcess()
    var requests = SlotTable<PendingRequest>()
    var deliveries = SlotTable<PendingDelivery>()
    var hostFaults: [HostFault] = []
    var conditions: FaultConditions
    var timing: SeededGenerator
    var chance: SeededGenerator
    var lateness: SeededGenerator
    /// Of what is malformed, and how.
    var malformation: SeededGenerator
    private var lastSerial: UInt32 = 0

    /// Creates a world.
    ///
    /// - Parameters:
    ///   - seed: decides everything random.
    ///   - headsets: what headsets there are.
    ///   - faults: how likely each fault is.
    ///   - script: faults at chosen instants, besides the random ones.
    ///   - options: choices for the whole run.
    ///   - start: the instant at which the world begins; the headsets were switched on then.
    package init(
        seed: UInt64, headsets: [HeadsetSpecification], faults: FaultProbabilities = .none, script: [ScriptedFault] = [],
        options: Options = Options(), start: MonotonicTime = .boot
    ) {
        self.seed = seed
        self.options = options
        self.faults = faults
        clock = start.nanoseconds
        timing = SeededGenerator(seed: seed, purpose: 1)
        chance = SeededGenerator(seed: seed, purpose: 2)
        lateness = SeededGenerator(seed: seed, purpose: 3)
        malformation = SeededGenerator(seed: seed, purpose: 4)
        conditions = FaultConditions(headsetCount: headsets.count, faults: faults)
        self.headsets = headsets.enumerated().map { SimulatedHeadset($1, number: $0, world: self) }
        for headset in self.headsets { headset.behaviour.boot(at: clock) }
        for fault in script { schedule(fault) }
        scheduleRandomFaults()
    }

    /// The world's present: the latest time that it was advanced to.
    package var now: MonotonicTime { MonotonicTime(nanoseconds: clock) }

    /// When the next thing happens in the world, whether or not a central hears of it; nil for never.
    package var nextEventTime: MonotonicTime? { queue.firstTime.map { MonotonicTime(nanoseconds: $0) } }

    /// Lets everything happen until `time`; does nothing for a time that has passed.
    package func advance(to time: MonotonicTime) {
        while let (instant, event) = queue.next(until: time.nanoseconds) {
            clock = max(clock, instant)
            perform(event)
        }
        clock = max(clock, time.nanoseconds)
    }

    /// A number that no other link or connection request has.
    func makeSerial() -> UInt32 {
        lastSerial += 1
        return lastSerial
    }

    /// A random time from the range, in nanoseconds.
    func draw(_ range: ClosedRange<Duration>) -> Int64 { timing.duration(range).nanoseconds }

    private func perform(_ event: WorldEvent) {
        switch event {
        case .advertise(let number, let generation): advertise(headsets[Int(number)], generation: generation)
        case .establish(let serial): establish(serial)
        case .perform(let slot): perform(slot: Int(slot))
        case .deliver(let slot): deliver(slot: Int(slot))
        case .tick(let number, let generation): headsets[Int(number)].tick(generation: generation, at: clock)
        case .supervise(let number, let serial): supervise(headsets[Int(number)], link: serial)
        case .release(let number, let serial): releaseHeld(headsets[Int(number)], link: serial)
        case .arrive(let number, let serial): arriveNext(headsets[Int(number)], link: serial)
        case .booted(let number, let generation): finishBoot(headsets[Int(number)], generation: generation)
        case .closeOrphan(let number, let serial): closeOrphan(headsets[Int(number)], link: serial)
        case .faultBegins(let fault, let number, let duration): begin(fault, headset: Int(number), duration: duration)
        case .faultEnds(let fault, let number, let generation): end(fault, headset: Int(number), generation: generation)
        case .faultDraw(let fault, let number): drawFault(fault, headset: Int(number))
        case .faultsStop: endAllFaults()
        }
    }
}

/// Something that a daemon did against the contract of ``Central``.
package struct ContractViolation: Hashable, Sendable {
    /// When it was done.
    package var time: MonotonicTime
    /// What was done.
    package var kind: Kind
    /// The headset that it concerns.
    package var identifier: PeripheralIdentifier
    /// The attempt of the call.
    package var attempt: Attempt
    /// The attempt of the connect that was outstanding; none where the violation is of another kind.
    package var earlier: Attempt = .none

    /// Kinds of violations.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A connect while an earlier one to the same identifier was neither answered nor cancelled.
        case secondConnect
        /// A connect while one to another identifier of the same headset was neither answered nor cancelled.
        case secondConnectToHeadset
        /// A request without an attempt number.
        case missingAttempt
    }
}
