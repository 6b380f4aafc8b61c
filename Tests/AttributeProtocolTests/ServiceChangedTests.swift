import AttributeProtocol
import Bluetooth
import Testing

@Suite("Changed services") struct ServiceChangedTests {
    private static let modified = ATTLink.Event.central(.didModifyServices(Conversation.headset))

    private static func established() -> Conversation {
        var conversation = Conversation()
        conversation.discover()
        conversation.setNotify(.eeg)
        conversation.pass(.seconds(5))
        return conversation
    }

    @Test("are asked for a while after the discovery, once, when nobody is kept waiting by it")
    func watch() {
        var conversation = Conversation()
        conversation.discover()
        #expect(conversation.server.configuration(of: .serviceChanged) == [0, 0])
        let trips = conversation.roundTrips { $0.pass(.seconds(60)) }
        #expect(conversation.server.configuration(of: .serviceChanged) == [2, 0])
        #expect(trips == 1)
        #expect(conversation.link.deadline == nil)
    }

    @Test("are confirmed, void the map, and are reported")
    func change() {
        var conversation = Self.established()
        conversation.notify([0x01, 0x00, 0xFF, 0xFF], of: .serviceChanged)
        #expect(conversation.server.unconfirmed == 0)
        #expect(conversation.emitted.suffix(2) == [.didUpdateMap(nil), Self.modified])
        #expect(conversation.read(.serialNumberString) == .failure(.noSuchCharacteristic(.serialNumberString)))
        #expect(conversation.discover() != nil)
        #expect(conversation.read(.serialNumberString) == .success(Array("3041-2A7C-1324".utf8)))
        #expect(conversation.setNotify(.eeg) == .success(true))
    }

    @Test("elsewhere in the headset cost no samples: those go on until the next discovery, and are asked for again")
    func elsewhere() throws {
        var conversation = Self.established()
        conversation.notify([0x01, 0x00, 0x04, 0x00], of: .serviceChanged)
        #expect(conversation.emitted.contains(Self.modified))
        conversation.notify([1], of: .eeg)
        conversation.discover()
        conversation.notify([2], of: .eeg)
        let trips = conversation.roundTrips { #expect($0.setNotify(.eeg) == .success(true)) }
        #expect(trips == 1)
        #expect(conversation.values(of: .eeg) == [[1], [2]])
    }

    @Test("before the first discovery of a link void the map of an earlier one silently")
    func beforeDiscovery() throws {
        let map = try #require(Self.established().map)
        var second = Self.established().reconnected(map: map)
        let handle = try #require(map[.serviceChanged]?.value)
        second.deliver(AttributePDU.handleValueIndication(handle, [0x01, 0x00, 0xFF, 0xFF]).encoded())
        #expect(!second.emitted.contains(Self.modified))
        let trips = second.roundTrips { #expect($0.discover() == .success(map.database)) }
        #expect(trips > 3, "discovered afresh")
    }

    @Test("in the middle of a discovery begin it again, but not for ever")
    func during() throws {
        for changeCount in [1, 10] {
            var conversation = Self.established()
            let handle = try #require(conversation.map?[.serviceChanged]?.value)
            let change = AttributePDU.handleValueIndication(handle, [0x01, 0x00, 0xFF, 0xFF]).encoded()
            let attempt = conversation.nextAttempt()
            conversation.link.take(.discoverServices(on: Conversation.headset, attempt: attempt), at: conversation.now)
            for _ in 0..<changeCount {
                conversation.link.received(change, at: conversation.now)
                for _ in 0..<6 {
                    for answer in conversation.server.receive(conversation.link.takePackets()) {
                        conversation.link.received(answer, at: conversation.now)
                    }
                }
            }
            conversation.exchange()
            let results = conversation.emitted.compactMap { event in
                if case .central(.didDiscoverServices(_, let result, attempt)) = event { result } else { nil }
            }
            #expect(results.count == 1)
            guard changeCount > 1 else {
                #expect((try? results.first?.get()) != nil)
                #expect(conversation.setNotify(.eeg) == .success(true))
                continue
            }
            #expect(results.first == .failure(.connectionFailed(reason: "the headset's services keep changing")))
            // Not for ever: it has calmed down.
            #expect((try? conversation.discover()?.get()) != nil)
            #expect(conversation.setNotify(.eeg) == .success(true))
        }
    }
}
