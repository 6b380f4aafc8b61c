import Bluetooth

/// Something that a link was asked to do, or does by itself. One after the other; handles are looked up when its turn comes.
enum ATTOperation: Hashable {
    /// The first of each link: headsets send longer notifications after it.
    case exchangeMTU
    /// Asks whether a map of an earlier link holds.
    case validate(attempt: Attempt)
    /// Discovers.
    case discover(attempt: Attempt)
    /// Switches notifications or indications on or off.
    case setNotify(Bool, BluetoothUUID, attempt: Attempt)
    /// Reads a value.
    case read(BluetoothUUID, attempt: Attempt)
    /// Writes a value.
    case write([UInt8], BluetoothUUID, WriteType, attempt: Attempt)
    /// Asks to be notified of changed services. Nobody waits for it.
    case watchServices
}

/// A characteristic whose values are reported.
struct ATTSubscription: Hashable {
    /// The handle of its value.
    let handle: AttributeHandle
    let uuid: BluetoothUUID
    /// True once the server has confirmed; a wish for what is on already is then answered at once.
    var isConfirmed: Bool
}
