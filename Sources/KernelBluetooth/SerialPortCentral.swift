package import Bluetooth
package import BluetoothManagement
import CLinux
import Glibc

/// The central for headsets with a serial port over Bluetooth Classic (RFCOMM), over the kernel's own sockets: with bluetoothd
/// and without.
///
/// A serial port appears as the one characteristic ``BluetoothUUID/serialPort`` of a service of the same name. Bluetooth
/// Classic has no advertising: a known headset is paged until it answers, and a scan finds nothing. A link ends with its
/// socket, and so with this process: nothing is ever restored.
package final class SerialPortCentral: Central {
    /// How much is read at once: 30 RFCOMM frames of 127 bytes.
    private static let readLength = 4096
    /// How many reads one link gets before the others have their turn.
    private static let readsPerTurn = 16
    /// How much may wait to be written: commands of headsets have some bytes.
    private static let outboxLimit = 4096

    /// What a discovery finds.
    static let database = GATTDatabase(characteristics: [
        Characteristic(service: .serialPort, uuid: .serialPort, properties: [.write, .writeWithoutResponse, .notify])
    ])

    let readiness = SocketReadiness()
    let sockets: ClassicSockets
    let adapter: AdapterWatch
    /// Nil where bluetoothd pairs, and keeps the keys.
    let linkKeys: LinkKeyStore?
    let passkeys: [Passkey]
    let channels: [SerialPortChannel]
    let isBluetoothdRunning: () -> Bool
    private let watch: DescriptorWatch
    /// The present, as last given.
    var now = MonotonicTime.boot
    var links: [SerialPortLink] = []
    var refusedPairings: [RefusedPairing] = []
    /// How often in a row the kernel was busy with what is left of an earlier connection to a peripheral, and when it was last:
    /// beyond the end of a connect, which is cancelled sooner than another program shows.
    var endings: [PeripheralIdentifier: (tries: Int, latest: MonotonicTime)] = [:]
    private var events: [CentralEvent] = []
    private var isScanning = false
    private var buffer = [UInt8](repeating: 0, count: SerialPortCentral.readLength)

    package private(set) var state = AdapterState.unknown

    /// Creates a central that opens its sockets when it is first processed.
    ///
    /// - Parameters:
    ///   - adapter: `hci0`, or an address such as `00:AA:01:00:00:42`; nil for the first that is on.
    ///   - linkKeys: the keys of headsets, which ``KernelCentral`` loads; nil to leave pairing to others, such as bluetoothd.
    ///   - passkeys: the digits by which headsets are paired.
    ///   - channels: where the serial ports of headsets are that do not say it themselves.
    ///   - isBluetoothdRunning: asked when a headset is paired; it must answer at once.
    ///   - watch: where its file descriptors are watched.
    package convenience init(
        adapter: String? = nil, linkKeys: LinkKeyStore? = nil, passkeys: [Passkey] = [], channels: [SerialPortChannel] = [],
        lock: AdapterLock? = nil, isBluetoothdRunning: @escaping () -> Bool = { false }, watch: DescriptorWatch
    ) {
        self.init(
            adapter: adapter, linkKeys: linkKeys, passkeys: passkeys, channels: channels, lock: lock,
            isBluetoothdRunning: isBluetoothdRunning, watch: watch,
            sockets: .kernel, radio: .kernel,
            openManagement: { () throws(ManagementError) in try ManagementSocket() })
    }

    /// The same with other sockets.
    init(
        adapter: String?, linkKeys: LinkKeyStore?, passkeys: [Passkey], channels: [SerialPortChannel],
        lock: AdapterLock? = nil, isBluetoothdRunning: @escaping () -> Bool, watch: DescriptorWatch, sockets: ClassicSockets,
        radio: RadioSwitches,
        openManagement: @escaping () throws(ManagementError) -> ManagementSocket
    ) {
        self.linkKeys = linkKeys
        self.passkeys = passkeys
        self.channels = channels
        self.isBluetoothdRunning = isBluetoothdRunning
        self.watch = watch
        self.sockets = sockets
        self.adapter = AdapterWatch(
            adapter: adapter, readiness: readiness, radio: radio, lock: lock, open: openManagement)
        watch.watch(readiness.descriptor)
    }

    deinit {
        watch.unwatch(readiness.descriptor)
        for link in links { if let socket = link.socket { Glibc.close(socket) } }
    }

    // MARK: Time

    package var deadline: MonotonicTime? {
        if !events.isEmpty { return now }
        return ([adapter.deadline, pageDeadline] + refusedPairings.map(\.until)).compactMap { $0 }.min()
    }

    package func process(at now: MonotonicTime) -> [CentralEvent] {
        self.now = now
        let ready = readiness.ready()
        // First what the headsets sent: the news that the adapter is off must not overtake their last samples.
        for identifier in links.filter({ $0.socket.map(ready.contains) ?? false }).map(\.identifier) { serve(identifier) }
        adapter.process(ready, at: now)
        adapterChanged()
        for event in adapter.takeEvents() {
            handlePairing(event)
            guard case .reply(let reply) = event,
                case .success(.connectionInformation(let peripheral, let quality?)) = reply.result,
                connected(peripheral) != nil
            else { continue }
            emit(.didReadRSSI(quality, of: peripheral))
        }
        expire()
        expireRefusals()
        page()
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    func emit(_ event: CentralEvent) {
        events.append(event)
    }

    private func adapterChanged() {
        guard adapter.status.state != state else { return }
        state = adapter.status.state
        emit(.didUpdateState(state))
        guard state != .poweredOn else { return }
        for identifier in links.map(\.identifier) { end(identifier, .adapterUnavailable(state)) }
        if isScanning { emit(.didFailToScan(.adapterUnavailable(state))) }
        isScanning = false
    }

    // MARK: Requests

    /// Restores nothing, as a link ends with the socket of the process that made it. Retrieves this process's own links: a
    /// serial port serves one program, so another's would be of no use.
    package func request(_ request: CentralRequest) {
        switch request {
        case .restoreState(_, _, let attempt): emit(.willRestoreState([], attempt: attempt))
        case .retrieveConnectedPeripherals(let services, let attempt):
            let found = services.contains(.serialPort) ? links.filter(\.isConnected).map(\.identifier) : []
            emit(.didRetrieveConnected(found, attempt: attempt))
        case .scanForPeripherals:
            isScanning = state == .poweredOn
            if !isScanning { emit(.didFailToScan(.adapterUnavailable(state))) }
        case .stopScan: isScanning = false
        case .setConnectionParameters, .trustPeripheral: break
        case .readRSSI(let peripheral):
            guard let index = adapter.status.index, connected(peripheral) != nil else { return }
            adapter.send(.getConnectionInformation(peripheral, index))
        case .connect(let peripheral, let attempt): connect(peripheral, attempt)
        case .cancelPeripheralConnection(let peripheral, let attempt): cancel(peripheral, attempt)
        case .discoverServices(let peripheral, let attempt):
            let isUp = connected(peripheral) != nil
            emit(
                .didDiscoverServices(
                    peripheral, result: isUp ? .success(Self.database) : .failure(.notConnected), attempt: attempt))
        case .setNotifyValue(let isOn, let characteristic, let peripheral, let attempt):
            let error = refusal(of: characteristic, on: peripheral)
            if error == nil, let index = connected(peripheral) {
                // What arrived before waits in the kernel, and the headset is held back by RFCOMM's credits.
                links[index].isNotifying = isOn
                watchSocket(of: links[index])
            }
            emit(.didUpdateNotificationState(characteristic, on: peripheral, error: error, attempt: attempt))
        case .readValue(let characteristic, let peripheral, let attempt):
            let error = refusal(of: characteristic, on: peripheral) ?? .att(.readNotPermitted)
            emit(.didReadValue(characteristic, on: peripheral, result: .failure(error), attempt: attempt))
        case .writeValue(let value, let characteristic, let type, let peripheral, let attempt):
            // With response, the answer says that the bytes are on their way: a serial port confirms nothing.
            let error = refusal(of: characteristic, on: peripheral) ?? write(value, to: peripheral)
            if type == .withResponse {
                emit(.didWriteValue(characteristic, on: peripheral, error: error, attempt: attempt))
            }
        }
    }

    private func write(_ value: [UInt8], to peripheral: PeripheralIdentifier) -> CentralError? {
        guard let index = connected(peripheral) else { return .notConnected }
        guard links[index].outbox.count + value.count <= Self.outboxLimit else { return .att(.insufficientResources) }
        links[index].outbox += value
        flush(index)
        return nil
    }

    /// The index of the link to a peripheral that is connected.
    private func connected(_ peripheral: PeripheralIdentifier) -> Int? {
        links.firstIndex { $0.identifier == peripheral && $0.isConnected }
    }

    private func refusal(of characteristic: BluetoothUUID, on peripheral: PeripheralIdentifier) -> CentralError? {
        guard connected(peripheral) != nil else { return .notConnected }
        return characteristic == .serialPort ? nil : .noSuchCharacteristic(characteristic)
    }

    // MARK: The serial port

    /// Something has happened to a link's socket.
    private func serve(_ identifier: PeripheralIdentifier) {
        guard let index = links.firstIndex(where: { $0.identifier == identifier }) else { return }
        guard case .connected(let socket) = links[index].phase else { return proceed(index) }
        let hadOutbox = !links[index].outbox.isEmpty
        if hadOutbox { flush(index) }
        if links[index].isNotifying { return receive(identifier, from: socket) }
        // Watched for its end alone.
        if !hadOutbox { ended(identifier, BluetoothSocket.pendingError(of: socket)) }
    }

    private func receive(_ identifier: PeripheralIdentifier, from socket: Int32) {
        for _ in 0..<Self.readsPerTurn {
            let count = recv(socket, &buffer, buffer.count, BluetoothSocket.neverWait)
            if count > 0 {
                let arrival = MonotonicTime(nanoseconds: clinux_boottime_nanoseconds())
                let value = [UInt8](buffer[..<count])
                emit(.didUpdateValue(.serialPort, on: identifier, value: value, at: arrival))
                continue
            }
            if count == 0 { return ended(identifier, nil) }
            let error = SocketError(code: errno)
            if error.code == EINTR { continue }
            if error.code != EAGAIN { ended(identifier, error) }
            return
        }
    }

    /// Writes what waits, as far as it goes. That the link is gone is seen when it is read.
    private func flush(_ index: Int) {
        guard case .connected(let socket) = links[index].phase else { return }
        let count = send(socket, links[index].outbox, links[index].outbox.count, BluetoothSocket.neverWait)
        if count > 0 {
            links[index].outbox.removeFirst(count)
        } else if errno != EAGAIN, errno != EINTR {
            links[index].outbox.removeAll()
        }
        watchSocket(of: links[index])
    }

    private func watchSocket(of link: SerialPortLink) {
        guard case .connected(let socket) = link.phase else { return }
        switch (link.isNotifying, link.outbox.isEmpty) {
        case (true, true): readiness.watch(socket, for: .reading)
        case (true, false): readiness.watch(socket, for: .readingAndWriting)
        case (false, true): readiness.watch(socket, for: .end)
        case (false, false): readiness.watch(socket, for: .connecting)
        }
    }
}
