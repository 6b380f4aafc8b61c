import CSystemd
import Glibc

/// Looks at bluetoothd, and at the way to it.
struct BluetoothdInspection {
    let files: SystemFiles
    /// Where distributions put it; it is not in PATH.
    private static let paths = [
        "/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd", "/usr/sbin/bluetoothd",
    ]
    /// How long bluetoothd has to answer, in microseconds; it answers within a few milliseconds.
    private static let answerMicroseconds: UInt64 = 2_000_000

    private var binary: String? { Self.paths.first { files.exists($0) } }

    /// The version of the installed one; nil where there is none, or where it does not say.
    var version: String? { binary.flatMap { OtherProgram.output(of: $0, ["--version"]) } }

    func facts() -> HostFacts.Bluetoothd {
        var facts = HostFacts.Bluetoothd()
        facts.isInstalled = binary != nil
        facts.version = version
        facts.pid = files.pid(named: "bluetoothd")
        facts.bus = Self.bus(isBluetoothdRunning: facts.pid != nil)
        return facts
    }

    private static func bus(isBluetoothdRunning: Bool) -> HostFacts.Bus {
        var bus: OpaquePointer?
        let code = sd_bus_open_system(&bus)
        guard code >= 0, let bus else { return .unreachable(reason: String(cString: strerror(-code))) }
        defer { sd_bus_close_unref(bus) }
        return isBluetoothdRunning ? ping(bus) : .reachable
    }

    /// Asks bluetoothd for a sign of life, without starting it.
    private static func ping(_ bus: OpaquePointer) -> HostFacts.Bus {
        var message: OpaquePointer?
        guard sd_bus_message_new_method_call(bus, &message, "org.bluez", "/", "org.freedesktop.DBus.Peer", "Ping") >= 0,
            let message
        else { return .unreachable(reason: "no message can be made") }
        defer { sd_bus_message_unref(message) }
        sd_bus_message_set_auto_start(message, 0)
        var error = sd_bus_error()
        var reply: OpaquePointer?
        let code = sd_bus_call(bus, message, answerMicroseconds, &error, &reply)
        defer {
            sd_bus_error_free(&error)
            sd_bus_message_unref(reply)
        }
        if code >= 0 { return .reachable }
        let text = error.message.map { String(cString: $0) } ?? String(cString: strerror(-code))
        return self.bus(failure: error.name.map { String(cString: $0) } ?? "", text)
    }

    /// What the failure of a question to bluetoothd means, by its name (D-Bus Specification, "Standard Errors").
    static func bus(failure name: String, _ text: String) -> HostFacts.Bus {
        switch name {
        // The policy of the bus speaks so.
        case "org.freedesktop.DBus.Error.AccessDenied": .denied(reason: text)
        // The bus works, or it could not say so.
        case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout",
            "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.ServiceUnknown":
            .silent(reason: text)
        default: .unreachable(reason: text)
        }
    }
}
