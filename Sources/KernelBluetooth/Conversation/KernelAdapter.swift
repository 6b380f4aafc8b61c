import Bluetooth
import BluetoothManagement

/// The adapter as this central uses it: whether it may, and whether it is to be switched on. Pure.
struct KernelAdapter {
    /// How long after a refusal the adapter is asked again to switch on: it may be just coming up, or busy.
    private static let powerPause = Duration.seconds(2)

    /// How often it is looked whether bluetoothd runs while nothing is reported of the adapter: that costs a look at the bus,
    /// and packets of headsets come some hundred times a second.
    private static let lookPause = Duration.seconds(1)

    /// What has become of the command to switch the adapter on.
    private enum Powering: Hashable {
        case idle
        /// It was sent and has no answer yet.
        case underWay
        /// It was refused; nil where it is not tried again.
        case refused(until: MonotonicTime?)
    }

    private let powersOn: Bool
    /// As the management channel reports it.
    private(set) var status = AdapterStatus()
    /// As last reported to callers.
    private(set) var state = AdapterState.unknown
    /// Whether this process may do what it must; nil before the kernel said so.
    private var isPermitted: Bool?
    /// The adapter that was prepared; nil before that, and after it was pulled out or the channel broke.
    private var preparedIndex: ControllerIndex?
    /// One that was prepared before it, and is still there.
    private var abandonedIndex: ControllerIndex?
    private var power: PowerMemory
    private var powering = Powering.idle
    /// When ``powerCommand(at:isBluetoothdRunning:)`` looks again; nothing was reported since it did.
    private var nextLook = MonotonicTime.boot

    init(powersOn: Bool, switchedOff: [UInt64]) {
        self.powersOn = powersOn
        power = PowerMemory(switchedOff: switchedOff)
    }

    /// The adapter in use; nil where there is none.
    var index: ControllerIndex? { status.index }

    /// When ``powerCommand(at:isBluetoothdRunning:)`` is to be asked again; nil for never. There is something to wait for only
    /// while the adapter in use is off, and it is asked about that one alone.
    var deadline: MonotonicTime? {
        guard powersOn, status.state == .poweredOff else { return nil }
        let retry: MonotonicTime? = if case .refused(let until) = powering { until } else { nil }
        return [retry, power.deadline(of: status.address)].compactMap { $0 }.min()
    }

    /// Takes what says how it stands with the adapter, before anything else is made of the news.
    mutating func note(_ event: ManagementEvent, at now: MonotonicTime) {
        switch event {
        case .indexAdded(let index), .indexRemoved(let index):
            power.removed(index, at: now)
            nextLook = .boot
        default: break
        }
        if event.isOfRenewedAdapter, event.index == preparedIndex { prepare(nil) }
        guard case .reply(let reply) = event, reply.index == preparedIndex else { return }
        nextLook = .boot
        switch (reply.opcode, reply.result) {
        // Of the answers, only the refusal needs to be known: that the adapter is off is reported otherwise.
        case (.getConnections, .failure(.permissionDenied)): isPermitted = false
        case (.getConnections, _): isPermitted = true
        case (.setPowered, .success): powering = .idle
        case (.setPowered, .failure(let status)):
            powering = .refused(until: status == .permissionDenied ? nil : now + Self.powerPause)
        default: break
        }
    }

    /// Takes the status after all of that. Returns true where an adapter has come into use.
    mutating func take(_ status: AdapterStatus) -> Bool {
        if status != self.status { nextLook = .boot }
        self.status = status
        // It is on; the kernel's answer to that may have been lost.
        if status.state == .poweredOn, powering == .underWay { powering = .idle }
        guard status.isOurs, let index, index != preparedIndex else { return false }
        abandonedIndex = preparedIndex
        prepare(index)
        return true
    }

    /// Returns the adapter that was in use until now, where it is still there: it is not to connect to anybody by itself.
    mutating func takeAbandoned() -> ControllerIndex? {
        defer { abandonedIndex = nil }
        return abandonedIndex
    }

    private mutating func prepare(_ index: ControllerIndex?) {
        preparedIndex = index
        isPermitted = nil
        powering = .idle
    }

    /// What an adapter that has come into use is sent before it gets keys.
    var preparation: ManagementCommand? {
        guard powersOn, let index, !status.settings.contains(.lowEnergy) else { return nil }
        return .setLowEnergy(true, index)
    }

    /// Returns the command that switches the adapter on, where that is wanted now.
    mutating func powerCommand(at now: MonotonicTime, isBluetoothdRunning: () -> Bool) -> ManagementCommand? {
        guard min(nextLook, deadline ?? nextLook) <= now else { return nil }
        nextLook = now + Self.lookPause
        guard powersOn, let index, status.isOurs,
            power.wantsPower(
                status.address, on: index, in: status.state, wasBlocked: status.wasBlocked, at: now,
                isBluetoothdRunning: isBluetoothdRunning)
        else {
            // Somebody else has switched it on, or nobody wants it on any more: what was refused is over.
            if powering != .underWay { powering = .idle }
            return nil
        }
        switch powering {
        case .underWay: return nil
        case .refused(let until): guard let until, until <= now else { return nil }
        case .idle: break
        }
        powering = .underWay
        return .setPowered(true, index)
    }

    /// Takes what later processes are to know of a person's switching off.
    mutating func takePowerChanges() -> [PowerMemory.Change] { power.takeChanges() }

    /// Returns the state where it has changed since it was last reported.
    mutating func takeNewState() -> AdapterState? {
        let newState: AdapterState =
            switch (status.state, isPermitted, powering) {
            case (.poweredOn, nil, _): .unknown
            case (.poweredOff, _, .underWay): .unknown
            case (.poweredOn, false?, _): .unauthorized
            case (.poweredOff, false?, _) where powersOn: .unauthorized
            default: status.state
            }
        guard newState != state else { return nil }
        state = newState
        return newState
    }
}

extension ManagementEvent {
    /// True where all that an adapter was sent before is void: it is new, or gone, or the first that a new channel reports.
    var isOfRenewedAdapter: Bool {
        switch self {
        case .indexAdded, .indexRemoved: true
        case .reply(let reply): reply.opcode == .readControllerInformation
        default: false
        }
    }
}
