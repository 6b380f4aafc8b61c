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
    /// A person switched the adapter off.
    case poweredOff
    /// Ready.
    case poweredOn

    /// True where only a person brings the adapter back; the program then waits and never switches it on.
    public var waitsForOperator: Bool {
        switch self {
        case .poweredOff, .blocked, .unauthorized, .unsupported, .unreachable: true
        case .unknown, .resetting, .absent, .inUse, .poweredOn: false
        }
    }
}
