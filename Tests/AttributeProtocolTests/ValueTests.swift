import AttributeProtocol
import Bluetooth
import Testing

@Suite("Reads and writes") struct ValueTests {
    private static func established(_ server: InMemoryServer = .headset()) -> Conversation {
        var conversation = Conversation(server)
        conversation.discover()
        return conversation
    }

    @Test("of a short value take one round trip")
    func shortRead() {
        var conversation = Self.established()
        let trips = conversation.roundTrips {
            #expect($0.read(.serialNumberString) == .success(Array("3041-2A7C-1324".utf8)))
        }
        #expect(trips == 1)
    }

    @Test("of a value of any length give all of it, up to the longest that the protocol has")
    func longReads() {
        for size in [23, 50, 247] {
            for length in Array(0...60) + [244, 245, 246, 247, 248, 492, 493, 511, 512] {
                var server = InMemoryServer.headset()
                server.receiveLimit = AttributeMTU(size)
                let value = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
                guard let index = server.attributes.firstIndex(where: { $0.type.uuid == .lastOne }) else { continue }
                server.attributes[index].value = value
                var conversation = Self.established(server)
                #expect(conversation.read(.lastOne) == .success(value), "\(length) bytes in packets of \(size)")
            }
        }
    }

    @Test("of a value that fills its packet end where the server has no Read Blob")
    func withoutReadBlob() {
        var server = InMemoryServer.headset()
        server.receiveLimit = .default
        server.defects = [.lacksReadBlob]
        var conversation = Self.established(server)
        #expect(conversation.read(.modelNumberString) == .success(Array(0..<22)))
    }

    @Test("of a value without end give the longest value that the protocol has")
    func endlessRead() {
        var server = InMemoryServer.headset()
        server.defects = [.readsWithoutEnd]
        var conversation = Self.established(server)
        let value = try? conversation.read(.modelNumberString)?.get()
        #expect(value?.count == 512)
    }

    @Test("with response reach the server whole, however long they are")
    func writes() {
        for size in [23, 185] {
            for length in Array(0...40) + [181, 182, 183, 360, 512] {
                var server = InMemoryServer.headset()
                server.receiveLimit = AttributeMTU(size)
                var conversation = Self.established(server)
                let value = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
                #expect(conversation.write(value, .configuration) == .success(true))
                #expect(conversation.server.value(of: .configuration) == value, "\(length) bytes in packets of \(size)")
                #expect(conversation.server.violations.isEmpty)
            }
        }
    }

    @Test("of more than 512 bytes are refused without a packet")
    func tooLong() {
        var conversation = Self.established()
        let trips = conversation.roundTrips {
            #expect(
                $0.write([UInt8](repeating: 1, count: 513), .configuration)
                    == .failure(.att(.invalidAttributeValueLength)))
        }
        #expect(trips == 0)
    }

    @Test("that the server prepares wrongly are dropped on the server, and fail")
    func wrongEcho() {
        var server = InMemoryServer.headset()
        server.defects = [.preparesSomethingElse]
        var conversation = Self.established(server)
        let result = conversation.write([UInt8](repeating: 1, count: 300), .configuration)
        guard case .failure(.connectionFailed)? = result else {
            Issue.record("\(String(describing: result))")
            return
        }
        #expect(conversation.server.value(of: .configuration) == [])
        #expect(conversation.server.received.last == .executeWriteRequest(writes: false))
    }

    @Test("that the server has no room for are dropped on the server, and fail with its error")
    func fullQueue() {
        var server = InMemoryServer.headset()
        server.receiveLimit = .default
        server.prepareLimit = 3
        var conversation = Self.established(server)
        #expect(
            conversation.write([UInt8](repeating: 1, count: 300), .configuration) == .failure(.att(.prepareQueueFull)))
        #expect(conversation.server.received.last == .executeWriteRequest(writes: false))
        #expect(conversation.server.value(of: .configuration) == [])
    }

    @Test("without response are sent in one packet and not answered; what does not fit is dropped and counted")
    func commands() {
        var conversation = Self.established()
        #expect(conversation.write([2, 0x64, 0x0A], .control, .withoutResponse) == nil)
        #expect(conversation.server.value(of: .control) == [2, 0x64, 0x0A])
        #expect(conversation.write([UInt8](repeating: 1, count: 245), .control, .withoutResponse) == nil)
        #expect(conversation.server.value(of: .control) == [2, 0x64, 0x0A])
        #expect(conversation.link.droppedWriteCount == 1)
        #expect(conversation.write([1], .vendorService, .withoutResponse) == nil)
    }

    @Test("that the server refuses fail with its error")
    func refusals() {
        var conversation = Self.established()
        #expect(conversation.read(.control) == .failure(.att(.readNotPermitted)))
        #expect(conversation.write([0], .serialNumberString) == .failure(.att(.writeNotPermitted)))
        #expect(conversation.setNotify(.serialNumberString) == .failure(.att(.requestNotSupported)))
        #expect(conversation.read(.vendorService) == .failure(.noSuchCharacteristic(.vendorService)))
        #expect(conversation.write([0], .vendorService) == .failure(.noSuchCharacteristic(.vendorService)))
        #expect(conversation.setNotify(.vendorService) == .failure(.noSuchCharacteristic(.vendorService)))
    }

    @Test("before a discovery know no characteristic")
    func beforeDiscovery() {
        var conversation = Conversation()
        #expect(conversation.read(.serialNumberString) == .failure(.noSuchCharacteristic(.serialNumberString)))
    }

    @Test("that are made together are sent one after the other, and each is answered")
    func together() {
        var conversation = Self.established()
        let attempts = (0..<40).map { _ in conversation.nextAttempt() }
        for (index, attempt) in attempts.enumerated() {
            switch index % 4 {
            case 0:
                conversation.link.take(
                    .readValue(of: .serialNumberString, on: Conversation.headset, attempt: attempt), at: conversation.now)
            case 1:
                conversation.link.take(
                    .setNotifyValue(true, for: .eeg, on: Conversation.headset, attempt: attempt), at: conversation.now)
            case 2:
                conversation.link.take(
                    .writeValue(
                        [UInt8(index)], to: .configuration, type: .withResponse, on: Conversation.headset, attempt: attempt),
                    at: conversation.now)
            default:
                conversation.link.take(
                    .writeValue(
                        [UInt8(index)], to: .control, type: .withoutResponse, on: Conversation.headset, attempt: attempt),
                    at: conversation.now)
            }
        }
        conversation.emitted = []
        conversation.exchange()
        #expect(conversation.emitted.count == 30)
        #expect(conversation.server.violations.isEmpty)
        #expect(conversation.server.value(of: .control) == [39])
        #expect(conversation.server.value(of: .configuration) == [38])
        // In the order in which they were made, those without response among them.
        let kinds = conversation.server.received.suffix(40).map(\.opcode)
        #expect(kinds.filter { $0 == .writeCommand }.count == 10)
        #expect(kinds.last == .writeCommand)
    }
}
