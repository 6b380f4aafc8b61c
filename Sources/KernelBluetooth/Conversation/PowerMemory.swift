import Bluetooth
import BluetoothManagement

/// What people have done with the power of adapters, and so whether one that is off is to be switched on. Pure.
///
/// One that appears off is: the kernel leaves a new adapter off, and without bluetoothd nobody else switches it on. One that
/// was on and is off is not: a person has switched it off, and it stays so until it is seen on again, even where it is pulled
/// out and put in, or the management channel breaks meanwhile. A blocked radio is no such wish: what blocks it (rfkill)
/// switches the adapter off and leaves it off, so it is to be as it was before. Nor is the end of bluetoothd, which switches
/// off all adapters when it is stopped; where the kernel's word on that is read late, bluetoothd may be gone already, so it
/// counts whether it ran when the adapter was last seen on.
///
/// That a person wants an adapter off is kept for later processes, once it is sure: not while an adapter may be on its way out,
/// nor while bluetoothd may be on its, as both are when the machine shuts down. What happens to an adapter while no process of
/// this program runs is not seen.
struct PowerMemory: Hashable {
    /// An adapter that is pulled out is reported to be off first, and then to be gone; the kernel may wait for an answer of the
    /// hardware in between, for 2 s (HCI_CMD_TIMEOUT). What is off for no longer than this was not switched off by a person.
    static let removalLimit = Duration.seconds(3)

    /// bluetoothd ends within a moment after it has switched the adapters off (`adapter_shutdown`), at most after 10 s
    /// (SHUTDOWN_GRACE_SECONDS in its src/main.c). One that has ended by then has done it.
    static let serviceLimit = Duration.seconds(10)
    /// How often it is looked until then.
    private static let servicePause = Duration.milliseconds(500)

    /// What is known of one adapter that has been on.
    private struct Adapter: Hashable {
        let address: UInt64
        var index: ControllerIndex
        /// Since when a person wants it off; nil where nobody does.
        var offTime: MonotonicTime?
        /// True where later processes are to know that.
        var isKept = false
        /// Whether bluetoothd ran when the adapter was last seen on.
        var hadService = false
        /// True from when its radio was blocked until it is on again.
        var wasBlocked = false
        /// When it is looked whether bluetoothd is still there; nil where it was not when the adapter was switched off.
        var serviceTime: MonotonicTime?
    }

    /// A change of what later processes are to know.
    struct Change: Hashable {
        /// The adapter's.
        let address: UInt64
        /// Whether a person wants it off.
        let isSwitchedOff: Bool
    }

    private var adapters: [Adapter]
    private var changes: [Change] = []

    /// - Parameter switchedOff: the addresses of the adapters that a person wants off, as earlier processes knew.
    init(switchedOff: [UInt64]) {
        adapters = switchedOff.map { Adapter(address: $0, index: .none, offTime: .boot, isKept: true) }
    }

    /// When ``wantsPower(_:on:in:wasBlocked:at:isBluetoothdRunning:)`` is to be asked again of an adapter that is off, although
    /// nothing was reported; nil for never.
    func deadline(of address: UInt64) -> MonotonicTime? {
        adapters.first { $0.address == address }.flatMap { $0.serviceTime ?? Self.keepingTime(of: $0) }
    }

    /// When it is sure that a person has switched an adapter off.
    private static func keepingTime(of adapter: Adapter) -> MonotonicTime? {
        adapter.isKept || adapter.serviceTime != nil ? nil : adapter.offTime.map { $0 + removalLimit }
    }

    /// Takes what later processes are to know.
    mutating func takeChanges() -> [Change] {
        defer { changes = [] }
        return changes
    }

    /// Takes how it stands with an adapter.
    ///
    /// - Parameters:
    ///   - address: the adapter's own, which it keeps when it appears under another number.
    ///   - index: its number now.
    ///   - state: only on, off and blocked say something of its power.
    ///   - wasBlocked: whether its radio was blocked since the last time, be it for a moment.
    ///   - isBluetoothdRunning: asked while the adapter is on, and when it was switched off; it must answer at once.
    /// - Returns: whether it is to be switched on.
    mutating func wantsPower(
        _ address: UInt64, on index: ControllerIndex, in state: AdapterState, wasBlocked: Bool = false, at now: MonotonicTime,
        isBluetoothdRunning: () -> Bool
    ) -> Bool {
        guard let row = adapters.firstIndex(where: { $0.address == address }) else {
            if state == .poweredOn {
                adapters.append(Adapter(address: address, index: index, hadService: isBluetoothdRunning()))
            }
            return state == .poweredOff
        }
        adapters[row].index = index
        if wasBlocked { adapters[row].wasBlocked = true }
        switch state {
        case .poweredOn:
            if adapters[row].isKept { changes.append(Change(address: address, isSwitchedOff: false)) }
            adapters[row] = Adapter(address: address, index: index, hadService: isBluetoothdRunning())
        case .blocked: adapters[row].wasBlocked = true
        case .poweredOff where adapters[row].wasBlocked && adapters[row].offTime == nil: return true
        case .poweredOff: return isOff(row, at: now, isBluetoothdRunning)
        default: break
        }
        return false
    }

    /// An adapter that was on is off. Returns whether that was nobody's wish.
    private mutating func isOff(_ row: Int, at now: MonotonicTime, _ isBluetoothdRunning: () -> Bool) -> Bool {
        guard let offTime = adapters[row].offTime else {
            adapters[row].offTime = now
            let isSuspect = adapters[row].hadService || isBluetoothdRunning()
            adapters[row].serviceTime = isSuspect ? now + Self.servicePause : nil
            return false
        }
        if let time = Self.keepingTime(of: adapters[row]), time <= now {
            adapters[row].isKept = true
            changes.append(Change(address: adapters[row].address, isSwitchedOff: true))
        }
        guard let serviceTime = adapters[row].serviceTime, serviceTime <= now else { return false }
        if isBluetoothdRunning() {
            adapters[row].serviceTime = now < offTime + Self.serviceLimit ? now + Self.servicePause : nil
            return false
        }
        // As if it had just appeared.
        adapters.remove(at: row)
        return true
    }

    /// An adapter was pulled out: when it appears again the kernel has it off, which says nothing of a person's will.
    mutating func removed(_ index: ControllerIndex, at now: MonotonicTime) {
        adapters.removeAll { adapter in
            let isOnItsWayOut = adapter.offTime.map { now - $0 < Self.removalLimit } ?? true
            return adapter.index == index && !adapter.isKept && isOnItsWayOut
        }
    }
}
