import AttributeProtocol
import Bluetooth
import Simulation
import Testing

@Suite("Random bytes") struct RandomPacketTests {
    /// Bytes that begin like a packet, so that the search goes deeper than the first byte.
    private static func bytes(_ generator: inout SeededGenerator) -> [UInt8] {
        let opcode = AttributeOpcode.allCases.randomElement(using: &generator)?.rawValue ?? 0
        let opening: [UInt8] = generator.once(in: 4) ? [] : [opcode]
        var bytes = opening + generator.bytes(0...40)
        // Lengths and formats that a random byte would seldom have.
        if bytes.count > 1, generator.once(in: 2) {
            bytes[1] = [1, 2, 3, 4, 5, 6, 7, 21].randomElement(using: &generator) ?? 1
        }
        return bytes
    }

    @Test("of 20,000 seeds are no packet, or one that is encoded to the same bytes")
    func decoding() {
        var generator = SeededGenerator(seed: 1)
        var packetCount = 0
        for seed in 0..<20_000 {
            let bytes = Self.bytes(&generator)
            guard let pdu = try? AttributePDU(decoding: bytes) else { continue }
            packetCount += 1
            #expect(pdu.encoded() == bytes, "string \(seed)")
        }
        #expect(packetCount > 5000)
    }

    @Test("put instead of each byte of each packet give a packet or an error")
    func mutations() {
        for (bytes, _) in GoldenPacketTests.packets {
            for index in bytes.indices {
                for value in UInt8.min...UInt8.max {
                    var changed = bytes
                    changed[index] = value
                    if let pdu = try? AttributePDU(decoding: changed) { #expect(pdu.encoded() == changed) }
                }
                let cut = Array(bytes.prefix(index))
                if let pdu = try? AttributePDU(decoding: cut) { #expect(pdu.encoded() == cut) }
            }
        }
    }

    @Test("of 20,000 seeds from a peer are answered once where they are requests, and never otherwise")
    func peerRequests() {
        var generator = SeededGenerator(seed: 2)
        for seed in 0..<20_000 {
            var client = GATTClient()
            let bytes = Self.bytes(&generator)
            client.received(bytes, at: .boot)
            let answers = client.takePackets()
            let opcode = bytes.first.flatMap { AttributeOpcode(rawValue: $0) }
            let isUnknownRequest = bytes.first.map { opcode == nil && !AttributeOpcode.isCommand($0) } ?? false
            let isAnswered = opcode?.kind == .request || opcode?.kind == .indication || isUnknownRequest
            #expect(answers.count == (isAnswered ? 1 : 0), "string \(seed): \(bytes)")
            #expect(answers.allSatisfy { $0.count <= 23 }, "string \(seed): \(bytes)")
        }
    }

    @Test("of 20,000 seeds as answers end every procedure, and crash none")
    func answers() {
        var generator = SeededGenerator(seed: 3)
        let map = HandleMap(databaseHash: [UInt8](repeating: 1, count: 16), services: [])
        let requests: [GATTRequest] = [
            .exchangeMTU, .discover(.all), .discover(.configurations), .validate(map), .read(h(3)),
            .readByType(.all, .databaseHash), .write(h(3), [1]), .write(h(3), [UInt8](repeating: 9, count: 200)),
        ]
        for seed in 0..<20_000 {
            var client = GATTClient()
            client.start(requests[seed % requests.count], at: .boot)
            for _ in 0..<12 where !client.isIdle {
                guard let request = client.takePackets().last, let opcode = AttributeOpcode(rawValue: request[0]) else { break }
                let bytes = Self.answer(to: opcode, request, &generator)
                client.received(bytes, at: .boot)
            }
            client.deadlineReached(at: .boot + GATTClient.transactionLimit)
            let ends = client.takeEvents().filter { if case .finished = $0 { true } else { false } }
            #expect(ends.count == 1, "procedure \(seed)")
            #expect(client.deadline == nil, "procedure \(seed)")
        }
    }

    /// Something that looks like the response to a request: half sense, half noise.
    private static func answer(
        to opcode: AttributeOpcode, _ request: [UInt8], _ generator: inout SeededGenerator
    ) -> [UInt8] {
        if generator.once(in: 3) {
            let error = [ATTError.attributeNotFound, .invalidOffset, .readNotPermitted].randomElement(using: &generator)
            return AttributePDU.errorResponse(
                request: request[0], handle: h(1), error: error ?? .unlikelyError
            ).encoded()
        }
        let response = opcode.response?.rawValue ?? 0
        let start = request.count > 2 ? [request[1], request[2]] : [1, 0]
        let lengths: [UInt8] = [1, 2, 6, 7, 8, 10, 21]
        return [response, lengths.randomElement(using: &generator) ?? 7] + start + generator.bytes(0...30)
    }
}
