import Bluetooth

/// One request to a characteristic. bluetoothd answers a second one to the same characteristic with `InProgress`, so they wait
/// for each other here.
struct AttributeOperation: Hashable {
    /// What is asked.
    enum Kind: Hashable {
        case acquireNotify
        case startNotify
        case stopNotify
        /// The socket of AcquireNotify was closed; that bluetoothd has noticed is waited for.
        case releaseNotify
        case read
        case write([UInt8], WriteType)
        case acquireWrite([UInt8])
    }

    /// Distinguishes it from all others.
    let number: CallNumber
    /// The headset.
    let identifier: PeripheralIdentifier
    /// Its object.
    let devicePath: String
    /// The characteristic.
    let uuid: BluetoothUUID
    /// Its object.
    let path: String
    /// What is asked.
    var kind: Kind
    /// The attempt that asks.
    let attempt: Attempt
    /// True after a pairing was tried for it.
    var wasPaired = false
    /// True while it waits for the end of the pairing.
    var awaitsPairing = false
    /// When it ends by itself; nil where bluetoothd answers.
    var deadline: MonotonicTime?
}

/// Notifications of one characteristic that are on.
struct Subscription: Hashable {
    /// The headset.
    let identifier: PeripheralIdentifier
    /// The characteristic.
    let uuid: BluetoothUUID
    /// Its object.
    let path: String
    /// The socket of AcquireNotify; nil where StartNotify was used and values come as signals.
    let socket: Int32?
    /// The latest value that came as a signal.
    var latest: [UInt8]?
    /// When it came.
    var latestArrival = MonotonicTime(nanoseconds: 0)
}
