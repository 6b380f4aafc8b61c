import AttributeProtocol
import Bluetooth
import Testing

@Suite("Notifications") struct NotificationTests {
    private static func established(_ server: InMemoryServer = .headset()) -> Conversation {
        var conversation = Conversation(server)
        conversation.discover()
        return conversation
    }

    @Test("are switched on by one write, notifying or indicating as the characteristic can")
    func configuration() {
        var conversation = Self.established()
        let trips = conversation.roundTrips {
            #expect($0.setNotify(.eeg) == .success(true))
            #expect($0.setNotify(.motion) == .success(true))
        }
        #expect(trips == 2)
        #expect(conversation.server.configuration(of: .eeg) == [1, 0])
        #expect(conversation.server.configuration(of: .motion) == [2, 0])
    }

    @Test("are reported with the time of their arrival, in order, only while they are on")
    func values() {
        var conversation = Self.established()
        conversation.notify([0], of: .eeg)
        conversation.setNotify(.eeg)
        for value in UInt8(1)...5 { conversation.notify([value], of: .eeg) }
        #expect(
            conversation.emitted.contains(
                .central(.didUpdateValue(.eeg, on: Conversation.headset, value: [5], at: conversation.now))))
        conversation.setNotify(.eeg, false)
        conversation.notify([6], of: .eeg)
        #expect(conversation.values(of: .eeg) == [[1], [2], [3], [4], [5]])
        #expect(conversation.server.configuration(of: .eeg) == [0, 0])
    }

    @Test("that nobody has asked for on this link are not reported, even if the headset sends them")
    func unasked() {
        var conversation = Self.established()
        let handle = conversation.server.attributes.first { $0.type.uuid == .eeg }?.handle ?? .none
        conversation.deliver(AttributePDU.handleValueNotification(handle, [1]).encoded())
        #expect(conversation.values(of: .eeg) == [])
    }

    @Test("that arrive before the answer to the write are reported")
    func early() {
        var conversation = Self.established()
        let handle = conversation.server.attributes.first { $0.type.uuid == .eeg }?.handle ?? .none
        conversation.link.take(
            .setNotifyValue(true, for: .eeg, on: Conversation.headset, attempt: conversation.nextAttempt()),
            at: conversation.now)
        conversation.deliver(AttributePDU.handleValueNotification(handle, [1]).encoded())
        #expect(conversation.values(of: .eeg) == [[1]])
    }

    @Test("of several attributes in one packet are reported one by one")
    func multiple() {
        var conversation = Self.established()
        conversation.setNotify(.eeg)
        conversation.setNotify(.control)
        let handles = [BluetoothUUID.eeg, .control].compactMap { uuid in
            conversation.server.attributes.first { $0.type.uuid == uuid }?.handle
        }
        conversation.deliver(
            AttributePDU.multipleHandleValueNotification([
                AttributeValue(handles[0], [1, 2]), AttributeValue(handles[1], [3]),
            ]).encoded())
        #expect(conversation.values(of: .eeg) == [[1, 2]])
        #expect(conversation.values(of: .control) == [[3]])
    }

    @Test("that are indications are confirmed, each once")
    func indications() {
        var conversation = Self.established()
        conversation.setNotify(.motion)
        for value in UInt8(1)...3 {
            conversation.notify([value], of: .motion)
            #expect(conversation.server.unconfirmed == 0)
        }
        #expect(conversation.values(of: .motion) == [[1], [2], [3]])
        // One that makes no sense is confirmed, too: the headset would wait for ever.
        conversation.link.received([0x1D, 0x01], at: conversation.now)
        #expect(conversation.link.takePackets() == [[0x1E]])
        #expect(conversation.server.violations.isEmpty)
    }

    @Test("that are on or off already are answered without a packet")
    func repeated() {
        var conversation = Self.established()
        conversation.setNotify(.eeg)
        let trips = conversation.roundTrips {
            #expect($0.setNotify(.eeg, true) == .success(true))
            #expect($0.setNotify(.control, false) == .success(false))
        }
        #expect(trips == 0)
        for wish in [false, true, true, false, false, true, false] {
            #expect(conversation.setNotify(.eeg, wish) == .success(wish))
            #expect(conversation.server.configuration(of: .eeg) == [wish ? 1 : 0, 0])
        }
    }

    @Test("of a characteristic without a configuration are taken as they come")
    func unconfigurable() {
        var server = InMemoryServer.headset()
        let handle = server.addCharacteristic(BluetoothUUID(UInt16(0xFFF1)), [.notify], isConfigurable: false)
        var conversation = Self.established(server)
        #expect(conversation.setNotify(BluetoothUUID(UInt16(0xFFF1))) == .success(true))
        conversation.deliver(AttributePDU.handleValueNotification(handle, [9]).encoded())
        #expect(conversation.values(of: BluetoothUUID(UInt16(0xFFF1))) == [[9]])
    }
}
