import Bluetooth

/// What a link's requests and answers look like in the Attribute Protocol.
///
/// The protocol lets one request be under way at a time, so a request that is made while another waits for its answer is
/// written down when that one has been answered.
struct AttributeTranscript {
    /// What a request asks for.
    enum Purpose: Hashable {
        case notify(Bool)
        case read
        case write
    }

    private struct Request {
        var purpose: Purpose
        var characteristic: BluetoothUUID
        var bytes: [UInt8]
        var isSent = false
    }

    /// Requests that were never answered are forgotten beyond this many.
    private static let requestLimit = 64

    private let table: AttributeTable
    private var requests: [Request] = []
    /// In the order in which they were switched on.
    private(set) var notifying: [BluetoothUUID] = []
    /// What was read last of each characteristic, in the order of the first reads: a Ganglion's firmware, by which its samples
    /// are decoded, stands nowhere else.
    private var values: [(characteristic: BluetoothUUID, value: [UInt8])] = []

    init(_ database: GATTDatabase, notifying: [BluetoothUUID]) {
        table = AttributeTable(database)
        self.notifying = notifying
    }

    typealias Message = AttributeTable.Message

    /// Everything that led to the present state of the link.
    var preamble: [Message] {
        table.discovery
            + values.flatMap { read -> [Message] in
                guard let entry = table[read.characteristic] else { return [] }
                return [
                    Message(isReceived: false, bytes: [0x0A] + AttributeTable.littleEndian(entry.value)),
                    Message(isReceived: true, bytes: [0x0B] + read.value),
                ]
            }
            + notifying.compactMap { table[$0] }.flatMap { entry -> [Message] in
                guard let configuration = Self.configuration(of: entry, isOn: true) else { return [] }
                return [
                    Message(isReceived: false, bytes: configuration), Message(isReceived: true, bytes: [0x13]),
                ]
            }
    }

    /// Write Request to the Client Characteristic Configuration: 1 for notifications, 2 for indications.
    private static func configuration(of entry: AttributeTable.Entry, isOn: Bool) -> [UInt8]? {
        guard let handle = entry.configuration else { return nil }
        let value: UInt8 = !isOn ? 0 : entry.characteristic.properties.contains(.notify) ? 1 : 2
        return [0x12] + AttributeTable.littleEndian(handle) + [value, 0]
    }

    /// A request; nothing goes out for a characteristic that the peripheral does not have.
    mutating func ask(_ purpose: Purpose, _ characteristic: BluetoothUUID, value: [UInt8] = []) -> [Message] {
        guard let entry = table[characteristic] else { return [] }
        let handle = AttributeTable.littleEndian(entry.value)
        var bytes: [UInt8]
        switch purpose {
        case .notify(let isOn):
            guard let configuration = Self.configuration(of: entry, isOn: isOn) else { return [] }
            bytes = configuration
        case .read: bytes = [0x0A] + handle
        case .write: bytes = [0x12] + handle + value
        }
        if requests.count == Self.requestLimit { requests.removeFirst() }
        requests.append(Request(purpose: purpose, characteristic: characteristic, bytes: bytes))
        return sendFirst()
    }

    /// The answer to the first request for notifications of a characteristic.
    mutating func answerNotify(_ characteristic: BluetoothUUID, error: CentralError?) -> [Message] {
        let index = requests.firstIndex { request in
            if case .notify = request.purpose { request.characteristic == characteristic } else { false }
        }
        guard let index else { return [] }
        if error == nil, case .notify(let isOn) = requests[index].purpose {
            notifying.removeAll { $0 == characteristic }
            if isOn { notifying.append(characteristic) }
        }
        return answer(at: index, error: error)
    }

    /// The answer to the first request to read or write a characteristic.
    mutating func answer(
        _ purpose: Purpose, _ characteristic: BluetoothUUID, value: [UInt8] = [], error: CentralError?
    ) -> [Message] {
        let index = requests.firstIndex { $0.purpose == purpose && $0.characteristic == characteristic }
        guard let index else { return [] }
        if purpose == .read, error == nil { note(value, of: characteristic) }
        return answer(at: index, value: value, error: error)
    }

    private mutating func note(_ value: [UInt8], of characteristic: BluetoothUUID) {
        if let known = values.firstIndex(where: { $0.characteristic == characteristic }) {
            values[known].value = value
        } else {
            values.append((characteristic, value))
        }
    }

    /// An error that is none of the peripheral's ends a request: it has no answer, or was never sent.
    private mutating func answer(at index: Int, value: [UInt8] = [], error: CentralError?) -> [Message] {
        let request = requests.remove(at: index)
        var messages: [Message] = []
        if !request.isSent { messages.append(Message(isReceived: false, bytes: request.bytes)) }
        switch error {
        case nil:
            let opcode: UInt8 = request.purpose == .read ? 0x0B : 0x13
            messages.append(Message(isReceived: true, bytes: [opcode] + value))
        case .att(let code):
            messages.append(
                Message(isReceived: true, bytes: [0x01, request.bytes[0], request.bytes[1], request.bytes[2], code.code]))
        default:
            if !request.isSent { messages.removeAll() }
        }
        return messages + sendFirst()
    }

    private mutating func sendFirst() -> [Message] {
        guard let first = requests.first, !first.isSent else { return [] }
        requests[0].isSent = true
        return [Message(isReceived: false, bytes: first.bytes)]
    }

    /// Write Command.
    func command(_ value: [UInt8], to characteristic: BluetoothUUID) -> [Message] {
        guard let entry = table[characteristic] else { return [] }
        return [Message(isReceived: false, bytes: [0x52] + AttributeTable.littleEndian(entry.value) + value)]
    }

    /// Handle Value Notification, or Indication and its Confirmation.
    func notification(_ value: [UInt8], from characteristic: BluetoothUUID) -> [Message] {
        guard let entry = table[characteristic] else { return [] }
        let handle = AttributeTable.littleEndian(entry.value)
        if entry.characteristic.properties.contains(.notify) {
            return [Message(isReceived: true, bytes: [0x1B] + handle + value)]
        }
        return [Message(isReceived: true, bytes: [0x1D] + handle + value), Message(isReceived: false, bytes: [0x1E])]
    }
}
