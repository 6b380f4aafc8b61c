import AttributeProtocol
import Bluetooth

/// A link and the server at its other end, in virtual time: a packet needs 15 ms each way.
struct Conversation {
    static let headset = PeripheralIdentifier(address: 0x0055_DAB0_1324, type: .public)
    private static let delay = Duration.milliseconds(15)

    var server: InMemoryServer
    var link: ATTLink
    var now = MonotonicTime.boot
    /// What the link emitted, in order.
    var emitted: [ATTLink.Event] = []
    private var lastAttempt = Attempt.none

    /// A link that is up, with the size of packets agreed on.
    init(_ server: InMemoryServer = .headset(), map: HandleMap? = nil) {
        self.server = server
        link = ATTLink(peripheral: Self.headset, map: map)
        link.begin(at: now)
        exchange()
    }

    /// The next link to the same headset.
    func reconnected(map: HandleMap?) -> Conversation {
        var server = server
        server.disconnect()
        return Conversation(server, map: map)
    }

    /// Carries packets to and fro until nobody has anything to say.
    mutating func exchange() {
        while true {
            emitted += link.takeEvents()
            let packets = link.takePackets()
            if packets.isEmpty { return }
            now = now + Self.delay
            let answers = server.receive(packets)
            now = now + Self.delay
            for answer in answers { link.received(answer, at: now) }
        }
    }

    /// Lets time pass, without more than it takes.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let due = link.deadline, due <= end {
            now = max(now, due)
            link.deadlineReached(at: now)
            exchange()
        }
        now = max(now, end)
    }

    /// The headset sends a value of a characteristic, if it was asked to.
    mutating func notify(_ value: [UInt8], of uuid: BluetoothUUID) {
        guard let packet = server.send(value, of: uuid) else { return }
        deliver(packet)
    }

    /// The headset sends a packet.
    mutating func deliver(_ packet: [UInt8]) {
        link.received(packet, at: now)
        exchange()
    }

    /// How many requests and commands the server got since `body` began.
    mutating func roundTrips(_ body: (inout Conversation) -> Void) -> Int {
        let before = server.received.count { $0.opcode.kind == .request }
        body(&self)
        return server.received.count { $0.opcode.kind == .request } - before
    }

    // MARK: Requests

    mutating func nextAttempt() -> Attempt {
        lastAttempt = lastAttempt.next
        return lastAttempt
    }

    @discardableResult
    mutating func discover() -> Result<GATTDatabase, CentralError>? {
        let attempt = nextAttempt()
        link.take(.discoverServices(on: Conversation.headset, attempt: attempt), at: now)
        exchange()
        for case .central(.didDiscoverServices(Self.headset, let result, attempt)) in emitted { return result }
        return nil
    }

    /// Returns nil where there was no answer.
    @discardableResult
    mutating func setNotify(_ uuid: BluetoothUUID, _ enabled: Bool = true) -> Result<Bool, CentralError>? {
        let attempt = nextAttempt()
        link.take(.setNotifyValue(enabled, for: uuid, on: Conversation.headset, attempt: attempt), at: now)
        exchange()
        for case .central(.didUpdateNotificationState(uuid, Self.headset, let error, attempt)) in emitted {
            return error.map { .failure($0) } ?? .success(enabled)
        }
        return nil
    }

    mutating func read(_ uuid: BluetoothUUID) -> Result<[UInt8], CentralError>? {
        let attempt = nextAttempt()
        link.take(.readValue(of: uuid, on: Conversation.headset, attempt: attempt), at: now)
        exchange()
        for case .central(.didReadValue(uuid, Self.headset, let result, attempt)) in emitted { return result }
        return nil
    }

    /// Returns nil where there was no answer.
    @discardableResult
    mutating func write(
        _ value: [UInt8], _ uuid: BluetoothUUID, _ type: WriteType = .withResponse
    ) -> Result<Bool, CentralError>? {
        let attempt = nextAttempt()
        link.take(.writeValue(value, to: uuid, type: type, on: Conversation.headset, attempt: attempt), at: now)
        exchange()
        for case .central(.didWriteValue(uuid, Self.headset, let error, attempt)) in emitted {
            return error.map { .failure($0) } ?? .success(true)
        }
        return nil
    }

    /// All values that were reported of a characteristic, in order.
    func values(of uuid: BluetoothUUID) -> [[UInt8]] {
        emitted.compactMap { event in
            if case .central(.didUpdateValue(uuid, Self.headset, let value, _)) = event { value } else { nil }
        }
    }

    /// What the link reported of its map, in order.
    var maps: [HandleMap?] {
        emitted.compactMap { event in if case .didUpdateMap(let map) = event { .some(map) } else { nil } }
    }

    /// The map that is to be kept for the next link.
    var map: HandleMap? { maps.last.flatMap(\.self) }
}

extension BluetoothUUID {
    static let eegService = BluetoothUUID(high: 0x0000_FE8D_0000_1000, low: 0x8000_0080_5F9B_34FB)
    static let control = BluetoothUUID(high: 0x273E_0001_4C4D_454D, low: 0x96BE_F03B_AC82_1358)
    static let eeg = BluetoothUUID(high: 0x273E_0003_4C4D_454D, low: 0x96BE_F03B_AC82_1358)
    static let motion = BluetoothUUID(high: 0x273E_000A_4C4D_454D, low: 0x96BE_F03B_AC82_1358)
    static let configuration = BluetoothUUID(high: 0x273E_0009_4C4D_454D, low: 0x96BE_F03B_AC82_1358)
    static let lastOne = BluetoothUUID(high: 0x273E_000B_4C4D_454D, low: 0x96BE_F03B_AC82_1358)
    static let vendorService = BluetoothUUID(high: 0x6E40_0001_B5A3_F393, low: 0xE0A9_E50E_24DC_CA9E)
}

extension InMemoryServer {
    /// A headset much like a Muse: short and long UUIDs, notifications, an indication, a long value.
    static func headset(hash: [UInt8]? = nil, extraServices: Int = 0) -> InMemoryServer {
        var server = InMemoryServer()
        server.addService(.genericAttribute)
        server.addCharacteristic(.serviceChanged, [.indicate])
        if let hash { server.addCharacteristic(AttributeType.databaseHash.uuid, [.read], hash) }
        server.addService(.deviceInformation)
        server.addCharacteristic(.serialNumberString, [.read], Array("3041-2A7C-1324".utf8))
        server.addCharacteristic(.modelNumberString, [.read], (0..<600).map { UInt8(truncatingIfNeeded: $0) })
        for extra in 0..<extraServices {
            server.addService(BluetoothUUID(UInt16(0xA000 + extra)))
            server.addCharacteristic(BluetoothUUID(UInt16(0xB000 + extra)), [.read, .notify], [UInt8(extra)])
        }
        server.addService(.vendorService)
        server.addCharacteristic(.configuration, [.read, .write], [])
        server.addService(.eegService)
        server.addCharacteristic(.control, [.writeWithoutResponse, .write, .notify])
        server.addCharacteristic(.eeg, [.notify])
        server.addDescriptor(.short(0x2901), Array("EEG".utf8))
        server.addCharacteristic(.motion, [.indicate])
        server.addCharacteristic(.lastOne, [.read], [1])
        return server
    }
}
