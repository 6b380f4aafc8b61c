import Bluetooth
import BluetoothManagement
import Glibc

/// Watches the adapter through the kernel's management channel, which needs no privilege for that.
final class AdapterWatch {
    /// How often a channel that cannot be opened, or broke, is tried again.
    private static let openingPause = Duration.seconds(2)
    /// How often a blocked radio is looked at where the switches cannot be watched: the management channel does not say that
    /// it is not blocked any more, but still off.
    private static let blockedPause = Duration.milliseconds(500)
    /// How often it is looked whether the other process that has the adapter has ended.
    private static let lockPause = Duration.seconds(1)

    /// The adapter in use.
    private(set) var status = AdapterStatus()
    private var table: AdapterTable
    private var socket: ManagementSocket?
    private var due: MonotonicTime? = .boot

    /// What the kernel has reported, until it is taken.
    private var events: [ManagementEvent] = []
    private let wanted: String?
    private let transport: ControllerSettings
    private let readiness: SocketReadiness
    private let radio: RadioSwitches
    /// Keeps other processes from the adapter, and this one from theirs; nil for one that only looks on.
    private let lock: AdapterLock?
    /// Notices that a radio switch has changed, where they can be watched.
    private let switches: RadioSwitchWatch
    private let open: () throws(ManagementError) -> ManagementSocket

    init(
        adapter: String?, transport: ControllerSettings = .classic, readiness: SocketReadiness, radio: RadioSwitches,
        lock: AdapterLock? = nil, open: @escaping () throws(ManagementError) -> ManagementSocket
    ) {
        wanted = adapter
        self.transport = transport
        table = AdapterTable(wanted: adapter, transport: transport)
        self.readiness = readiness
        self.radio = radio
        self.lock = lock
        self.open = open
        switches = RadioSwitchWatch(
            adopting: radio.open(),
            watch: DescriptorWatch(watch: { readiness.watch($0, for: .reading) }, unwatch: { readiness.unwatch($0) }))
    }

    deinit {
        if let socket { readiness.unwatch(socket.descriptor) }
    }

    /// The channel's file descriptor; nil where it is closed.
    var descriptor: Int32? { socket?.descriptor }

    /// Takes what the kernel has reported since.
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

    /// Takes what the kernel has reported.
    func process(_ ready: [Int32], at now: MonotonicTime) {
        lock?.dismissQuestions()
        if let due, due <= now {
            self.due = nil
            if socket == nil { reopen(at: now) }
        } else if !hasMovedSwitch(ready), let socket, !ready.contains(socket.descriptor) {
            return
        }
        receive(at: now)
        guard socket != nil else { return }
        status = table.status(isBlocked: radio.isBlocked, mayUse: { [lock] in lock?.take($0) ?? true })
        switch status.state {
        case .blocked where switches.descriptor == nil: due = now + Self.blockedPause
        case .inUse: due = now + Self.lockPause
        default: due = nil
        }
    }

    /// Takes what the radio switches report. Returns whether one has changed, or whether they cannot be watched any more.
    private func hasMovedSwitch(_ ready: [Int32]) -> Bool {
        guard let descriptor = switches.descriptor, ready.contains(descriptor) else { return false }
        return switches.takeChange()
    }

    /// Closes the link to a peripheral, where this process may (CAP_NET_ADMIN): the kernel itself keeps a link whose headset is
    /// gone for up to 20 s (Vol 4, Part E, 6.21), and pages nobody whom it believes connected.
    ///
    /// Never to be called while the peripheral is only paged: the kernel (seen in 6.1) would cancel the page, but wait for the
    /// end of a link that never was, and refuse this command to everybody from then on.
    func disconnect(_ peripheral: PeripheralIdentifier) {
        guard let socket, let index = status.index else { return }
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
            status.state =
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
                events.append(event)
                for command in table.handle(event) { try socket.send(command) }
            } catch ManagementError.malformed {
                // One packet that cannot be read is gone; the next may be better.
                continue
            } catch {
                readiness.unwatch(socket.descriptor)
                self.socket = nil
                // `resetting` would be bluetoothd.
                status.state = .unknown
                due = now + Self.openingPause
            }
        }
    }
}
