import Bluetooth
import BluetoothManagement

/// What people have done with the power of adapters since this process began, and so whether one that is off is to be switched
/// on. Pure.
///
/// One that appears off is: the kernel leaves a new adapter off, and without bluetoothd nobody else switches it on. One that was
/// on and is off is not: a person has switched it off, and it stays so until it is seen on again, even where it is pulled out
/// and put in, or the management channel breaks meanwhile. A blocked radio is no such wish: what blocks it (rfkill) switches
/// the adapter off and leaves it off, so it is to be as it was before.
struct PowerMemory: Hashable {
    /// An adapter that is pulled out is told to be off first, and then to be gone; the kernel may wait for an answer of the
    /// hardware in between, for 2 s (HCI_CMD_TIMEOUT). What is off for no longer than this was not switched off by a person.
    static let removalLimit = Duration.seconds(3)

    /// What is known of one adapter that has been on.
    private struct Adapter: Hashable {
        let address: UInt64
        var index: ControllerIndex
        /// Since when a person wants it off; nil where nobody does.
        var offTime: MonotonicTime?
        /// True from when its radio was blocked until it is on again.
        var wasBlocked = false
    }

    private var adapters: [Adapter] = []

    /// Takes how it stands with an adapter.
    ///
    /// - Parameters:
    ///   - address: the adapter's own, which it keeps when it appears under another number.
    ///   - index: its number now.
    ///   - state: only on, off and blocked say something of its power.
    /// - Returns: whether it is to be switched on.
    mutating func wantsPower(
        _ address: UInt64, on index: ControllerIndex, in state: AdapterState, at now: MonotonicTime
    ) -> Bool {
        guard let place = adapters.firstIndex(where: { $0.address == address }) else {
            if state == .poweredOn { adapters.append(Adapter(address: address, index: index)) }
            return state == .poweredOff
        }
        adapters[place].index = index
        switch state {
        case .poweredOn: adapters[place] = Adapter(address: address, index: index)
        case .blocked: adapters[place].wasBlocked = true
        case .poweredOff:
            if !adapters[place].wasBlocked { adapters[place].offTime = adapters[place].offTime ?? now }
            return adapters[place].offTime == nil
        default: break
        }
        return false
    }

    /// An adapter was pulled out: when it appears again the kernel has it off, which says nothing of a person's will.
    mutating func removed(_ index: ControllerIndex, at now: MonotonicTime) {
        adapters.removeAll { adapter in
            adapter.index == index && adapter.offTime.map { now - $0 < Self.removalLimit } ?? true
        }
    }
}
