import AttributeProtocol
import Bluetooth

/// An attribute of the server.
struct ServerAttribute {
    var handle: AttributeHandle
    var type: AttributeType
    var value: [UInt8]
    var isReadable = true
    var isWritable = false
    /// The least security at which it is read or written; in between it refuses with `refusal`.
    var security = SecurityLevel.low
    var refusal = ATTError.insufficientAuthentication
}

/// What a server does wrong. Each is something that a client must survive.
enum ServerDefect: Hashable, CaseIterable {
    /// Sends the same entries again, whatever the range.
    case repeatsEntries
    /// Never comes to the end of a long value.
    case readsWithoutEnd
    /// Repeats another value than the one that it was asked to prepare.
    case preparesSomethingElse
    /// Does not let Client Characteristic Configurations be read by their type.
    case hidesConfigurations
    /// Answers with the last byte missing.
    case cutsAnswers
    /// Answers each request with the response to another one, and then properly.
    case answersSomethingElseFirst
    /// Reports errors of another request, and then answers properly.
    case reportsForeignErrorsFirst
    /// Answers nothing at all.
    case isSilent
    /// Offers packets smaller than the least that there is.
    case offersTinyPackets
    /// Has no Read Blob.
    case lacksReadBlob
}

/// A GATT server with handles, permissions, security, a packet size, long values and prepared writes, which watches whether its
/// client keeps to the protocol.
struct InMemoryServer {
    var attributes: [ServerAttribute] = []
    var receiveLimit = AttributeMTU(247)
    var mtu = AttributeMTU.default
    var security = SecurityLevel.low
    var prepareLimit = 64
    var defects: [ServerDefect] = []
    /// What was received, in order.
    private(set) var received: [AttributePDU] = []
    /// What the client did against the rules.
    private(set) var violations: [String] = []
    /// Indications that wait for their confirmation.
    private(set) var unconfirmed = 0

    private var prepared: [(handle: AttributeHandle, offset: Int, value: [UInt8])] = []
    private var hasExchangedMTU = false
    private var isAnswering = false

    // MARK: Building

    private var nextHandle: AttributeHandle { attributes.last?.handle.next ?? .first }

    mutating func addService(_ uuid: BluetoothUUID, isPrimary: Bool = true, at handle: AttributeHandle? = nil) {
        attributes.append(
            ServerAttribute(
                handle: handle ?? nextHandle, type: isPrimary ? .primaryService : .secondaryService,
                value: AttributeType(uuid).bytes))
    }

    mutating func addInclude(_ range: HandleRange, _ uuid: BluetoothUUID) {
        let type = AttributeType(uuid)
        attributes.append(
            ServerAttribute(
                handle: nextHandle, type: .include,
                value: littleEndian(range.start) + littleEndian(range.end) + (type.byteCount == 2 ? type.bytes : [])))
    }

    /// Adds a characteristic, with a configuration where it notifies or indicates. Returns the handle of its value.
    @discardableResult
    mutating func addCharacteristic(
        _ uuid: BluetoothUUID, _ properties: Characteristic.Properties, _ value: [UInt8] = [],
        security: SecurityLevel = .low, refusal: ATTError = .insufficientAuthentication, isConfigurable: Bool = true
    ) -> AttributeHandle {
        let declaration = nextHandle
        let handle = h(declaration.rawValue + 1)
        attributes.append(
            ServerAttribute(
                handle: declaration, type: .characteristic,
                value: [properties.rawValue] + littleEndian(handle) + AttributeType(uuid).bytes))
        attributes.append(
            ServerAttribute(
                handle: handle, type: AttributeType(uuid), value: value, isReadable: properties.contains(.read),
                isWritable: !properties.isDisjoint(with: [.write, .writeWithoutResponse]), security: security,
                refusal: refusal))
        if isConfigurable, !properties.isDisjoint(with: [.notify, .indicate]) {
            addDescriptor(.clientCharacteristicConfiguration, [0, 0], isWritable: true)
        }
        return handle
    }

    mutating func addDescriptor(_ type: AttributeType, _ value: [UInt8], isWritable: Bool = false) {
        attributes.append(ServerAttribute(handle: nextHandle, type: type, value: value, isWritable: isWritable))
    }

    func value(of uuid: BluetoothUUID) -> [UInt8]? { attributes.first { $0.type.uuid == uuid }?.value }

    /// The value of the configuration of a characteristic.
    func configuration(of uuid: BluetoothUUID) -> [UInt8]? {
        guard let index = attributes.firstIndex(where: { $0.type.uuid == uuid }) else { return nil }
        return attributes[index...].first { $0.type == .clientCharacteristicConfiguration }?.value
    }

    // MARK: Link

    /// A new link: the packet size is agreed on anew, and nothing notifies.
    mutating func disconnect() {
        mtu = .default
        hasExchangedMTU = false
        security = .low
        prepared = []
        received = []
        unconfirmed = 0
        for index in attributes.indices where attributes[index].type == .clientCharacteristicConfiguration {
            attributes[index].value = [0, 0]
        }
    }

    /// A notification or an indication, if the client has asked for it.
    mutating func send(_ value: [UInt8], of uuid: BluetoothUUID) -> [UInt8]? {
        guard let attribute = attributes.first(where: { $0.type.uuid == uuid }) else { return nil }
        let sent = Array(value.prefix(mtu.writeLimit))
        switch configuration(of: uuid) {
        case [1, 0]: return AttributePDU.handleValueNotification(attribute.handle, sent).encoded()
        case [2, 0]:
            unconfirmed += 1
            return AttributePDU.handleValueIndication(attribute.handle, sent).encoded()
        default: return nil
        }
    }

    /// Takes what a client has sent at once, and returns the answers in order.
    mutating func receive(_ packets: [[UInt8]]) -> [[UInt8]] {
        var answers: [[UInt8]] = []
        var requests = 0
        for packet in packets {
            if packet.count > mtu.rawValue { violations.append("a packet of \(packet.count) bytes, more than \(mtu)") }
            guard let pdu = try? AttributePDU(decoding: packet) else {
                violations.append("no packet: \(packet)")
                continue
            }
            received.append(pdu)
            switch pdu.opcode.kind {
            case .request:
                requests += 1
                if requests > 1 { violations.append("a second request before the first was answered: \(pdu)") }
                answers += spoil(answer(pdu), pdu)
            case .command: write(pdu)
            case .confirmation:
                unconfirmed -= 1
                if unconfirmed < 0 { violations.append("a confirmation of nothing") }
            case .response, .notification, .indication: break
            }
        }
        return answers
    }

    private func spoil(_ answer: AttributePDU, _ request: AttributePDU) -> [[UInt8]] {
        let bytes = answer.encoded()
        if defects.contains(.isSilent) { return [] }
        if defects.contains(.cutsAnswers) { return [bytes.dropLast()].map { Array($0) } }
        if defects.contains(.answersSomethingElseFirst) {
            let other: AttributePDU = request.opcode == .readRequest ? .writeResponse : .readResponse([1])
            return [other.encoded(), bytes]
        }
        if defects.contains(.reportsForeignErrorsFirst) {
            let other: UInt8 = request.opcode == .readRequest ? 0x12 : 0x0A
            return [AttributePDU.errorResponse(request: other, handle: h(1), error: .unlikelyError).encoded(), bytes]
        }
        return [bytes]
    }

    // MARK: Requests

    private mutating func answer(_ request: AttributePDU) -> AttributePDU {
        switch request {
        case .exchangeMTURequest(let theirs):
            if hasExchangedMTU { violations.append("a second exchange of packet sizes") }
            hasExchangedMTU = true
            mtu = receiveLimit.agreed(with: AttributeMTU(theirs))
            let offered = defects.contains(.offersTinyPackets) ? 5 : UInt16(receiveLimit.rawValue)
            if defects.contains(.offersTinyPackets) { mtu = .default }
            return .exchangeMTUResponse(mtu: offered)
        case .readByGroupTypeRequest(let range, let type): return groups(range, type)
        case .readByTypeRequest(let range, let type): return values(range, type)
        case .findInformationRequest(let range): return information(range)
        case .readRequest(let handle): return read(handle, from: 0, 0x0A)
        case .readBlobRequest(let handle, let offset):
            if defects.contains(.lacksReadBlob) { return refuse(0x0C, handle, .requestNotSupported) }
            if defects.contains(.readsWithoutEnd) {
                return .readBlobResponse([UInt8](repeating: 7, count: mtu.readLimit))
            }
            return read(handle, from: Int(offset), 0x0C)
        case .writeRequest(let handle, let value):
            if let error = refusal(handle, isWrite: true) { return refuse(0x12, handle, error) }
            store(value, at: handle)
            return .writeResponse
        case .prepareWriteRequest(let handle, let offset, let value): return prepare(handle, Int(offset), value)
        case .executeWriteRequest(let writes):
            if writes { for part in prepared { store(part.value, at: part.handle, from: part.offset) } }
            prepared = []
            return .executeWriteResponse
        default: return refuse(request.opcode.rawValue, .none, .requestNotSupported)
        }
    }

    private func groups(_ range: HandleRange, _ type: AttributeType) -> AttributePDU {
        guard range.isValid else { return refuse(0x10, range.start, .invalidHandle) }
        var entries: [AttributeGroup] = []
        for (index, attribute) in attributes.enumerated() where attribute.type == type {
            guard defects.contains(.repeatsEntries) || range.contains(attribute.handle) else { continue }
            let isGroup = { (type: AttributeType) in type == .primaryService || type == .secondaryService }
            let next = attributes[(index + 1)...].first { isGroup($0.type) }?.handle
            let end = next.map { h($0.rawValue - 1) } ?? .last
            entries.append(AttributeGroup(HandleRange(attribute.handle, end), attribute.value))
        }
        guard let length = entries.first?.value.count else { return refuse(0x10, range.start, .attributeNotFound) }
        let fitting = (mtu.rawValue - 2) / (length + 4)
        return .readByGroupTypeResponse(Array(entries.prefix { $0.value.count == length }.prefix(fitting)))
    }

    private func values(_ range: HandleRange, _ type: AttributeType) -> AttributePDU {
        guard range.isValid else { return refuse(0x08, range.start, .invalidHandle) }
        let found = attributes.filter {
            $0.type.uuid == type.uuid && (defects.contains(.repeatsEntries) || range.contains($0.handle))
        }
        guard let first = found.first else { return refuse(0x08, range.start, .attributeNotFound) }
        if defects.contains(.hidesConfigurations), type == .clientCharacteristicConfiguration {
            return refuse(0x08, first.handle, .readNotPermitted)
        }
        if let error = refusal(first.handle, isWrite: false) { return refuse(0x08, first.handle, error) }
        let length = min(first.value.count, mtu.readByTypeLimit)
        let fitting = (mtu.rawValue - 2) / (length + 2)
        return .readByTypeResponse(
            found.prefix { $0.value.count == first.value.count && refusal($0.handle, isWrite: false) == nil }
                .prefix(fitting).map { AttributeValue($0.handle, Array($0.value.prefix(length))) })
    }

    private func information(_ range: HandleRange) -> AttributePDU {
        guard range.isValid else { return refuse(0x04, range.start, .invalidHandle) }
        let found = attributes.filter { defects.contains(.repeatsEntries) || range.contains($0.handle) }
        guard let width = found.first?.type.byteCount else { return refuse(0x04, range.start, .attributeNotFound) }
        let fitting = (mtu.rawValue - 2) / (2 + width)
        return .findInformationResponse(
            found.prefix { $0.type.byteCount == width }.prefix(fitting).map { AttributeInformation($0.handle, $0.type) })
    }

    private func read(_ handle: AttributeHandle, from offset: Int, _ request: UInt8) -> AttributePDU {
        if let error = refusal(handle, isWrite: false) { return refuse(request, handle, error) }
        guard let value = attributes.first(where: { $0.handle == handle })?.value else {
            return refuse(request, handle, .invalidHandle)
        }
        guard offset <= value.count else { return refuse(request, handle, .invalidOffset) }
        let part = Array(value.dropFirst(offset).prefix(mtu.readLimit))
        return request == 0x0A ? .readResponse(part) : .readBlobResponse(part)
    }

    private mutating func prepare(_ handle: AttributeHandle, _ offset: Int, _ value: [UInt8]) -> AttributePDU {
        if let error = refusal(handle, isWrite: true) { return refuse(0x16, handle, error) }
        guard prepared.count < prepareLimit else { return refuse(0x16, handle, .prepareQueueFull) }
        prepared.append((handle, offset, value))
        let echoed = defects.contains(.preparesSomethingElse) && offset > 0 ? value.map { $0 ^ 1 } : value
        return .prepareWriteResponse(handle, offset: UInt16(offset), echoed)
    }

    private mutating func write(_ command: AttributePDU) {
        guard case .writeCommand(let handle, let value) = command, refusal(handle, isWrite: true) == nil else { return }
        store(value, at: handle)
    }

    private mutating func store(_ value: [UInt8], at handle: AttributeHandle, from offset: Int = 0) {
        guard let index = attributes.firstIndex(where: { $0.handle == handle }) else { return }
        attributes[index].value = Array(attributes[index].value.prefix(offset)) + value
    }

    /// Why an attribute is not read or written.
    private func refusal(_ handle: AttributeHandle, isWrite: Bool) -> ATTError? {
        guard let attribute = attributes.first(where: { $0.handle == handle }) else { return .invalidHandle }
        if !(isWrite ? attribute.isWritable : attribute.isReadable) {
            return isWrite ? .writeNotPermitted : .readNotPermitted
        }
        return security < attribute.security ? attribute.refusal : nil
    }

    private func refuse(_ request: UInt8, _ handle: AttributeHandle, _ error: ATTError) -> AttributePDU {
        .errorResponse(request: request, handle: handle, error: error)
    }

    private func littleEndian(_ handle: AttributeHandle) -> [UInt8] {
        [UInt8(truncatingIfNeeded: handle.rawValue), UInt8(truncatingIfNeeded: handle.rawValue >> 8)]
    }
}
