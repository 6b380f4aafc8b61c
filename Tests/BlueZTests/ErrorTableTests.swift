import Bluetooth
import Testing

@testable import BlueZ

/// One row: what bluetoothd says, and what it means.
struct ErrorRow: Sendable, CustomTestStringConvertible {
    var name: String
    var message: String
    var meaning: CentralError

    init(_ name: String, _ message: String, _ meaning: CentralError) {
        self.name = name
        self.message = message
        self.meaning = meaning
    }

    var error: BusError { BusError(name: name, message: message) }
    var testDescription: String { "\(name): \(message)" }
}

/// BlueZ's words, verbatim from its source (src/error.c, src/device.c, src/gatt-client.c) and from its log.
struct ErrorTableTests {
    static let connectErrors = [
        ErrorRow("org.bluez.Error.Failed", "le-connection-abort-by-local", .connectionTimedOut),
        ErrorRow("org.bluez.Error.Failed", "le-connection-timeout", .connectionTimedOut),
        ErrorRow("org.bluez.Error.Failed", "Operation already in progress", .inProgress),
        ErrorRow("org.bluez.Error.InProgress", "In Progress", .inProgress),
        ErrorRow("org.bluez.Error.InProgress", "Operation already in progress", .inProgress),
        ErrorRow("org.bluez.Error.Failed", "le-connection-busy", .inProgress),
        ErrorRow("org.bluez.Error.NotReady", "Resource Not Ready", .adapterUnavailable(.poweredOff)),
        ErrorRow("org.bluez.Error.Failed", "le-connection-adapter-not-powered", .adapterUnavailable(.poweredOff)),
        ErrorRow(
            "org.freedesktop.DBus.Error.UnknownObject",
            "Method \"Connect\" with signature \"\" on interface \"org.bluez.Device1\" doesn't exist", .unknownPeripheral),
        ErrorRow("org.bluez.Error.DoesNotExist", "Does Not Exist", .unknownPeripheral),
        ErrorRow(
            "org.freedesktop.DBus.Error.AccessDenied", "Rejected send message, 2 matched rules",
            .notPermitted(what: "speak to bluetoothd over D-Bus")),
        ErrorRow(
            "org.freedesktop.DBus.Error.ServiceUnknown", "The name org.bluez was not provided by any .service files",
            .adapterUnavailable(.resetting)),
        ErrorRow("org.freedesktop.DBus.Error.NoReply", "no reply in time", .connectionTimedOut),
        ErrorRow(
            "org.bluez.Error.Failed", "Input/output error",
            .connectionFailed(reason: "org.bluez.Error.Failed: Input/output error")),
        ErrorRow(
            "org.bluez.Error.Failed", "br-connection-canceled",
            .connectionFailed(reason: "org.bluez.Error.Failed: br-connection-canceled")),
    ]

    @Test("What Device1.Connect says is understood", arguments: connectErrors)
    func connecting(row: ErrorRow) {
        #expect(BlueZErrorTable.connecting(row.error) == row.meaning)
    }

    static let attributeErrors = [
        ErrorRow("org.bluez.Error.Failed", "Operation failed with ATT error: 0x0e", .att(.unlikelyError)),
        ErrorRow("org.bluez.Error.Failed", "Operation failed with ATT error: 0x80", .att(ATTError(code: 0x80))),
        ErrorRow(
            "org.bluez.Error.Failed", "Operation failed with ATT error: 0x11 (Insufficient Resources)",
            .att(.insufficientResources)),
        ErrorRow("org.bluez.Error.NotPermitted", "Not paired", .att(.insufficientAuthentication)),
        ErrorRow("org.bluez.Error.NotPermitted", "Read not permitted", .att(.readNotPermitted)),
        ErrorRow("org.bluez.Error.NotPermitted", "Write not permitted", .att(.writeNotPermitted)),
        ErrorRow("org.bluez.Error.NotPermitted", "Notify acquired", .notificationsAcquired),
        ErrorRow("org.bluez.Error.NotPermitted", "Write acquired", .channelBusy),
        ErrorRow("org.bluez.Error.InvalidArguments", "Invalid Length", .att(.invalidAttributeValueLength)),
        ErrorRow("org.bluez.Error.InvalidArguments", "Invalid offset", .att(.invalidOffset)),
        ErrorRow("org.bluez.Error.NotAuthorized", "Operation Not Authorized", .att(.insufficientAuthorization)),
        ErrorRow("org.bluez.Error.NotSupported", "Operation is not supported", .att(.requestNotSupported)),
        ErrorRow("org.bluez.Error.Failed", "Not connected", .notConnected),
        ErrorRow("org.bluez.Error.NotConnected", "Not Connected", .notConnected),
        ErrorRow("org.bluez.Error.InProgress", "In Progress", .inProgress),
    ]

    @Test("What GattCharacteristic1's methods say is understood", arguments: attributeErrors)
    func attribute(row: ErrorRow) {
        #expect(BlueZErrorTable.attribute(row.error) == row.meaning)
    }

    @Test("Words that nobody knows are kept for a person, and retried")
    func unknown() {
        let error = BlueZErrorTable.general(BusError(name: "org.bluez.Error.New", message: "never heard of"))
        #expect(error == .connectionFailed(reason: "org.bluez.Error.New: never heard of"))
        #expect(error.disposition == .retry)
    }

    @Test(
        "AcquireNotify is given up for StartNotify where bluetoothd does not have it, and only there",
        arguments: [
            ("org.bluez.Error.NotSupported", true), ("org.bluez.Error.InProgress", true),
            ("org.freedesktop.DBus.Error.UnknownMethod", true), ("org.bluez.Error.NotPermitted", false),
            ("org.bluez.Error.Failed", false),
        ])
    func startNotify(name: String, expected: Bool) {
        #expect(BlueZErrorTable.asksForStartNotify(BusError(name: name, message: "")) == expected)
    }
}
