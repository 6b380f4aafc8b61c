import AttributeProtocol
import Bluetooth

/// What a peripheral says on the Attribute Protocol's channel, and what is remembered of its attributes.
extension FuzzTarget {
    /// A packet that is understood is encoded to the same bytes.
    static func attributePDU(_ bytes: [UInt8]) -> String? {
        guard let pdu = try? AttributePDU(decoding: bytes) else { return nil }
        return pdu.encoded() == bytes ? nil : "another packet: \(pdu)"
    }

    /// A map that is read is the same when it is written and read again.
    static func handleMap(_ bytes: [UInt8]) -> String? {
        guard let map = HandleMap(text: String(decoding: bytes, as: UTF8.self)) else { return nil }
        return HandleMap(text: map.text) == map ? nil : "another map: \(map.text)"
    }

    /// A procedure, and pieces as the packets that the peripheral sends meanwhile. Every procedure ends once, at the latest
    /// when its time is over.
    static func attributeConversation(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let handle = AttributeHandle(rawValue: 3)
        let map = HandleMap(databaseHash: [UInt8](repeating: 1, count: 16), services: [])
        let requests: [GATTRequest] = [
            .exchangeMTU, .discover(.all), .discover(.configurations), .validate(map), .read(handle),
            .readByType(.all, .databaseHash), .write(handle, [1]), .write(handle, [UInt8](repeating: 9, count: 200)),
        ]
        var client = GATTClient()
        client.start(requests[input.byte() % requests.count], at: .boot)
        var ends = 0
        var sent = client.takePackets().count
        var received = 0
        while let packet = input.piece() {
            received += 1
            client.received(packet, at: .boot)
            let packets = client.takePackets()
            sent += packets.count
            if packets.contains(where: { $0.isEmpty || $0.count > client.mtu.rawValue }) { return "a packet beyond the MTU" }
            ends += client.takeEvents().filter(\.isEnd).count
        }
        client.deadlineReached(at: .boot + GATTClient.transactionLimit)
        ends += client.takeEvents().filter(\.isEnd).count
        if ends != 1 { return "the procedure ended \(ends) times" }
        // One answer to each packet, and what is asked next.
        return sent > 2 * received + 2 ? "\(sent) packets were sent for \(received)" : nil
    }
}

extension GATTClient.Event {
    fileprivate var isEnd: Bool { if case .finished = self { true } else { false } }
}
