/// The state of a Bluetooth adapter: Core Bluetooth's `CBManagerState`, and the two that only Linux can tell apart.
public enum AdapterState: String, Hashable, Sendable, CaseIterable {
    /// Not told yet.
    case unknown
    /// bluetoothd or the kernel restarts; a new state follows by itself.
    case resetting
    /// The adapter does not support Bluetooth Low Energy.
    case unsupported
    /// This process may not use Bluetooth; a person must grant it.
    case unauthorized
    /// No adapter is there; it may be plugged in.
    case absent
    /// A person blocked the radio (rfkill, airplane mode).
    case blocked
    /// A person switched the adapter off.
    case poweredOff
    /// Ready.
    case poweredOn

    /// True where only a person brings the adapter back; the program then waits and never switches it on.
    public var waitsForOperator: Bool {
        switch self {
        case .poweredOff, .blocked, .unauthorized, .unsupported: true
        case .unknown, .resetting, .absent, .poweredOn: false
        }
    }
}
