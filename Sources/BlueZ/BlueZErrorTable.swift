import Bluetooth

/// What BlueZ's error texts mean; nothing else reads them.
///
/// Names and texts are those of BlueZ 5.55 to 5.84 (src/error.c, src/device.c, src/gatt-client.c, src/adapter.c).
enum BlueZErrorTable {
    /// What an error of Device1.Connect means.
    static func connecting(_ error: BusError) -> CentralError {
        switch (error.name, error.message) {
        case (_, "le-connection-abort-by-local"), (_, "le-connection-timeout"), (_, "Host is down"),
            (_, "Connection timed out"):
            // Nobody answered while bluetoothd waited, 40 s in the kernel's default.
            .connectionTimedOut
        case (_, "le-connection-busy"), ("org.bluez.Error.Failed", "Operation already in progress"):
            .inProgress
        case (_, "le-connection-adapter-not-powered"): .adapterUnavailable(.poweredOff)
        default: general(error)
        }
    }

    /// What an error of a method of GattCharacteristic1 means.
    static func attribute(_ error: BusError) -> CentralError {
        if error == .repairingForbidden { return .repairingForbidden }
        if let code = attCode(error.message) { return .att(ATTError(code: code)) }
        return switch (error.name, error.message) {
        case (_, "Not paired"): .att(.insufficientAuthentication)
        case (_, "Read not permitted"): .att(.readNotPermitted)
        case (_, "Write not permitted"): .att(.writeNotPermitted)
        case (_, "Invalid offset"): .att(.invalidOffset)
        case (_, "Invalid Length"): .att(.invalidAttributeValueLength)
        case (_, "Notify acquired"): .notificationsAcquired
        case (_, "Write acquired"): .channelBusy
        case ("org.bluez.Error.NotAuthorized", _): .att(.insufficientAuthorization)
        case ("org.bluez.Error.NotSupported", _): .att(.requestNotSupported)
        default: general(error)
        }
    }

    /// What an error of any other method means.
    static func general(_ error: BusError) -> CentralError {
        switch error.name {
        case "org.bluez.Error.InProgress": .inProgress
        case "org.bluez.Error.NotReady": .adapterUnavailable(.poweredOff)
        case "org.bluez.Error.NotConnected": .notConnected
        case "org.bluez.Error.DoesNotExist", "org.freedesktop.DBus.Error.UnknownObject",
            "org.freedesktop.DBus.Error.UnknownMethod":
            .unknownPeripheral
        case "org.freedesktop.DBus.Error.AccessDenied": .notPermitted(what: "speak to bluetoothd over D-Bus")
        case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout": .connectionTimedOut
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.Disconnected":
            .adapterUnavailable(.resetting)
        default: error.message == "Not connected" ? .notConnected : .connectionFailed(reason: error.description)
        }
    }

    /// True where bluetoothd has no AcquireNotify for this characteristic, and StartNotify is to be tried.
    static func asksForStartNotify(_ error: BusError) -> Bool {
        switch error.name {
        // An indication before BlueZ 5.72; another program's notify session; a bluetoothd before 5.46.
        case "org.bluez.Error.NotSupported", "org.bluez.Error.InProgress", "org.freedesktop.DBus.Error.UnknownMethod": true
        default: false
        }
    }

    /// True where a radio that works would not have led to the error: it is neither the headset's own answer, nor the end of a
    /// link.
    static func isFailureOfRadio(_ error: BusError) -> Bool {
        if error == .noReply { return true }
        return error.name == "org.bluez.Error.Failed" && error.message != "Not connected" && attCode(error.message) == nil
    }

    /// The code in `Operation failed with ATT error: 0x0e`, in either of the two spellings.
    private static func attCode(_ message: String) -> UInt8? {
        let prefix = "Operation failed with ATT error: 0x"
        guard message.hasPrefix(prefix) else { return nil }
        let digits = message.dropFirst(prefix.count).prefix { $0.isHexDigit }
        return UInt8(digits, radix: 16)
    }
}
