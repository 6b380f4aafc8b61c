package import Bluetooth

/// What goes over the air as HCI packets, made from a central's requests and events.
///
/// Where a central reports the packets of the Attribute Protocol themselves
/// (``CentralEvent/didTransferPacket(_:with:isReceived:at:)``), these are written, as they are, and nothing is made of requests
/// and events. Otherwise a ``Central`` speaks of characteristics, not of packets: what lies below is written as it usually is.
/// Bytes, order and times are those of the requests and events, the handles of attributes those of the headset, where the
/// central reports them; the discovery's messages and the size of packets are made up. A request has the time of the latest
/// event, or of the latest ``pass(to:)``. The handles of connections are made up in any case. Behind a ``remark`` all packets
/// of the Attribute Protocol are a socket's, up to the end of the link or to what ``reconstructionRemark`` announces.
///
/// What a link's packets refer to is followed at all times, so that a capture may begin in the middle of one: it begins with
/// ``preamble(of:)``.
package struct PacketReconstruction: Sendable {
    /// Bytes that may wait to be taken; beyond that packets are dropped and counted. A minute of the fastest headset.
    private static let byteLimit = 4 << 20

    /// What stands in a capture before packets of a socket.
    static let remark = "eegsync: attribute packets from here on as the socket gave and took them"
    /// What stands in it before those of an earlier link's discovery, which this link did not repeat.
    static let reconstructionRemark = "eegsync: attribute packets from here on reconstructed from an earlier discovery"

    private var links: [Link] = []
    private var nextHandle: UInt16 = 0x0040
    private var packets: [CapturedPacket] = []
    private var byteCount = 0
    /// When the latest packet was sent or received, or up to when the time has passed.
    private var latest = MonotonicTime.boot

    /// True while packets are kept.
    package var isCapturing = false {
        didSet { if !isCapturing { (packets, byteCount) = ([], 0) } }
    }
    /// Packets that nobody took in time.
    package private(set) var droppedCount = 0

    private struct Link: Sendable {
        var peripheral: PeripheralIdentifier
        /// Of the connection, 0x0040 ... 0x0EFF.
        var handle: UInt16
        /// Nil before the discovery, and for serial ports.
        var attributes: AttributeTranscript?
        var isSerialPort = false
        /// True where the central reports the packets.
        var isTapped = false
        /// True once the services were discovered in these.
        var isDiscoveryTapped = false
    }

    /// Begins without links.
    package init() {}

    /// Takes the packets since the last call.
    package mutating func takePackets() -> [CapturedPacket] {
        defer { (packets, byteCount) = ([], 0) }
        return packets
    }

    /// How the present link to a peripheral came about: connection, discovery and subscriptions. Empty where there is none.
    package func preamble(of peripheral: PeripheralIdentifier) -> [CapturedPacket] {
        guard let link = links.first(where: { $0.peripheral == peripheral }) else { return [] }
        let begin = CapturedPacket(
            peripheral: peripheral, time: latest, kind: .event, isReceived: true, bytes: Self.connectionComplete(link))
        return [begin] + Self.packets(of: link, link.attributes?.preamble ?? [], at: latest)
            + (link.isSerialPort ? Self.packets(of: link, SerialPortTranscript.preamble, at: latest) : [])
            + (link.isTapped ? [Self.text(Self.remark, of: link, at: latest)] : [])
    }

    // MARK: Packets

    private mutating func keep(_ packet: CapturedPacket) {
        guard isCapturing else { return }
        guard byteCount + packet.bytes.count <= Self.byteLimit else {
            droppedCount += 1
            return
        }
        byteCount += packet.bytes.count
        packets.append(packet)
    }

    private mutating func keep(_ messages: [AttributeTranscript.Message], of link: Link) {
        guard isCapturing, !link.isTapped else { return }
        for packet in Self.packets(of: link, messages, at: latest) { keep(packet) }
    }

    private mutating func keep(_ frames: [SerialPortTranscript.Frame], of link: Link) {
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
            + AttributeTable.littleEndian(UInt16(payload.count)) + AttributeTable.littleEndian(channel) + Array(payload)
        return CapturedPacket(
            peripheral: link.peripheral, time: time, kind: .data, isReceived: isReceived, bytes: bytes)
    }

    /// Text for a person, as a vendor-specific event (Vol 4, Part E, 5.4.4), which readers skip.
    private static func text(_ text: String, of link: Link, at time: MonotonicTime) -> CapturedPacket {
        CapturedPacket(
            peripheral: link.peripheral, time: time, kind: .event, isReceived: true,
            bytes: [0xFF, UInt8(text.utf8.count)] + Array(text.utf8))
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

    // MARK: Events and requests

    /// The time has passed up to `now`.
    package mutating func pass(to now: MonotonicTime) { latest = max(latest, now) }

    /// Takes an event that a central reported at `now`.
    package mutating func note(_ event: CentralEvent, at now: MonotonicTime) {
        // Notifications and packets have their own time, before the central was asked.
        switch event {
        case .didUpdateValue, .didTransferPacket: break
        default: pass(to: now)
        }
        switch event {
        case .didTransferPacket(let packet, let peripheral, let isReceived, let time):
            transferred(packet, with: peripheral, isReceived: isReceived, at: time)
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

    /// Takes a request that goes to the central.
    package mutating func note(_ request: CentralRequest) {
        switch request {
        case .setNotifyValue(let isOn, let characteristic, let peripheral, _):
            answer(on: peripheral) { $0.ask(.notify(isOn), characteristic) }
        case .readValue(let characteristic, let peripheral, _):
            answer(on: peripheral) { $0.ask(.read, characteristic) }
        case .writeValue(let value, let characteristic, let type, let peripheral, _):
            if let link = links.first(where: { $0.peripheral == peripheral }), link.isSerialPort {
                return keep(SerialPortTranscript.data(value, isReceived: false), of: link)
            }
            answer(on: peripheral) { attributes in
                switch type {
                case .withResponse: attributes.ask(.write, characteristic, value: value)
                case .withoutResponse: attributes.command(value, to: characteristic)
                }
            }
        default: break
        }
    }

    private mutating func open(_ peripheral: PeripheralIdentifier) {
        guard !links.contains(where: { $0.peripheral == peripheral }) else { return }
        let link = Link(peripheral: peripheral, handle: nextHandle)
        nextHandle = nextHandle == 0x0EFF ? 0x0040 : nextHandle + 1
        links.append(link)
        let packet = CapturedPacket(
            peripheral: peripheral, time: latest, kind: .event, isReceived: true, bytes: Self.connectionComplete(link))
        keep(packet)
    }

    private mutating func close(_ peripheral: PeripheralIdentifier, error: CentralError?) {
        guard let index = links.firstIndex(where: { $0.peripheral == peripheral }) else { return }
        let link = links.remove(at: index)
        let packet = CapturedPacket(
            peripheral: peripheral, time: latest, kind: .event, isReceived: true,
            bytes: Self.disconnectionComplete(link, error: error))
        keep(packet)
    }

    private mutating func discovered(
        _ database: GATTDatabase, on peripheral: PeripheralIdentifier, notifying: [BluetoothUUID] = []
    ) {
        guard let index = links.firstIndex(where: { $0.peripheral == peripheral }) else { return }
        if database[.serialPort] != nil {
            links[index].isSerialPort = true
            let link = links[index]
            return keep(SerialPortTranscript.preamble, of: link)
        }
        let attributes = AttributeTranscript(database, notifying: links[index].attributes?.notifying ?? notifying)
        links[index].attributes = attributes
        let link = links[index]
        keep(attributes.preamble, of: link)
        guard link.isTapped, !link.isDiscoveryTapped else { return }
        // Known from an earlier link: without it nothing in the capture would name the characteristics.
        keep(Self.text(Self.reconstructionRemark, of: link, at: latest))
        for packet in Self.packets(of: link, attributes.preamble, at: latest) { keep(packet) }
        keep(Self.text(Self.remark, of: link, at: latest))
    }

    /// A packet of the Attribute Protocol went over a link.
    private mutating func transferred(
        _ packet: [UInt8], with peripheral: PeripheralIdentifier, isReceived: Bool, at time: MonotonicTime
    ) {
        guard let index = links.firstIndex(where: { $0.peripheral == peripheral }) else { return }
        if !links[index].isTapped {
            links[index].isTapped = true
            keep(Self.text(Self.remark, of: links[index], at: latest))
        }
        // Read By Group Type Request (Vol 3, Part F, 3.4.4.9): only a discovery asks for the services.
        if !isReceived, packet.first == 0x10 { links[index].isDiscoveryTapped = true }
        guard isCapturing else { return }
        latest = max(latest, time)
        keep(Self.data(links[index], channel: 4, packet, isReceived: isReceived, at: latest))
    }

    private mutating func answer(
        on peripheral: PeripheralIdentifier, _ body: (inout AttributeTranscript) -> [AttributeTranscript.Message]
    ) {
        guard let index = links.firstIndex(where: { $0.peripheral == peripheral }), var attributes = links[index].attributes
        else { return }
        let messages = body(&attributes)
        links[index].attributes = attributes
        let link = links[index]
        keep(messages, of: link)
    }
}
