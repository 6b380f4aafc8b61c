import AttributeProtocol
import Bluetooth
import BluetoothManagement
import Testing

@testable import KernelBluetooth

/// The conversation with the kernel, word for word and without a socket.
@Suite struct KernelConversationTests {
    private let headset = LowEnergyRoom.headset
    private let index = ControllerIndex(rawValue: 0)
    private let attempt = Attempt(number: 7)

    /// A conversation, and what it has asked for.
    private struct Talk {
        var conversation: KernelConversation
        private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        private(set) var effects: [KernelConversation.Effect] = []

        init(powersOn: Bool = false, bonds: [Bond]? = nil, isBluetoothdRunning: @escaping () -> Bool = { false }) {
            conversation = KernelConversation(
                adapter: KernelAdapter(powersOn: powersOn, switchedOff: []), isAlone: true, maps: HandleMapTable(),
                keys: KernelKeys(bonds: bonds, passkeys: []), isBluetoothdRunning: isBluetoothdRunning)
        }

        /// Tells something, and returns what it leads to.
        @discardableResult
        mutating func tell(
            _ event: KernelConversation.Event, after pause: Duration = .zero
        ) -> [KernelConversation.Effect] {
            now = now + pause
            let effects = conversation.handle(event, at: now)
            self.effects += effects
            return effects
        }

        /// Tells something of the management channel, as the one who holds the sockets does.
        @discardableResult
        mutating func tell(kernel event: ManagementEvent, _ state: AdapterState = .poweredOn) -> [KernelConversation.Effect] {
            let index = ControllerIndex(rawValue: 0)
            let settings: ControllerSettings = state == .poweredOn ? [.powered, .lowEnergy] : .lowEnergy
            let status = AdapterStatus(state: state, index: index, address: 7, settings: settings)
            return tell(.adapter(status, [event])) + tell(.management(event))
        }
    }

    /// A conversation whose adapter is on.
    private func begun(bonds: [Bond]? = nil, isBluetoothdRunning: @escaping () -> Bool = { false }) -> Talk {
        var talk = Talk(bonds: bonds, isBluetoothdRunning: isBluetoothdRunning)
        let settings = ControllerSettings([.powered, .lowEnergy])
        talk.tell(kernel: .newSettings(settings, index))
        talk.tell(kernel: connections(.success))
        return talk
    }

    /// The answer to Get Connections: nobody, or a refusal.
    private func connections(_ status: ManagementStatus) -> ManagementEvent {
        let parameters = ManagementEnd.code(of: .getConnections) + [status.rawValue, 0, 0]
        // These bytes are one.
        return (try? ManagementEvent(packet: [0x01, 0, 0, 0, 5, 0] + parameters)) ?? .discovering(false, index)
    }

    /// The same with a link whose channel is open.
    private func linked(bonds: [Bond]? = nil) -> Talk {
        var talk = begun(bonds: bonds)
        talk.tell(.request(.connect(headset, attempt: attempt)))
        talk.tell(kernel: .deviceConnected(headset, advertisement: Advertisement(), index))
        talk.tell(.channelOpened(headset))
        return talk
    }

    @Test func theFirstQuestionTellsWhetherTheAdapterMayBeUsed() {
        var talk = Talk()
        #expect(talk.tell(kernel: .newSettings([.powered, .lowEnergy], index)) == [.send(.getConnections(index))])
        #expect(talk.tell(kernel: connections(.permissionDenied)) == [.tell(.didUpdateState(.unauthorized))])
    }

    @Test func anAdapterThatIsOffIsSwitchedOnOnceAndUnknownMeanwhile() {
        var talk = Talk(powersOn: true)
        #expect(
            talk.tell(kernel: .newSettings(.lowEnergy, index), .poweredOff)
                == [.send(.getConnections(index)), .send(.setPowered(true, index))])
        #expect(talk.tell(kernel: .newSettings(.lowEnergy, index), .poweredOff).isEmpty)
        #expect(talk.conversation.adapter.state == .unknown)
    }

    @Test func aConnectWaitsForTheKernelAndOpensTheChannelWhenTheLinkIsUp() {
        var talk = begun()
        #expect(talk.tell(.request(.connect(headset, attempt: attempt))) == [.send(.addDevice(headset, index))])
        #expect(talk.conversation.deadline == nil, "however long it takes")
        let up = ManagementEvent.deviceConnected(headset, advertisement: Advertisement(), index)
        #expect(talk.tell(kernel: up) == [.open(headset)])
        let opened = talk.tell(.channelOpened(headset))
        #expect(opened.first == .tell(.didConnect(headset, attempt: attempt)))
        #expect(opened.dropFirst().map(\.opcode) == [.exchangeMTURequest])
    }

    @Test func theStrengthOfALinkIsAskedForWhereThereIsOne() throws {
        var talk = begun()
        #expect(talk.tell(.request(.readRSSI(of: headset))).isEmpty)
        talk = linked()
        #expect(talk.tell(.request(.readRSSI(of: headset))) == [.send(.getConnectionInformation(headset, index))])
        let address = ManagementEnd.bytes(of: headset.address) + [headset.addressType == .random ? 2 : 1]
        let code = ManagementEnd.code(of: .getConnectionInformation)
        let answer = try ManagementEvent(packet: [0x01, 0, 0, 0, 13, 0] + code + [0] + address + [0xC2, 4, 127])
        #expect(
            talk.tell(.management(answer)) == [.tell(.didReadRSSI(LinkQuality(rssi: -62, transmitPower: 4), of: headset))])
    }

    @Test func aChannelThatDoesNotOpenInTimeIsClosedAndItsLinkToo() {
        var talk = begun()
        talk.tell(.request(.connect(headset, attempt: attempt)))
        talk.tell(kernel: .deviceConnected(headset, advertisement: Advertisement(), index))
        #expect(talk.tell(.timeReached, after: .milliseconds(4999)).isEmpty)
        #expect(
            talk.tell(.timeReached, after: .milliseconds(1)) == [.close(headset), .send(.disconnect(headset, index))])
        // The kernel goes on waiting for it.
        let up = ManagementEvent.deviceConnected(headset, advertisement: Advertisement(), index)
        #expect(talk.tell(kernel: up) == [.open(headset)])
    }

    @Test func aLinkEndsOnceAllIsReadThatHadArrivedWithTheKernelsReason() {
        var talk = linked()
        // The socket's own end is no reason as long as the kernel may tell a better one.
        #expect(talk.tell(.channelEnded(headset, SocketError(code: 104))).isEmpty)
        #expect(talk.conversation.awaitsReasons)
        #expect(talk.tell(kernel: .deviceDisconnected(headset, .connectionTimeout, index)) == [.readRest(of: headset)])
        #expect(
            talk.tell(.restRead(of: headset)) == [
                .close(headset), .send(.removeDevice(headset, index)),
                .tell(.didDisconnect(headset, error: .linkLost, attempt: attempt)),
            ])
        #expect(talk.tell(.timeReached).isEmpty, "once")
    }

    @Test func aSocketThatEndsWithoutAWordOfTheKernelEndsItsLinkInTheSameTurn() {
        var talk = linked()
        talk.tell(.channelEnded(headset, SocketError(code: 104)))
        #expect(
            talk.tell(.timeReached).last == .tell(.didDisconnect(headset, error: .peripheralDisconnected, attempt: attempt)))
    }

    @Test func whatComesForAChannelThatIsGoneIsNoNews() {
        var talk = linked()
        talk.tell(.request(.cancelPeripheralConnection(headset, attempt: attempt)))
        for event: KernelConversation.Event in [
            .received([0x1B, 3, 0, 1], from: headset, at: .boot), .channelOpened(headset),
            .channelRefused(headset, SocketError(code: 16)), .channelEnded(headset, SocketError(code: 104)),
            .restRead(of: headset), .channelOverflowed(headset), .security(.high, of: headset, isRefused: false),
        ] {
            #expect(talk.tell(event).isEmpty, "\(event)")
        }
    }

    @Test func aHeadsetThatTakesNoPacketsIsGivenUp() {
        var talk = linked()
        #expect(
            talk.tell(.channelOverflowed(headset)) == [
                .send(.disconnect(headset, index)), .close(headset), .send(.removeDevice(headset, index)),
                .tell(.didDisconnect(headset, error: .linkLost, attempt: attempt)),
            ])
    }

    @Test func aLinkWithKeysIsSecuredBeforeTheFirstPacketAndLookedAtUntilItIs() throws {
        let value = try #require(SecretKey([UInt8](repeating: 7, count: 16)))
        let talk = linked(bonds: [Bond(identity: headset, identityResolvingKey: value)])
        let raised = try #require(talk.effects.firstIndex(of: .raiseSecurity(.medium, of: headset)))
        let packet = try #require(talk.effects.firstIndex { $0.opcode != nil })
        #expect(raised < packet)
        var waiting = talk
        #expect(waiting.tell(.timeReached, after: .milliseconds(50)) == [.readSecurity(of: headset)])
        #expect(waiting.tell(.security(.low, of: headset, isRefused: false)).isEmpty)
        #expect(waiting.conversation.awaitsSecurity(of: headset))
        #expect(waiting.tell(.timeReached, after: .milliseconds(49)).isEmpty)
        #expect(waiting.tell(.timeReached, after: .milliseconds(1)) == [.readSecurity(of: headset)])
        waiting.tell(.security(.medium, of: headset, isRefused: false))
        #expect(!waiting.conversation.awaitsSecurity(of: headset))
        // The kernel refuses, and the link is no more secure: nobody waits any longer.
        var refused = talk
        refused.tell(.security(.low, of: headset, isRefused: true))
        #expect(!refused.conversation.awaitsSecurity(of: headset))
    }

    @Test func bluetoothdInTheWayIsLookedAtUntilItIsGone() {
        var isRunning = true
        var talk = begun(isBluetoothdRunning: { isRunning })
        talk.tell(.request(.connect(headset, attempt: attempt)))
        talk.tell(kernel: .deviceConnected(headset, advertisement: Advertisement(), index))
        #expect(
            talk.tell(.channelRefused(headset, SocketError(code: 16))).last
                == .tell(.didFailToConnect(headset, error: .heldByBluetoothd, attempt: attempt)))
        #expect(talk.tell(.timeReached, after: .seconds(2)).isEmpty)
        isRunning = false
        #expect(talk.tell(.timeReached, after: .seconds(2)) == [.tell(.didUnblock(headset))])
        #expect(talk.conversation.deadline == nil)
    }

    @Test func theSameEventsLeadToTheSameEffects() {
        #expect(linked().effects == linked().effects)
    }
}

extension KernelConversation.Effect {
    /// What is asked of the headset; nil for what is no packet.
    fileprivate var opcode: AttributeOpcode? {
        guard case .sendPacket(let packet, _) = self else { return nil }
        return (try? AttributePDU(decoding: packet))?.opcode
    }
}
