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
    /// How often all adapters are asked for once more: the kernel drops its news without a trace where the channel is full, and
    /// an adapter that counts as off although it is on would be waited for without end.
    private static let questionPause = Duration.seconds(60)

    /// The adapter in use.
    private(set) var status = AdapterStatus()
    private var table: AdapterTable
    private var socket: ManagementSocket?
    private var due: MonotonicTime? = .boot
    /// When all adapters are asked for once more.
    private var nextQuestion = MonotonicTime.boot

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

    /// When ``process(_:at:)`` is due. While the adapter is on, nobody is woken to ask for it once more: whoever uses it has
    /// deadlines of his own.
    var deadline: MonotonicTime? {
        guard socket != nil, status.state != .poweredOn else { return due }
        return min(due ?? nextQuestion, nextQuestion)
    }

    /// Takes what the kernel has reported.
    func process(_ ready: [Int32], at now: MonotonicTime) {
        lock?.dismissQuestions()
        if let due, due <= now {
            self.due = nil
            if socket == nil { reopen(at: now) }
        } else if !isReported(in: ready), now < nextQuestion {
            return
        }
        receive(at: now)
        let blocked = switches.takeChange()?.blocked ?? []
        // That the adapter is off the kernel has reported before it reported what has blocked its radio: both count together.
        if !blocked.isEmpty { receive(at: now) }
        askAgain(at: now)
        guard socket != nil else { return }
        status = table.status(
            isBlocked: radio.isBlocked,
            wasBlocked: { [radio] in !blocked.isEmpty && radio.number($0).map(blocked.contains) == true },
            mayUse: { [lock] in lock?.take($0) ?? true })
        switch status.state {
        case .blocked where switches.descriptor == nil: due = now + Self.blockedPause
        case .inUse: due = now + Self.lockPause
        default: due = nil
        }
    }

    /// Whether the management channel or the radio switches have something to say.
    private func isReported(in ready: [Int32]) -> Bool {
        if let descriptor = socket?.descriptor, ready.contains(descriptor) { return true }
        if let descriptor = switches.descriptor, ready.contains(descriptor) { return true }
        return false
    }

    /// Asks for all adapters, where that was long ago.
    private func askAgain(at now: MonotonicTime) {
        guard socket != nil, nextQuestion <= now else { return }
        nextQuestion = now + Self.questionPause
        send(AdapterTable.question)
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
            nextQuestion = now + Self.questionPause
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
                let outcome = table.handle(event)
                events += outcome.news
                for command in outcome.questions { try socket.send(command) }
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
