import AttributeProtocol
import Bluetooth
import Testing

@Suite("A peer") struct PeerTests {
    private static func answer(to bytes: [UInt8]) -> [[UInt8]] {
        var client = GATTClient(receiveLimit: AttributeMTU(247))
        client.received(bytes, at: .boot)
        return client.takePackets()
    }

    @Test(
        "that asks is answered as by a server without attributes",
        arguments: [
            // Exchange MTU: our size.
            ([0x02, 0x17, 0x00], [0x03, 0xF7, 0x00]),
            // Find Information, Find By Type Value, Read By Type, Read By Group Type: not found, or an invalid range.
            ([0x04, 0x01, 0x00, 0xFF, 0xFF], [0x01, 0x04, 0x01, 0x00, 0x0A]),
            ([0x04, 0x00, 0x00, 0xFF, 0xFF], [0x01, 0x04, 0x00, 0x00, 0x01]),
            ([0x04, 0x05, 0x00, 0x04, 0x00], [0x01, 0x04, 0x05, 0x00, 0x01]),
            ([0x06, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28, 0x01, 0x18], [0x01, 0x06, 0x01, 0x00, 0x0A]),
            ([0x08, 0x02, 0x00, 0xFF, 0xFF, 0x00, 0x2A], [0x01, 0x08, 0x02, 0x00, 0x0A]),
            ([0x10, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28], [0x01, 0x10, 0x01, 0x00, 0x0A]),
            ([0x10, 0x01, 0x00, 0xFF, 0xFF, 0x03, 0x28], [0x01, 0x10, 0x01, 0x00, 0x10]),
            // Read, Read Blob, Read Multiple, Write, Prepare Write: no such handle.
            ([0x0A, 0x03, 0x00], [0x01, 0x0A, 0x03, 0x00, 0x01]),
            ([0x0C, 0x03, 0x00, 0x00, 0x00], [0x01, 0x0C, 0x03, 0x00, 0x01]),
            ([0x0E, 0x03, 0x00, 0x04, 0x00], [0x01, 0x0E, 0x03, 0x00, 0x01]),
            ([0x20, 0x03, 0x00, 0x04, 0x00], [0x01, 0x20, 0x03, 0x00, 0x01]),
            ([0x12, 0x03, 0x00, 0x01], [0x01, 0x12, 0x03, 0x00, 0x01]),
            ([0x16, 0x03, 0x00, 0x00, 0x00, 0x01], [0x01, 0x16, 0x03, 0x00, 0x01]),
            // Execute Write: nothing is prepared.
            ([0x18, 0x01], [0x19]),
            // Senseless, and unknown.
            ([0x0A, 0x03], [0x01, 0x0A, 0x00, 0x00, 0x04]),
            ([0x14, 0x03], [0x01, 0x14, 0x00, 0x00, 0x06]),
            ([0xBF], [0x01, 0xBF, 0x00, 0x00, 0x06]),
        ] as [([UInt8], [UInt8])])
    func answers(request: [UInt8], answer: [UInt8]) {
        #expect(Self.answer(to: request) == [answer])
    }

    @Test(
        "that commands, confirms or answers unasked is not answered",
        arguments: [
            [], [0x52, 0x03, 0x00, 0x01], [0xD2, 0x03, 0x00], [0x7F, 1], [0x1E], [0x13], [0x01, 0x0A, 1, 0, 1], [0x0B, 1],
        ] as [[UInt8]])
    func ignored(packet: [UInt8]) {
        var client = GATTClient()
        client.received(packet, at: .boot)
        #expect(client.takePackets() == [])
        #expect(client.takeEvents() == [])
        #expect(client.ignoredPacketCount == 1)
    }

    @Test("that asks for larger packets gets them")
    func peerExchange() {
        var client = GATTClient(receiveLimit: AttributeMTU(247))
        client.received([0x02, 0xB9, 0x00], at: .boot)
        #expect(client.mtu == AttributeMTU(185))
    }

    @Test("that asks for larger packets during a read does not cut its value")
    func peerExchangeDuringRead() {
        var client = GATTClient(receiveLimit: AttributeMTU(247))
        client.start(.read(h(3)), at: .boot)
        client.received([0x02, 0xB9, 0x00], at: .boot)
        _ = client.takePackets()
        client.received([0x0B] + [UInt8](repeating: 1, count: 22), at: .boot)
        #expect(client.takePackets() == [AttributePDU.readBlobRequest(h(3), offset: 22).encoded()])
        client.received([0x0D, 2], at: .boot)
        #expect(client.takeEvents() == [.finished(.success(.value([UInt8](repeating: 1, count: 22) + [2])))])
    }

    @Test("that asks while we wait for its answer is answered, and our request goes on")
    func bothWays() {
        var conversation = Conversation()
        conversation.discover()
        conversation.link.take(
            .readValue(of: .serialNumberString, on: Conversation.headset, attempt: conversation.nextAttempt()),
            at: conversation.now)
        conversation.link.received([0x04, 0x01, 0x00, 0xFF, 0xFF], at: conversation.now)
        conversation.emitted = []
        conversation.exchange()
        #expect(conversation.emitted.count == 1)
        #expect(conversation.server.violations.isEmpty)
    }

    @Test("that offers packets smaller than the least gets the least")
    func tinyPackets() {
        var server = InMemoryServer.headset()
        server.defects = [.offersTinyPackets]
        var conversation = Conversation(server)
        #expect(conversation.link.mtu == .default)
        #expect(conversation.discover() != nil)
        #expect(conversation.server.violations.isEmpty)
    }

    @Test("that refuses to exchange sizes is spoken to in the smallest packets")
    func refusedExchange() {
        var client = GATTClient()
        client.start(.exchangeMTU, at: .boot)
        client.received([0x01, 0x02, 0x00, 0x00, 0x06], at: .boot)
        #expect(client.takeEvents() == [.finished(.failure(.refused(.requestNotSupported, .none)))])
        #expect(client.mtu == .default && client.isIdle)
    }
}

@Suite("Time and security") struct TimeAndSecurityTests {
    @Test("A request that is not answered for 30 s ends the bearer: nothing is sent any more")
    func timeOut() {
        var conversation = Conversation()
        conversation.discover()
        conversation.pass(.seconds(5))
        conversation.server.defects = [.isSilent]
        let attempts = (0..<3).map { _ in conversation.nextAttempt() }
        for attempt in attempts {
            conversation.link.take(
                .readValue(of: .serialNumberString, on: Conversation.headset, attempt: attempt), at: conversation.now)
        }
        let asked = conversation.now
        conversation.exchange()
        #expect(conversation.link.deadline == asked + .seconds(30))
        conversation.emitted = []
        conversation.pass(.milliseconds(29_900))
        #expect(conversation.emitted == [])
        conversation.pass(.milliseconds(200))
        #expect(conversation.emitted == [.didTimeOut])
        conversation.server.defects = []
        #expect(conversation.read(.serialNumberString) == nil)
        conversation.link.received([0x1D, 1, 0, 1], at: conversation.now)
        conversation.link.received([0x0A, 1, 0], at: conversation.now)
        #expect(conversation.link.takePackets() == [])
        #expect(conversation.link.deadline == nil)
    }

    @Test("A peer that asks and notifies but does not answer is given up all the same")
    func chatteringPeer() {
        var conversation = Conversation()
        conversation.discover()
        conversation.setNotify(.eeg)
        conversation.server.defects = [.isSilent]
        #expect(conversation.read(.serialNumberString) == nil)
        for _ in 0..<31 {
            conversation.pass(.seconds(1))
            conversation.notify([1], of: .eeg)
            conversation.deliver([0x04, 0x01, 0x00, 0xFF, 0xFF])
        }
        #expect(conversation.emitted.contains(.didTimeOut))
    }

    private static func secured(_ level: SecurityLevel, _ refusal: ATTError) -> Conversation {
        var server = InMemoryServer.headset()
        server.addCharacteristic(.batteryLevel, [.read], [64], security: level, refusal: refusal)
        var conversation = Conversation(server)
        conversation.discover()
        conversation.emitted = []
        return conversation
    }

    @Test("A refusal for want of security is reported, and the request made again once the link has it")
    func raisedSecurity() {
        var conversation = Self.secured(.high, .insufficientAuthentication)
        #expect(conversation.read(.batteryLevel) == nil)
        #expect(conversation.emitted == [.needsSecurity(.medium)])
        conversation.server.security = .medium
        conversation.link.didChangeSecurity(to: .medium, at: conversation.now)
        conversation.exchange()
        #expect(conversation.emitted == [.needsSecurity(.medium), .needsSecurity(.high)])
        conversation.server.security = .high
        conversation.link.didChangeSecurity(to: .high, at: conversation.now)
        conversation.exchange()
        guard case .central(.didReadValue(.batteryLevel, _, .success([64]), _))? = conversation.emitted.last else {
            Issue.record("\(conversation.emitted)")
            return
        }
    }

    @Test("Security that cannot be raised, or is not in 30 s, fails the request and lets the next one go")
    func failedSecurity() {
        for givesUp in [true, false] {
            var conversation = Self.secured(.medium, .insufficientEncryption)
            #expect(conversation.read(.batteryLevel) == nil)
            conversation.link.take(
                .readValue(of: .serialNumberString, on: Conversation.headset, attempt: conversation.nextAttempt()),
                at: conversation.now)
            conversation.exchange()
            #expect(conversation.emitted == [.needsSecurity(.medium)])
            if givesUp {
                conversation.link.didChangeSecurity(to: nil, at: conversation.now)
                conversation.exchange()
            } else {
                conversation.pass(.seconds(31))
            }
            #expect(conversation.emitted.count == 3)
            guard
                case .central(.didReadValue(.batteryLevel, _, .failure(.att(.insufficientEncryption)), _)) =
                    conversation.emitted[1],
                case .central(.didReadValue(.serialNumberString, _, .success, _)) = conversation.emitted[2]
            else {
                Issue.record("\(conversation.emitted)")
                return
            }
        }
    }

    @Test("A headset that no security satisfies is not asked for ever")
    func neverSatisfied() {
        var conversation = Self.secured(.fips, .insufficientAuthentication)
        #expect(conversation.read(.batteryLevel) == nil)
        var count = 0
        while case .needsSecurity(let level)? = conversation.emitted.last, count < 10 {
            count += 1
            conversation.link.didChangeSecurity(to: level, at: conversation.now)
            conversation.exchange()
        }
        #expect(count == 3)
        guard case .central(.didReadValue(_, _, .failure(.att(.insufficientAuthentication)), _))? = conversation.emitted.last
        else {
            Issue.record("\(conversation.emitted)")
            return
        }
    }

    @Test("A refusal that no security mends is reported as it is")
    func authorization() {
        for error in [ATTError.insufficientAuthorization, .insufficientEncryptionKeySize] {
            var conversation = Self.secured(.fips, error)
            #expect(conversation.read(.batteryLevel) == .failure(.att(error)))
        }
    }
}
