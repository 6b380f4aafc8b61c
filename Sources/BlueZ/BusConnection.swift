import CLinux
import CSystemd
import Glibc

/// This process's connection to the system bus: messages in and out, nothing ever waited for.
///
/// Made anew for each process and used by nobody else: bluetoothd arms notifications of a client's connection again when the
/// headset returns, so two users of one connection would get each value twice.
final class BusConnection {
    /// What came in.
    enum Received {
        /// The answer to the call with this cookie.
        case reply(cookie: UInt64, Result<[BusValue], BusError>)
        case signal(BusSignal)
        /// Somebody calls us and waits for ``answer(_:_:)``.
        case call(IncomingCall, BusMessage)
        /// A message that says nothing to this process.
        case nothing
        /// The connection is gone.
        case lost
    }

    /// How many messages are taken in one turn: whoever sends without end does not keep this process from its other work.
    static let turnLimit = 256

    private let bus: OpaquePointer
    private var isOpen = true

    /// Begins to connect to the system bus; what is sent meanwhile waits.
    init() throws(BusError) {
        var bus: OpaquePointer?
        let code = sd_bus_open_system(&bus)
        guard code >= 0, let bus else {
            throw BusError(name: "org.freedesktop.DBus.Error.NoServer", message: String(cString: strerror(-code)))
        }
        self.bus = bus
    }

    deinit { sd_bus_close_unref(bus) }

    /// To be watched for reading.
    var descriptor: Int32 { sd_bus_get_fd(bus) }

    /// True while something waits to be sent, or the connection is still being made.
    var wantsToWrite: Bool { isOpen && sd_bus_get_events(bus) & POLLOUT != 0 }

    /// Waits until something can be received or sent. Returns what is left of the time.
    func wait(microseconds limit: UInt64) -> UInt64 {
        let began = clinux_boottime_nanoseconds()
        guard sd_bus_wait(bus, limit) > 0 else { return 0 }
        return limit - min(limit, UInt64(clinux_boottime_nanoseconds() - began) / 1000)
    }

    /// Sends a call. Returns the cookie that its reply carries; nil where it cannot be sent.
    func send(_ call: BusCall) -> UInt64? {
        var pointer: OpaquePointer?
        let code = sd_bus_message_new_method_call(
            bus, &pointer, call.destination, call.path, call.interface, call.member)
        guard code >= 0, let pointer else { return nil }
        let message = BusMessage(owning: pointer)
        // bluetoothd runs or does not run as its administrator wants; a question must not start it.
        sd_bus_message_set_auto_start(pointer, 0)
        message.append(call.arguments)
        var cookie: UInt64 = 0
        return sd_bus_send(bus, pointer, &cookie) >= 0 ? cookie : nil
    }

    /// Waits until everything is sent.
    func flush() {
        sd_bus_flush(bus)
    }

    /// Asks the bus for signals that match a rule.
    func addMatch(_ rule: String) {
        _ = send(
            BusCall(
                number: CallNumber(rawValue: 0), destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus",
                interface: "org.freedesktop.DBus", member: "AddMatch", arguments: [.string(rule)]))
    }

    /// Answers a call that somebody made to us.
    func answer(_ call: BusMessage, _ result: Result<[BusValue], BusError>) {
        var pointer: OpaquePointer?
        let code: Int32
        switch result {
        case .success: code = sd_bus_message_new_method_return(call.pointer, &pointer)
        case .failure(let error):
            // The strings are copied before the call returns.
            code = error.name.withCString { name in
                error.message.withCString { text in
                    var reason = sd_bus_error(name: name, message: text, _need_free: 0)
                    return sd_bus_message_new_method_error(call.pointer, &pointer, &reason)
                }
            }
        }
        guard code >= 0, let pointer else { return }
        let message = BusMessage(owning: pointer)
        if case .success(let values) = result { message.append(values) }
        _ = sd_bus_send(bus, pointer, nil)
    }

    /// Sends a signal of one of our objects.
    func emit(path: String, interface: String, member: String, _ body: [BusValue]) {
        var pointer: OpaquePointer?
        guard sd_bus_message_new_signal(bus, &pointer, path, interface, member) >= 0, let pointer else { return }
        let message = BusMessage(owning: pointer)
        message.append(body)
        _ = sd_bus_send(bus, pointer, nil)
    }

    /// The next message; nil where nothing more has arrived.
    ///
    /// - Parameters:
    ///   - isAwaited: whether somebody waits for the answer to the call with this cookie. Only such an answer is given with its
    ///     file descriptors: any user of the machine may send others.
    ///   - mayBelieve: whether this sender's signals and calls are looked into. Those of others may be as large as the bus
    ///     lets them be, 32 MiB, and cost twenty times that where they are taken apart.
    func receive(isAwaited: (UInt64) -> Bool, mayBelieve: (String) -> Bool) -> Received? {
        guard isOpen else { return nil }
        var pointer: OpaquePointer?
        let code = sd_bus_process(bus, &pointer)
        if code < 0 {
            isOpen = false
            return .lost
        }
        if code == 0 { return nil }
        guard let pointer else { return .nothing }  // The library did something of its own.
        return Self.read(BusMessage(owning: pointer), isAwaited: isAwaited, mayBelieve: mayBelieve) ?? .nothing
    }

    /// What a message says; nil for one that nobody waits for, or that cannot be read.
    static func read(
        _ message: BusMessage, isAwaited: (UInt64) -> Bool, mayBelieve: (String) -> Bool
    ) -> Received? {
        switch Int(message.type) {
        case Int(SD_BUS_MESSAGE_METHOD_RETURN):
            guard let cookie = message.replyCookie, isAwaited(cookie) else { return nil }
            return .reply(cookie: cookie, body(message, keepsDescriptors: true))
        case Int(SD_BUS_MESSAGE_METHOD_ERROR):
            guard let cookie = message.replyCookie, isAwaited(cookie), let error = message.error else { return nil }
            return .reply(cookie: cookie, .failure(error))
        case Int(SD_BUS_MESSAGE_SIGNAL):
            guard mayBelieve(message.sender), case .success(let values) = body(message) else { return nil }
            return .signal(
                BusSignal(
                    sender: message.sender, path: message.path, interface: message.interface, member: message.member,
                    body: values))
        case Int(SD_BUS_MESSAGE_METHOD_CALL):
            // Who is not believed is refused, whatever is asked.
            let arguments = mayBelieve(message.sender) ? body(message) : .success([])
            guard case .success(let values) = arguments else { return nil }
            let call = IncomingCall(
                sender: message.sender, path: message.path, interface: message.interface, member: message.member,
                arguments: values)
            return .call(call, message)
        default: return nil
        }
    }

    private static func body(_ message: BusMessage, keepsDescriptors: Bool = false) -> Result<[BusValue], BusError> {
        do {
            return .success(try message.body(keepsDescriptors: keepsDescriptors))
        } catch {
            return .failure(
                BusError(name: "org.freedesktop.DBus.Error.InconsistentMessage", message: "the reply cannot be read"))
        }
    }
}
