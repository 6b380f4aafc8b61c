import Bluetooth

/// How an error of the Attribute Protocol is said to bluetoothd, which knows some of them by name (`dbus_error_to_att_ecode` in
/// src/gatt-database.c) and makes 0x80, "application error", of the rest.
enum PublishedError {
    static func error(_ error: ATTError) -> BusError {
        let name =
            switch error {
            case .readNotPermitted, .writeNotPermitted: "NotPermitted"
            case .invalidAttributeValueLength: "InvalidValueLength"
            case .invalidOffset: "InvalidOffset"
            case .insufficientAuthorization: "NotAuthorized"
            case .requestNotSupported: "NotSupported"
            case .procedureAlreadyInProgress: "InProgress"
            default: "Failed"
            }
        return BusError(name: "org.bluez.Error.\(name)", message: "\(error)")
    }

    static let unknownObject = BusError(
        name: "org.freedesktop.DBus.Error.UnknownObject", message: "there is no such object")
    static let unknownMethod = BusError(
        name: "org.freedesktop.DBus.Error.UnknownMethod", message: "there is no such method")
    static let onlyBluetoothd = BusError(
        name: "org.freedesktop.DBus.Error.AccessDenied", message: "only bluetoothd may call this object")
}
