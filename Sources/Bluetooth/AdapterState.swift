/// The state of a Bluetooth adapter: Core Bluetooth's `CBManagerState`, and the three that only Linux can distinguish.
public enum AdapterState: String, Hashable, Sendable, CaseIterable {
    /// Not known yet, or not known any more: the kernel is asked again at once.
    case unknown
    /// bluetoothd restarts, or does not run; a new state follows by itself.
    case resetting
    /// The adapter does not support Bluetooth Low Energy.
    case unsupported
    /// This process may not use Bluetooth; a person must grant it.
    case unauthorized
    /// The kernel has no Bluetooth, or keeps this process from it (`AF_BLUETOOTH` is no address family that it may use).
    case unreachable
    /// No adapter is there; it may be plugged in.
    case absent
    /// Another process of this program has it; it comes back by itself when that ends.
    case inUse
    /// A person blocked the radio (rfkill, airplane mode).
    case blocked
    /// The adapter is off: a person switched it off, or nobody has switched it on. `power_on` switches on what no person
    /// switched off.
    case poweredOff
    /// Ready.
    case poweredOn
}
