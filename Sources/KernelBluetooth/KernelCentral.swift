import AttributeProtocol
package import Bluetooth
package import BluetoothManagement
import CLinux
import Glibc

/// The central for Bluetooth Low Energy over the kernel's own sockets, for machines without bluetoothd: the management channel
/// for scans and connections, one socket for the Attribute Protocol of each link.
///
/// The thin half that holds file descriptors; what to do is decided by ``KernelConversation``.
///
/// A headset that is away is waited for by the kernel, which connects as soon as it advertises; the socket is opened when the
/// link is up. Nobody waits with a socket that connects: closing such a one after the adapter was switched off has been seen
/// to damage the kernel's memory (Linux 6.1.192, `l2cap_conn_free`). All of this needs CAP_NET_ADMIN. A link ends with its
/// socket, and so with this process: nothing is ever restored.
package final class KernelCentral: Central {
    /// The largest packet that is received. The kernel's own limit is 672 (L2CAP_DEFAULT_MTU).
    private static let receiveLimit = AttributeMTU.largestUseful
    /// How many packets one link gets before the others have their turn.
    private static let packetsPerTurn = 64

    private let readiness = SocketReadiness()
    private let watch: DescriptorWatch
    private let sockets: LowEnergySockets
    private let adapter: AdapterWatch
    private let maps: HandleMapStore
    private let bonds: BondStore?
    private let power: AdapterPowerStore
    private var conversation: KernelConversation
    private var channels: [AttributeChannel] = []
    private var arrivals = ArrivalClock()
    /// The present, as last reported.
    private var now = MonotonicTime.boot
    private var events: [CentralEvent] = []
    private var buffer = [UInt8](repeating: 0, count: KernelCentral.receiveLimit.rawValue + 1)

    /// Creates a central that opens its sockets when it is first processed.
    ///
    /// - Parameters:
    ///   - adapter: `hci0`, or an address such as `00:AA:01:00:00:42`; nil for the first that is on.
    ///   - powersOn: whether an adapter that is off when it appears is switched on, for machines where nobody else does it.
    ///     One that a person has switched off stays off; see ``PowerMemory``.
    ///   - power: where it is kept that a person has.
    ///   - isAlone: false for a command that looks on while another process records: it ends nobody's discovery and keeps
    ///     nobody's devices from being connected.
    ///   - maps: where handles are kept from one link to the next.
    ///   - bonds: where the keys of headsets are kept; nil to leave those of the adapter as they are.
    ///   - passkeys: what headsets show that ask for a passkey when they are paired.
    ///   - lock: keeps other processes from the adapter, and this one from theirs; nil for one that only looks on.
    ///   - isBluetoothdRunning: asked when something happens that bluetoothd may have done; it must answer at once.
    ///   - watch: where its file descriptors are watched.
    package convenience init(
        adapter: String? = nil, powersOn: Bool = false, power: AdapterPowerStore = .inMemory(), isAlone: Bool = true,
        maps: HandleMapStore = .inMemory(), bonds: BondStore? = nil, passkeys: [Passkey] = [],
        lock: AdapterLock? = nil, isBluetoothdRunning: @escaping () -> Bool = { false }, watch: DescriptorWatch
    ) {
        self.init(
            adapter: adapter, powersOn: powersOn, power: power, isAlone: isAlone, maps: maps, bonds: bonds,
            passkeys: passkeys, lock: lock, isBluetoothdRunning: isBluetoothdRunning, watch: watch, sockets: .kernel,
            radio: .kernel,
            openManagement: { () throws(ManagementError) in try ManagementSocket() })
    }

    /// The same with other sockets.
    init(
        adapter: String?, powersOn: Bool = false, power: AdapterPowerStore = .inMemory(), isAlone: Bool = true,
        maps: HandleMapStore = .inMemory(), bonds: BondStore? = nil, passkeys: [Passkey] = [],
        lock: AdapterLock? = nil, isBluetoothdRunning: @escaping () -> Bool, watch: DescriptorWatch,
        sockets: LowEnergySockets, radio: RadioSwitches,
        openManagement: @escaping () throws(ManagementError) -> ManagementSocket
    ) {
        self.watch = watch
        self.maps = maps
        self.bonds = bonds
        self.power = power
        self.sockets = sockets
        conversation = KernelConversation(
            adapter: KernelAdapter(powersOn: powersOn, switchedOff: power.switchedOff), isAlone: isAlone, maps: maps.maps,
            keys: KernelKeys(
                bonds: bonds?.load(), passkeys: passkeys, forgetsLostKeys: bonds?.forgetsLostKeys ?? true),
            isBluetoothdRunning: isBluetoothdRunning)
        self.adapter = AdapterWatch(
            adapter: adapter, transport: .lowEnergy, readiness: readiness, radio: radio, lock: lock, open: openManagement)
        watch.watch(readiness.descriptor)
    }

    deinit {
        watch.unwatch(readiness.descriptor)
        for channel in channels { Glibc.close(channel.socket) }
        guard let index = adapter.status.index else { return }
        for peripheral in conversation.givenUp.peripherals { adapter.send(.removeDevice(peripheral, index)) }
    }

    // MARK: Central

    package var state: AdapterState { conversation.adapter.state }

    package var deadline: MonotonicTime? {
        guard events.isEmpty else { return now }
        return ([adapter.deadline, conversation.deadline] + channels.map(\.retry)).compactMap { $0 }.min()
    }

    package func process(at now: MonotonicTime) -> [CentralEvent] {
        self.now = now
        var ready = readiness.ready()
        // First what the headsets sent: the news that a link is gone must not overtake its last samples.
        for channel in channels where ready.contains(channel.socket) { serve(channel) }
        for channel in channels {
            if let retry = channel.retry, retry <= now { flush(to: channel.peripheral) }
        }
        // Why a link ended was reported before its socket ended, but maybe after this turn looked.
        if conversation.awaitsReasons, let descriptor = adapter.descriptor { ready.append(descriptor) }
        adapter.process(ready, at: now)
        let news = adapter.takeEvents()
        handle(.adapter(adapter.status, news))
        for event in news { handle(.management(event)) }
        handle(.timeReached)
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    /// Restores nothing: the kernel closes a link 2 s after its last socket, so none outlives a process.
    package func request(_ request: CentralRequest) { handle(.request(request)) }

    // MARK: Effects

    private func handle(_ event: KernelConversation.Event) {
        for effect in conversation.handle(event, at: now) { carryOut(effect) }
    }

    private func carryOut(_ effect: KernelConversation.Effect) {
        switch effect {
        case .emit(let event): events.append(event)
        case .send(let command): adapter.send(command)
        case .loadLinkKeys(let index): adapter.send(.loadLinkKeys(bonds?.linkKeys.keys ?? [], index))
        case .open(let peripheral): open(peripheral)
        case .close(let peripheral): close(peripheral)
        case .sendPacket(let packet, let peripheral):
            withChannel(to: peripheral) { $0.add(packet) }
            flush(to: peripheral)
            if channel(to: peripheral)?.hasOverflowed == true { handle(.channelOverflowed(peripheral)) }
        case .readRest(let peripheral):
            if let channel = channel(to: peripheral) { _ = receive(channel, limit: .max) }
            handle(.restRead(of: peripheral))
        case .raiseSecurity(let level, let peripheral):
            guard let socket = channel(to: peripheral)?.socket else { return }
            if sockets.raiseSecurity(socket, level) {
                // That the kernel takes packets again is how it signals that the link is secure.
                withChannel(to: peripheral) { watch(&$0, for: .readingAndWriting) }
            } else {
                handle(.security(sockets.security(socket), of: peripheral, isRefused: true))
            }
        case .readSecurity(let peripheral): readSecurity(of: peripheral)
        case .keepMap(let map, let peripheral): maps.save(peripheral, map)
        case .keepBond(let change, let identity): bonds?.save(change, identity)
        case .keepPower(let change): power.save(change.address, change.isSwitchedOff)
        }
    }

    private func readSecurity(of peripheral: PeripheralIdentifier) {
        guard let socket = channel(to: peripheral)?.socket else { return }
        handle(.security(sockets.security(socket), of: peripheral, isRefused: false))
    }

    // MARK: Channels

    private func channel(to peripheral: PeripheralIdentifier) -> AttributeChannel? {
        channels.first { $0.peripheral == peripheral }
    }

    private func withChannel(to peripheral: PeripheralIdentifier, _ body: (inout AttributeChannel) -> Void) {
        if let index = channels.firstIndex(where: { $0.peripheral == peripheral }) { body(&channels[index]) }
    }

    private func open(_ peripheral: PeripheralIdentifier) {
        switch sockets.open(peripheral, adapter.status.address) {
        case .failure(let error): handle(.channelRefused(peripheral, error))
        case .success(let socket):
            let channel = AttributeChannel(peripheral: peripheral, socket: socket)
            channels.append(channel)
            readiness.watch(socket, for: channel.interest)
        }
    }

    private func close(_ peripheral: PeripheralIdentifier) {
        guard let index = channels.firstIndex(where: { $0.peripheral == peripheral }) else { return }
        let socket = channels.remove(at: index).socket
        readiness.unwatch(socket)
        Glibc.close(socket)
    }

    /// Something is to be reported of a socket.
    private func serve(_ channel: AttributeChannel) {
        let peripheral = channel.peripheral
        guard channel.isOpen else { return opened(channel) }
        // Of a link that has ended the kernel says that it is as secure as it was wanted.
        guard receive(channel, limit: Self.packetsPerTurn) else { return }
        if conversation.awaitsSecurity(of: peripheral) { readSecurity(of: peripheral) }
        flush(to: peripheral)
    }

    /// Sends what waits, as far as the kernel takes it.
    private func flush(to peripheral: PeripheralIdentifier) {
        let isBeingSecured = conversation.awaitsSecurity(of: peripheral)
        withChannel(to: peripheral) {
            $0.flush(isBeingSecured: isBeingSecured, at: now, send: sockets.send) { packet in
                emit(of: packet, peripheral, isReceived: false, MonotonicTime(nanoseconds: clinux_boottime_nanoseconds()))
            }
            // A socket that takes packets would be reported over and over, also where there is no memory for them.
            watch(&$0, for: $0.outbox.isEmpty || $0.retry != nil ? .reading : .readingAndWriting)
        }
    }

    /// What goes over the channel of a link that nobody wants is nobody's news.
    private func emit(of packet: [UInt8], _ peripheral: PeripheralIdentifier, isReceived: Bool, _ time: MonotonicTime) {
        guard conversation.isConnected(to: peripheral) else { return }
        events.append(.didTransferPacket(packet, with: peripheral, isReceived: isReceived, at: time))
    }

    private func watch(_ channel: inout AttributeChannel, for interest: SocketReadiness.Interest) {
        guard channel.interest != interest else { return }
        channel.interest = interest
        readiness.watch(channel.socket, for: interest)
    }

    /// The opening of a channel has come to an end.
    private func opened(_ channel: AttributeChannel) {
        if let error = sockets.connectionError(channel.socket) { return handle(.channelRefused(channel.peripheral, error)) }
        // One that refuses has packets without stamps, which arrive when they are read.
        _ = clinux_stamp_arrivals(channel.socket)
        withChannel(to: channel.peripheral) {
            $0.isOpen = true
            watch(&$0, for: .reading)
        }
        handle(.channelOpened(channel.peripheral))
    }

    /// Reports what has arrived, at most `limit` packets. Returns false where the channel has ended.
    private func receive(_ channel: AttributeChannel, limit: Int) -> Bool {
        let peripheral = channel.peripheral
        arrivals.readClocks()
        for _ in 0..<limit {
            // What a packet says may lead to the end of its channel.
            guard let latest = self.channel(to: peripheral)?.latestArrival else { return false }
            var stamp: Int64 = -1
            let count = clinux_receive(channel.socket, &buffer, buffer.count, &stamp)
            if count > 0 {
                let arrival = max(latest, arrivals.arrival(stamp: stamp))
                withChannel(to: peripheral) { $0.latestArrival = arrival }
                let packet = [UInt8](buffer[..<Int(count)])
                emit(of: packet, peripheral, isReceived: true, arrival)
                handle(.received(packet, from: peripheral, at: arrival))
                continue
            }
            // A packet without bytes says nothing, and is not the end.
            if count == 0, clinux_has_ended(channel.socket) == 0 { continue }
            let error = SocketError(code: count == 0 ? ECONNRESET : -count)
            if error.code == EINTR { continue }
            if error.code == EAGAIN { return true }
            handle(.channelEnded(peripheral, error))
            return false
        }
        return true
    }
}
