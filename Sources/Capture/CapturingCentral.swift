public import Bluetooth

/// A central that passes everything on to another one, and keeps what goes over the air as HCI packets.
///
/// A ``Central`` speaks of characteristics, not of packets: what lies below is written as it usually is. Bytes, order and
/// times are those of the calls and events, the handles of attributes those of the headset, where the central tells them; the
/// handles of connections, the discovery's messages and the size of packets are made up. A call has the time of the latest
/// ``process(at:)``.
///
/// What a link's packets refer to is followed at all times, so that a capture may begin in the middle of one: it begins with
/// ``preamble(of:)``.
public final class CapturingCentral: Central {
    /// Bytes that may wait to be taken; beyond that packets are dropped and counted. A minute of the fastest headset.
    private static let byteLimit = 4 << 20

    private let base: any Central
    private var links: [Link] = []
    private var nextHandle: UInt16 = 0x0040
    private var packets: [CapturedPacket] = []
    private var byteCount = 0
    /// When the latest packet was sent or received, or the central was processed last.
    private var latest = MonotonicTime.boot

    /// True while packets are kept.
    public var isCapturing = false {
        didSet { if !isCapturing { (packets, byteCount) = ([], 0) } }
    }
    /// Packets that nobody took in time, since the central was made.
    public private(set) var droppedCount = 0

    private struct Link {
        var peripheral: PeripheralIdentifier
        /// Of the connection, 0x0040 ... 0x0EFF.
        var handle: UInt16
        /// Nil before the discovery, and for serial ports.
        var attributes: AttributeTranscript?
        var isSerialPort = false
    }

    /// Wraps a central.
    public init(_ base: any Central) {
        self.base = base
    }

    /// Takes the packets since the last call.
    public func takePackets() -> [CapturedPacket] {
        defer { (packets, byteCount) = ([], 0) }
        return packets
    }

    /// How the present link to a peripheral came about: connection, discovery and subscriptions. Empty where there is none.
    public func preamble(of peripheral: PeripheralIdentifier) -> [CapturedPacket] {
        guard let link = links.first(where: { $0.peripheral == peripheral }) else { return [] }
        let begin = CapturedPacket(
            peripheral: peripheral, time: latest, kind: .event, isReceived: true, bytes: Self.connectionComplete(link))
        return [begin] + Self.packets(of: link, link.attributes?.preamble ?? [], at: latest)
            + (link.isSerialPort ? Self.packets(of: link, SerialPortTranscript.preamble, at: latest) : [])
    }

    // MARK: Packets

    private func keep(_ packet: @autoclosure () -> CapturedPacket) {
        guard isCapturing else { return }
        let packet = packet()
        guard byteCount + packet.bytes.count <= Self.byteLimit else {
            droppedCount += 1
            return
        }
        byteCount += packet.bytes.count
        packets.append(packet)
    }

    private func keep(_ messages: [AttributeTranscript.Message], of link: Link) {
        guard isCapturing else { return }
        for packet in Self.packets(of: link, messages, at: latest) { keep(packet) }
    }

    private func keep(_ frames: [SerialPortTranscript.Frame], of link: Link) {
        guard isCapturing else { return }
        for packet in Self.packets(of: link, frames, at: latest) { keep(packet) }
    }

    /// The Attribute Protocol has channel 4 (Core Specification, Vol 3, Part A, 2.1).
    private static func packets(
        of link: Link, _ messages: [AttributeTranscript.Message], at time: MonotonicTime
    ) -> [CapturedPacket] {
        messages.map { data(link, channel: 4, $0.bytes, isReceived: $0.isReceived, at: time) }
    }

    private static func packets(
        of link: Link, _ frames: [SerialPortTranscript.Frame], at time: MonotonicTime
    ) -> [CapturedPacket] {
        frames.map { data(link, channel: $0.channel, $0.payload, isReceived: $0.isReceived, at: time) }
    }

    /// An L2CAP frame in one ACL packet (Vol 4, Part E, 5.4.2): the first of a message, flushable where it was received.
    private static func data(
        _ link: Link, channel: UInt16, _ payload: [UInt8], isReceived: Bool, at time: MonotonicTime
    ) -> CapturedPacket {
        // No longer than a value of 512 bytes or a frame of a serial port; a longer one is no message of either.
        let payload = payload.prefix(Int(UInt16.max) - 4)
        let field = link.handle | (isReceived ? 0x2000 : 0)
        let bytes =
            AttributeTable.littleEndian(field) + AttributeTable.littleEndian(UInt16(payload.count + 4))
            + AttributeTable.littleEndian(UInt16(payload.count)) + AttributeTable.littleEndian(channel) + payload
        return CapturedPacket(
            peripheral: link.peripheral, time: time, kind: .data, isReceived: isReceived, bytes: bytes)
    }

    /// Connection Complete or LE Connection Complete (Vol 4, Part E, 7.7.3 and 7.7.65.1); what is not known is 0.
    private static func connectionComplete(_ link: Link) -> [UInt8] {
        let handle = AttributeTable.littleEndian(link.handle)
        let address = (0..<6).map { UInt8(truncatingIfNeeded: link.peripheral.address >> (8 * $0)) }
        if link.peripheral.addressType == .classic { return [0x03, 11, 0] + handle + address + [1, 0] }
        let type: UInt8 = link.peripheral.addressType == .random ? 1 : 0
        return [0x3E, 19, 0x01, 0] + handle + [0, type] + address + [0, 0, 0, 0, 0, 0, 0]
    }

    /// Disconnection Complete (7.7.5); the reasons are those of Vol 1, Part F, 1.3.
    private static func disconnectionComplete(_ link: Link, error: CentralError?) -> [UInt8] {
        let reason: UInt8 =
            switch error {
            case nil, .disconnectedByOperator: 0x16
            case .linkLost: 0x08
            case .peripheralDisconnected: 0x13
            case .adapterUnavailable: 0x15
            default: 0x1F
            }
        return [0x05, 4, 0] + AttributeTable.littleEndian(link.handle) + [reason]
    }

    // MARK: Events

    private func note(_ event: CentralEvent, at now: MonotonicTime) {
        // A notification has its own time, before the central was asked.
        if case .didUpdateValue = event {} else { latest = max(latest, now) }
        switch event {
        case .didUpdateValue(let characteristic, let peripheral, let value, let arrival):
            guard isCapturing, let link = links.first(where: { $0.peripheral == peripheral }) else { return }
            latest = max(latest, arrival)
            if link.isSerialPort {
                keep(SerialPortTranscript.data(value, isReceived: true), of: link)
            } else if let attributes = link.attributes {
                keep(attributes.notification(value, from: characteristic), of: link)
            }
        case .didConnect(let peripheral, _): open(peripheral)
        case .didDisconnect(let peripheral, let error, _): close(peripheral, error: error)
        case .willRestoreState(let restored, _):
            for peripheral in restored where peripheral.isConnected {
                open(peripheral.identifier)
                if let database = peripheral.database {
                    discovered(database, on: peripheral.identifier, notifying: peripheral.notifying)
                }
            }
        case .didDiscoverServices(let peripheral, .success(let database), _): discovered(database, on: peripheral)
        case .didUpdateNotificationState(let characteristic, let peripheral, let error, _):
            answer(on: peripheral) { $0.answerNotify(characteristic, error: error) }
        case .didReadValue(let characteristic, let peripheral, .success(let value), _):
            answer(on: peripheral) { $0.answer(.read, characteristic, value: value, error: nil) }
        case .didReadValue(let characteristic, let peripheral, .failure(let error), _):
            answer(on: peripheral) { $0.answer(.read, characteristic, error: error) }
        case .didWriteValue(let characteristic, let peripheral, let error, _):
            answer(on: peripheral) { $0.answer(.write, characteristic, error: error) }
        default: break
        }
    }

    private func open(_ peripheral: PeripheralIdentifier) {
        guard !links.contains(where: { $0.peripheral == peripheral }) else { return }
        let link = Link(peripheral: peripheral, handle: nextHandle)
        nextHandle = nextHandle == 0x0EFF ? 0x0040 : nextHandle + 1
        links.append(link)
        keep(
            CapturedPacket(
                peripheral: peripheral, time: latest, kind: .event, isReceived: true, bytes: Self.connectionComplete(link)))
    }

    private func close(_ peripheral: PeripheralIdentifier, error: CentralError?) {
        guard let place = links.firstIndex(where: { $0.peripheral == peripheral }) else { return }
        let link = links.remove(at: place)
        keep(
            CapturedPacket(
                peripheral: peripheral, time: latest, kind: .event, isReceived: true,
                bytes: Self.disconnectionComplete(link, error: error)))
    }

    private func discovered(
        _ database: GATTDatabase, on peripheral: PeripheralIdentifier, notifying: [BluetoothUUID] = []
    ) {
        guard let place = links.firstIndex(where: { $0.peripheral == peripheral }) else { return }
        if database[.serialPort] != nil {
            links[place].isSerialPort = true
            return keep(SerialPortTranscript.preamble, of: links[place])
        }
        let attributes = AttributeTranscript(database, notifying: links[place].attributes?.notifying ?? notifying)
        links[place].attributes = attributes
        keep(attributes.preamble, of: links[place])
    }

    private func answer(
        on peripheral: PeripheralIdentifier, _ body: (inout AttributeTranscript) -> [AttributeTranscript.Message]
    ) {
        guard let place = links.firstIndex(where: { $0.peripheral == peripheral }), var attributes = links[place].attributes
        else { return }
        let messages = body(&attributes)
        links[place].attributes = attributes
        keep(messages, of: links[place])
    }

    // MARK: Central

    public var state: AdapterState { base.state }

    public var deadline: MonotonicTime? { base.deadline }

    public func process(at now: MonotonicTime) -> [CentralEvent] {
        let events = base.process(at: now)
        for event in events { note(event, at: now) }
        latest = max(latest, now)
        return events
    }

    public func restoreState(identifiers: [PeripheralIdentifier], services: [BluetoothUUID], attempt: Attempt) {
        base.restoreState(identifiers: identifiers, services: services, attempt: attempt)
    }

    public func retrieveConnectedPeripherals(withServices services: [BluetoothUUID], attempt: Attempt) {
        base.retrieveConnectedPeripherals(withServices: services, attempt: attempt)
    }

    public func scanForPeripherals(matching filter: ScanFilter) {
        base.scanForPeripherals(matching: filter)
    }

    public func stopScan() {
        base.stopScan()
    }

    public func setConnectionParameters(_ parameters: ConnectionParameters, for peripheral: PeripheralIdentifier) {
        base.setConnectionParameters(parameters, for: peripheral)
    }

    public func connect(_ peripheral: PeripheralIdentifier, attempt: Attempt) {
        base.connect(peripheral, attempt: attempt)
    }

    public func cancelPeripheralConnection(_ peripheral: PeripheralIdentifier, attempt: Attempt) {
        base.cancelPeripheralConnection(peripheral, attempt: attempt)
    }

    public func discoverServices(on peripheral: PeripheralIdentifier, attempt: Attempt) {
        base.discoverServices(on: peripheral, attempt: attempt)
    }

    public func setNotifyValue(
        _ enabled: Bool, for characteristic: BluetoothUUID, on peripheral: PeripheralIdentifier, attempt: Attempt
    ) {
        base.setNotifyValue(enabled, for: characteristic, on: peripheral, attempt: attempt)
        answer(on: peripheral) { $0.ask(.notify(enabled), characteristic) }
    }

    public func readValue(of characteristic: BluetoothUUID, on peripheral: PeripheralIdentifier, attempt: Attempt) {
        base.readValue(of: characteristic, on: peripheral, attempt: attempt)
        answer(on: peripheral) { $0.ask(.read, characteristic) }
    }

    public func writeValue(
        _ value: [UInt8], to characteristic: BluetoothUUID, type: WriteType, on peripheral: PeripheralIdentifier,
        attempt: Attempt
    ) {
        base.writeValue(value, to: characteristic, type: type, on: peripheral, attempt: attempt)
        if let link = links.first(where: { $0.peripheral == peripheral }), link.isSerialPort {
            return keep(SerialPortTranscript.data(value, isReceived: false), of: link)
        }
        answer(on: peripheral) { attributes in
            switch type {
            case .withResponse: attributes.ask(.write, characteristic, value: value)
            case .withoutResponse: attributes.command(value, to: characteristic)
            }
        }
    }
}
