import Bluetooth
import Simulation

/// What the wall clock of a host shows during one boot.
package struct HostClock: Hashable, Sendable {
    /// By how much it is ahead until it is synchronised; less than zero for a clock that is behind.
    package var error: Duration
    /// How long after the boot it is synchronised; nil for never.
    package var synchronisesAfter: Duration?
    /// By how much it is still ahead then, until a second step.
    package var remainingError: Duration
    /// How long after the boot that second step comes.
    package var settlesAfter: Duration?

    /// Creates a clock; by default it is right and synchronised from the beginning.
    package init(
        error: Duration = .zero, synchronisesAfter: Duration? = .zero, remainingError: Duration = .zero,
        settlesAfter: Duration? = nil
    ) {
        self.error = error
        self.synchronisesAfter = synchronisesAfter
        self.remainingError = remainingError
        self.settlesAfter = settlesAfter
    }

    /// Any clock: right, behind by hours as one without a battery, or ahead by years; synchronised late, in two steps, or
    /// never.
    static func random(_ generator: inout SeededGenerator) -> HostClock {
        let errors: [Duration] = [.zero, .seconds(-3600), .seconds(-400_000_000), .seconds(100_000_000), .milliseconds(300)]
        var clock = HostClock(error: errors[Int(generator.below(UInt64(errors.count)))])
        guard clock.error != .zero else { return clock }
        clock.synchronisesAfter = generator.next() % 5 == 0 ? nil : .seconds(Int64(1 + generator.below(100)))
        if let synchronised = clock.synchronisesAfter, generator.next() % 3 == 0 {
            clock.remainingError = .milliseconds(Int64(generator.below(4000)) - 2000)
            clock.settlesAfter = synchronised + .seconds(Int64(1 + generator.below(60)))
        }
        return clock
    }

    /// What it shows so long after the boot: by how much it is ahead, and whether it says that it is synchronised.
    func reading(after elapsed: Duration) -> (error: Duration, isSynchronised: Bool) {
        guard let synchronisesAfter, elapsed >= synchronisesAfter else { return (error, false) }
        if let settlesAfter, elapsed >= settlesAfter { return (.zero, true) }
        return (settlesAfter == nil ? .zero : remainingError, true)
    }

    /// True where it is right so long after the boot, and for some seconds before, in which the daemon looks at it.
    func isRight(after elapsed: Duration) -> Bool {
        guard error != .zero else { return true }
        guard let synchronisesAfter else { return false }
        return max(synchronisesAfter, settlesAfter ?? synchronisesAfter) + .seconds(15) <= elapsed
    }
}

/// The host loses its power and boots again: a new boot identifier, and a boottime that begins near 0.
package struct HostReboot: Hashable, Sendable {
    /// When the power goes.
    package var at: Duration
    /// How long it takes until the daemon runs again.
    package var downFor: Duration
    /// The wall clock of the new boot.
    package var clock: HostClock

    /// Creates a reboot.
    package init(at: Duration, downFor: Duration, clock: HostClock = HostClock()) {
        self.at = at
        self.downFor = downFor
        self.clock = clock
    }
}

extension RehearsalPlan {
    /// True where the wall clock of each boot is right before the boot ends. Each is 20 s old when the daemon starts.
    var clocksBecomeRight: Bool {
        var (clock, began) = (clock, Duration.seconds(-20))
        for reboot in hostReboots {
            guard clock.isRight(after: reboot.at - began) else { return false }
            (clock, began) = (reboot.clock, reboot.at + reboot.downFor - .seconds(20))
        }
        return clock.isRight(after: faultyPeriod + calmPeriod - began)
    }
}

/// A central that reports instants of the world on the boottime of the present boot.
final class BootCentral: Central {
    private let central: any Central
    /// When the boot began, on the world's time.
    private let offset: Duration

    init(_ central: any Central, bootBegan: MonotonicTime) {
        self.central = central
        offset = bootBegan - .boot
    }

    var state: AdapterState { central.state }
    var deadline: MonotonicTime? { central.deadline.map { $0 - offset } }

    func process(at now: MonotonicTime) -> [CentralEvent] {
        central.process(at: now + offset).map { event in
            guard case .didUpdateValue(let uuid, let peripheral, let value, let arrival) = event else { return event }
            return .didUpdateValue(uuid, on: peripheral, value: value, at: arrival - offset)
        }
    }

    func request(_ request: CentralRequest) { central.request(request) }
}
