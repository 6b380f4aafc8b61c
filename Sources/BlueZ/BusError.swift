/// An error reply of D-Bus, as it came.
struct BusError: Error, Hashable, Sendable {
    /// The error's name, such as `org.bluez.Error.Failed`.
    var name: String
    /// The text that came with it; BlueZ puts the cause in here.
    var message: String

    /// No reply came in the time that the call was given.
    static let noReply = BusError(name: "org.freedesktop.DBus.Error.NoReply", message: "no reply in time")
    /// A headset that was paired wants to be paired anew, and a person forbade that.
    static let repairingForbidden = BusError(
        name: "org.eegsync.Error.RepairingForbidden", message: "the headset may not be paired anew")
    /// The connection to the bus, or bluetoothd itself, is gone.
    static let disconnected = BusError(name: "org.freedesktop.DBus.Error.Disconnected", message: "bluetoothd is gone")
}

extension BusError: CustomStringConvertible {
    var description: String { message.isEmpty ? name : "\(name): \(message)" }
}
