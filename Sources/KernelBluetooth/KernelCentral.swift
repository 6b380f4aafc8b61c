import AttributeProtocol
public import Bluetooth
import BluetoothManagement
import CLinux
import Glibc

/// The central for Bluetooth Low Energy over the kernel's own sockets, for machines without bluetoothd: the management channel
/// for scans and connections, one socket for the Attribute Protocol of each link.
///
/// A headset that is away is waited for by the kernel, which connects as soon as it advertises; the socket is opened when the
/// link is up. Nobody waits with a socket that connects: closing such a one after the adapter was switched off has been seen
/// to damage the kernel's memory (Linux 6.1.192, `l2cap_conn_free`). All of this needs CAP_NET_ADMIN. A link ends with its
/// socket, and so with this process: nothing is ever restored.
public final class KernelCentral: Central {
    /// How long the channel of a link that is up may take to open: the kernel needs no packet for it.
    static let openingLimit = Duration.seconds(5)
    /// How often it is looked whether a link has become more secure, where the kernel does not show it by taking packets.
    static let securityPause = Duration.milliseconds(50)
    /// The largest packet that is received. The kernel's own limit is 672 (L2CAP_DEFAULT_MTU).
    private static let receiveLimit = AttributeMTU.largestUseful
    /// How many packets one link gets before the others have their turn.
    private static let packetsPerTurn = 64
    /// How long after a refusal the adapter is told again to switch on: it may be just coming up, or busy.
    private static let powerPause = Duration.seconds(2)
    /// How many packets may wait to be sent: the kernel takes them as fast as the link does.
    private static let outboxLimit = 256

    let readiness = SocketReadiness()
    let sockets: LowEnergySockets
    let adapter: AdapterWatch
    let maps: HandleMapStore
    let bondStore: BondStore?
    let passkeys: [Passkey]
    var bonds: BondTable
    /// The adapter that has the keys.
    var keyedIndex: ControllerIndex?
    /// Private addresses of links whose identity was told since.
    var resolved: [(address: PeripheralIdentifier, identity: PeripheralIdentifier)] = []
    private var arrivals = ArrivalClock()
    private let watch: DescriptorWatch
    private let powersOn: Bool
    /// Whether nobody else of this program uses the adapter, so that what is in the way may be cleared away.
    let isAlone: Bool
    let isBluetoothdRunning: () -> Bool
    /// The present, as last told.
    var now = MonotonicTime.boot
    var links: [KernelLink] = []
    /// The devices that the kernel says are connected, by whomever.
    var connectedDevices: [PeripheralIdentifier] = []
    var parameters = ConnectionParameterLoader()
    var scan = KernelScan()
    /// Questions for connected headsets that wait for their answer.
    var retrievals: [KernelRetrieval] = []
    /// What connected devices were found to offer, until they are gone.
    var probedMaps: [(device: PeripheralIdentifier, map: HandleMap)] = []
    /// Who was discovered lately, with which advertisement and when.
    var sightings: [(peripheral: PeripheralIdentifier, advertisement: Advertisement, at: MonotonicTime)] = []
    /// Peripherals that the kernel still waits for, and until when.
    var givenUp: [(peripheral: PeripheralIdentifier, until: MonotonicTime)] = []
    /// Peripherals whose channel bluetoothd has taken, and when it is looked whether it is still there.
    var held: [PeripheralIdentifier] = []
    var heldTime: MonotonicTime?
    /// Whether this process may do what it must; nil before the kernel said so.
    var isPermitted: Bool?
    /// The adapter that was prepared; nil before that, and after it was pulled out or the channel broke.
    private var preparedIndex: ControllerIndex?
    private var power = PowerMemory()
    private var powering = Powering.idle
    private var events: [CentralEvent] = []
    private var buffer = [UInt8](repeating: 0, count: KernelCentral.receiveLimit.rawValue + 1)

    public private(set) var state = AdapterState.unknown

    /// What has become of the command to switch the adapter on.
    private enum Powering {
        case idle
        /// It was sent and has no answer yet.
        case underWay
        /// It was refused; nil where it is not tried again.
        case refused(until: MonotonicTime?)
    }

    /// Creates a central that opens its sockets when it is first processed.
    ///
    /// - Parameters:
    ///   - adapter: `hci0`, or an address such as `00:AA:01:00:00:42`; nil for the first that is on.
    ///   - powersOn: whether an adapter that is off when it appears is switched on, for machines where nobody else does it.
    ///     One that is switched off later stays off; see ``PowerMemory``.
    ///   - isAlone: false for a command that looks on while another process records: it ends nobody's discovery and keeps
    ///     nobody's devices from being connected.
    ///   - maps: where handles are kept from one link to the next.
    ///   - bonds: where the keys of headsets are kept; nil to leave those of the adapter as they are.
    ///   - passkeys: what headsets show that ask for a passkey when they are paired.
    ///   - isBluetoothdRunning: asked when something happens that bluetoothd may have done; it must answer at once.
    ///   - watch: where its file descriptors are watched.
    public convenience init(
        adapter: String? = nil, powersOn: Bool = false, isAlone: Bool = true, maps: HandleMapStore = .inMemory(),
        bonds: BondStore? = nil, passkeys: [Passkey] = [], isBluetoothdRunning: @escaping () -> Bool = { false },
        watch: DescriptorWatch
    ) {
        self.init(
            adapter: adapter, powersOn: powersOn, isAlone: isAlone, maps: maps, bonds: bonds, passkeys: passkeys,
            isBluetoothdRunning: isBluetoothdRunning, watch: watch, sockets: .kernel,
            isBlocked: { RadioSwitch.isBlocked(adapter: $0) },
            openManagement: { () throws(ManagementError) in try ManagementSocket() })
    }

    /// The same with other sockets.
    init(
        adapter: String?, powersOn: Bool = false, isAlone: Bool = true, maps: HandleMapStore = .inMemory(),
        bonds: BondStore? = nil, passkeys: [Passkey] = [], isBluetoothdRunning: @escaping () -> Bool,
        watch: DescriptorWatch, sockets: LowEnergySockets, isBlocked: @escaping (String) -> Bool,
        openManagement: @escaping () throws(ManagementError) -> ManagementSocket
    ) {
        self.watch = watch
        self.powersOn = powersOn
        self.isAlone = isAlone
        self.isBluetoothdRunning = isBluetoothdRunning
        self.maps = maps
        bondStore = bonds
        self.passkeys = passkeys
        self.bonds = BondTable(bonds?.load() ?? [])
        self.sockets = sockets
        self.adapter = AdapterWatch(
            adapter: adapter, transport: .lowEnergy, keepsEvents: true, readiness: readiness, isBlocked: isBlocked,
            open: openManagement)
        watch.watch(readiness.descriptor)
    }

    deinit {
        watch.unwatch(readiness.descriptor)
        for link in links { if let socket = link.socket { Glibc.close(socket) } }
        guard let index = adapter.index else { return }
        for (peripheral, _) in givenUp { adapter.send(.removeDevice(peripheral, index)) }
    }

    // MARK: Time

    public var deadline: MonotonicTime? {
        if !events.isEmpty { return now }
        let others = [adapter.deadline, scan.retry, powerDeadline, power.deadline, heldTime, retrievals.map(\.limit).min()]
        return (others + links.map(\.deadline) + givenUp.map(\.until)).compactMap { $0 }.min()
    }

    public func process(at now: MonotonicTime) -> [CentralEvent] {
        self.now = now
        var ready = readiness.ready()
        // First what the headsets sent: the news that a link is gone must not overtake its last samples.
        for identifier in links.filter({ $0.socket.map(ready.contains) ?? false }).map(\.identifier) { serve(identifier) }
        // Why a link ended was told before its socket ended, but maybe after this turn looked.
        if links.contains(where: { $0.end != nil }), let channel = adapter.descriptor { ready.append(channel) }
        adapter.process(ready, at: now)
        let told = adapter.takeEvents()
        for event in told { noteAdapter(event) }
        attendToAdapter()
        adapterChanged()
        for event in told { handle(event) }
        for link in links { if let error = link.end { end(link.identifier, SocketError.ended(error)) } }
        linksDue()
        expireGivenUp()
        answerRetrievals()
        lookAtBluetoothd()
        if let index = adapter.index, let command = scan.due(at: now, on: index) { adapter.send(command) }
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    func tell(_ event: CentralEvent) {
        events.append(event)
    }

    // MARK: The adapter

    /// The adapter's state, once it is known whether this process may use it.
    private var adapterState: AdapterState {
        switch (adapter.state, isPermitted) {
        case (.poweredOn, nil): .unknown
        case (.poweredOff, _) where isSwitchingOn: .unknown
        case (.poweredOn, false?): .unauthorized
        case (.poweredOff, false?) where powersOn: .unauthorized
        default: adapter.state
        }
    }

    private func adapterChanged() {
        let newState = adapterState
        guard newState != state else { return }
        state = newState
        tell(.didUpdateState(state))
        guard state != .poweredOn else { return }
        connectedDevices = []
        resolved = []
        probedMaps = []
        for identifier in links.map(\.identifier) { end(identifier, .adapterUnavailable(state)) }
        if scan.adapterLost() { tell(.didFailToScan(.adapterUnavailable(state))) }
        answerRetrievals(isOver: true)
    }

    private var isSwitchingOn: Bool {
        if case .underWay = powering { true } else { false }
    }

    private var powerDeadline: MonotonicTime? {
        if case .refused(let until) = powering { until } else { nil }
    }

    /// Takes what says how it stands with the adapter, before anything else is made of the news.
    private func noteAdapter(_ event: ManagementEvent) {
        switch event {
        case .indexAdded(let index), .indexRemoved(let index):
            power.removed(index, at: now)
            forgetAdapter(index)
        case .reply(let reply):
            switch (reply.opcode, reply.result) {
            // It is the first of a new channel, or of a new adapter.
            case (.readControllerInformation, _): forgetAdapter(reply.index)
            case _ where reply.index != preparedIndex: break
            // Of the answers, only the refusal needs to be known: that the adapter is off is told otherwise.
            case (.getConnections, .failure(.permissionDenied)): isPermitted = false
            case (.getConnections, _): isPermitted = true
            case (.setPowered, .success): powering = .idle
            case (.setPowered, .failure(let status)):
                powering = .refused(until: status == .permissionDenied ? nil : now + Self.powerPause)
            default: break
            }
        default: break
        }
    }

    private func forgetAdapter(_ index: ControllerIndex) {
        guard index == preparedIndex else { return }
        preparedIndex = nil
        keyedIndex = nil
        isPermitted = nil
        powering = .idle
    }

    /// Prepares an adapter that has come into use, and switches it on where that is wanted.
    private func attendToAdapter() {
        guard let index = adapter.index, adapter.state != .unknown else { return }
        if index != preparedIndex { prepare(index) }
        guard powersOn,
            power.wantsPower(
                adapter.address, on: index, in: adapter.state, at: now, isBluetoothdRunning: isBluetoothdRunning)
        else { return }
        switch powering {
        case .underWay: return
        case .refused(let until): guard let until, until <= now else { return }
        case .idle: break
        }
        powering = .underWay
        adapter.send(.setPowered(true, index))
    }

    /// An adapter is there: whether it may be used is asked with the first command that needs the permission.
    private func prepare(_ index: ControllerIndex) {
        preparedIndex = index
        isPermitted = nil
        powering = .idle
        if powersOn, !adapter.settings.contains(.lowEnergy) { adapter.send(.setLowEnergy(true, index)) }
        loadKeys(on: index)
        adapter.send(.getConnections(index))
    }

    // MARK: Attributes

    /// Does something on the conversation of a peripheral that is connected, and sends what comes of it. Returns false where
    /// it is not connected.
    private func converse(with peripheral: PeripheralIdentifier, _ body: (inout ATTLink) -> Void) -> Bool {
        guard let place = links.firstIndex(where: { $0.identifier == peripheral && $0.isConnected }) else { return false }
        body(&links[place].conversation)
        carryOut(place)
        return true
    }

    public func discoverServices(on peripheral: PeripheralIdentifier, attempt: Attempt) {
        if !converse(with: peripheral, { $0.discoverServices(attempt: attempt, at: now) }) {
            tell(.didDiscoverServices(peripheral, result: .failure(.notConnected), attempt: attempt))
        }
    }

    public func setNotifyValue(
        _ enabled: Bool, for characteristic: BluetoothUUID, on peripheral: PeripheralIdentifier, attempt: Attempt
    ) {
        if !converse(
            with: peripheral, { $0.setNotifyValue(enabled, for: characteristic, attempt: attempt, at: now) })
        {
            tell(.didUpdateNotificationState(characteristic, on: peripheral, error: .notConnected, attempt: attempt))
        }
    }

    public func readValue(of characteristic: BluetoothUUID, on peripheral: PeripheralIdentifier, attempt: Attempt) {
        if !converse(with: peripheral, { $0.readValue(of: characteristic, attempt: attempt, at: now) }) {
            tell(.didReadValue(characteristic, on: peripheral, result: .failure(.notConnected), attempt: attempt))
        }
    }

    public func writeValue(
        _ value: [UInt8], to characteristic: BluetoothUUID, type: WriteType, on peripheral: PeripheralIdentifier,
        attempt: Attempt
    ) {
        if !converse(
            with: peripheral, { $0.writeValue(value, to: characteristic, type: type, attempt: attempt, at: now) }),
            type == .withResponse
        {
            tell(.didWriteValue(characteristic, on: peripheral, error: .notConnected, attempt: attempt))
        }
    }

    // MARK: The socket

    /// Something is to be told of a link's socket.
    private func serve(_ identifier: PeripheralIdentifier) {
        guard let place = links.firstIndex(where: { $0.identifier == identifier }) else { return }
        if case .connected(let socket) = links[place].phase {
            receive(place, from: socket, limit: Self.packetsPerTurn)
            // Of a link that has ended the kernel says that it is as secure as it was wanted.
            if links[place].end == nil, links[place].security != nil { securityMayHaveChanged(place, socket) }
            carryOut(place)
        } else {
            opened(place)
        }
    }

    /// Takes what has arrived, at most `limit` packets.
    func receive(_ place: Int, from socket: Int32, limit: Int) {
        arrivals.readClocks()
        for _ in 0..<limit {
            var stamp: Int64 = -1
            let count = clinux_receive(socket, &buffer, buffer.count, &stamp)
            if count > 0 {
                let arrival = max(links[place].latestArrival, arrivals.arrival(stamp: stamp))
                links[place].latestArrival = arrival
                links[place].conversation.received([UInt8](buffer[..<Int(count)]), at: arrival)
                continue
            }
            // A packet without bytes says nothing, and is not the end.
            if count == 0, clinux_has_ended(socket) == 0 { continue }
            let error = SocketError(code: count == 0 ? ECONNRESET : -count)
            if error.code == EINTR { continue }
            if error.code != EAGAIN { links[place].end = error }
            return
        }
    }

    /// Sends what a conversation has to say, and passes on what it tells.
    func carryOut(_ place: Int) {
        guard case .connected(let socket) = links[place].phase else { return }
        let identifier = links[place].identifier
        links[place].outbox += links[place].conversation.takePackets()
        var hasTimedOut = false
        for event in links[place].conversation.takeEvents() {
            switch event {
            case _ where links[place].isProbe: if isProbed(identifier, event) { return }
            case .central(let event): tell(event)
            case .didUpdateMap(let map): maps.save(identifier, map)
            case .needsSecurity(let level): raiseSecurity(place, to: level, socket)
            case .didTimeOut: hasTimedOut = true
            }
        }
        flush(place, socket)
        if hasTimedOut || links[place].outbox.count > Self.outboxLimit { close(identifier) }
    }

    private func flush(_ place: Int, _ socket: Int32) {
        let hadOutbox = !links[place].outbox.isEmpty
        var sentCount = 0
        for packet in links[place].outbox {
            guard send(socket, packet, packet.count, SerialPortCentral.neverWait) < 0 else {
                sentCount += 1
                continue
            }
            if errno == EAGAIN || errno == EINTR { break }
            // While the link is being secured the kernel takes nothing.
            if errno == ENOTCONN, links[place].security != nil { break }
            // That the link is gone is told when it is read.
            sentCount += 1
        }
        links[place].outbox.removeFirst(sentCount)
        if hadOutbox { readiness.watch(socket, for: links[place].outbox.isEmpty ? .reading : .readingAndWriting) }
    }
}
