import Bluetooth
import BluetoothManagement
import Glibc

/// Watches the adapter through the kernel's management channel, which needs no privilege for that.
final class AdapterWatch {
    /// How often a channel that cannot be opened, or broke, is tried again.
    private static let openingPause = Duration.seconds(2)
    /// How often a blocked radio is looked at: that it is not blocked any more, but still off, is told by nobody.
    private static let blockedPause = Duration.milliseconds(500)

    /// The adapter's state.
    private(set) var state = AdapterState.unknown
    private var table: AdapterTable
    private var socket: ManagementSocket?
    private var due: MonotonicTime? = .boot

    /// What the kernel has told, until somebody takes it. Kept only where somebody does.
    private var events: [ManagementEvent] = []
    private let keepsEvents: Bool
    private let wanted: String?
    private let transport: ControllerSettings
    private let readiness: SocketReadiness
    private let isBlocked: (String) -> Bool
    private let open: () throws(ManagementError) -> ManagementSocket

    init(
        adapter: String?, transport: ControllerSettings = .classic, keepsEvents: Bool = false, readiness: SocketReadiness,
        isBlocked: @escaping (String) -> Bool, open: @escaping () throws(ManagementError) -> ManagementSocket
    ) {
        wanted = adapter
        self.transport = transport
        self.keepsEvents = keepsEvents
        table = AdapterTable(wanted: adapter, transport: transport)
        self.readiness = readiness
        self.isBlocked = isBlocked
        self.open = open
    }

    deinit { if let socket { readiness.unwatch(socket.descriptor) } }

    /// The address of the adapter in use; 0 for any.
    var address: UInt64 { table.address }

    /// The adapter in use; nil where there is none.
    var index: ControllerIndex? { table.index }

    /// What the adapter in use has switched on.
    var settings: ControllerSettings { table.settings }

    /// What it could have switched on.
    var supportedSettings: ControllerSettings { table.supportedSettings }

    /// The channel's file descriptor; nil where it is closed.
    var descriptor: Int32? { socket?.descriptor }

    /// Takes what the kernel has told since.
    func takeEvents() -> [ManagementEvent] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    /// Sends a command. Where there is no channel, nothing happens; a channel that breaks is noticed when it is read.
    func send(_ command: ManagementCommand) {
        try? socket?.send(command)
    }

    /// When ``process(_:at:)`` is due.
    var deadline: MonotonicTime? { due }

    /// Takes what the kernel has told.
    func process(_ ready: [Int32], at now: MonotonicTime) {
        if let due, due <= now {
            self.due = nil
            if socket == nil { reopen(at: now) }
        } else if let socket, !ready.contains(socket.descriptor) {
            return
        }
        receive(at: now)
        guard socket != nil else { return }
        state = table.state(isBlocked: isBlocked)
        due = state == .blocked ? now + Self.blockedPause : nil
    }

    /// Closes the link to a peripheral, where this process may (CAP_NET_ADMIN): the kernel itself keeps a link whose headset is
    /// gone for up to 20 s (Vol 4, Part E, 6.21), and pages nobody whom it believes connected.
    ///
    /// Never to be called while the peripheral is only paged: the kernel (seen in 6.1) would cancel the page, but wait for the
    /// end of a link that never was, and refuse this command to everybody from then on.
    func disconnect(_ peripheral: PeripheralIdentifier) {
        guard let socket, let index = table.index else { return }
        try? socket.send(.disconnect(peripheral, index))
    }

    private func reopen(at now: MonotonicTime) {
        do {
            let socket = try open()
            table = AdapterTable(wanted: wanted, transport: transport)
            try socket.send(AdapterTable.question)
            self.socket = socket
            readiness.watch(socket.descriptor, for: .reading)
        } catch {
            state =
                switch error {
                case .cannotOpen(EAFNOSUPPORT): .unreachable
                case _ where error.disposition == .waitForOperator: .unauthorized
                default: .absent
                }
            due = now + Self.openingPause
        }
    }

    private func receive(at now: MonotonicTime) {
        while let socket {
            do {
                guard let event = try socket.receive() else { return }
                if keepsEvents { events.append(event) }
                for command in table.handle(event) { try socket.send(command) }
            } catch ManagementError.malformed {
                // One packet that cannot be read is gone; the next may be better.
                continue
            } catch {
                readiness.unwatch(socket.descriptor)
                self.socket = nil
                // `resetting` would be bluetoothd.
                state = .unknown
                due = now + Self.openingPause
            }
        }
    }
}
