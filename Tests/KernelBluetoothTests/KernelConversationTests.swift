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

        /// Handles an event, and returns what it leads to.
        @discardableResult
        mutating func handle(
            _ event: KernelConversation.Event, after pause: Duration = .zero
        ) -> [KernelConversation.Effect] {
            now = now + pause
            let effects = conversation.handle(event, at: now)
            self.effects += effects
            return effects
        }

        /// Handles an event of the management channel, as the one who holds the sockets does.
        @discardableResult
        mutating func handle(kernel event: ManagementEvent, _ state: AdapterState = .poweredOn) -> [KernelConversation.Effect] {
            let index = ControllerIndex(rawValue: 0)
            let settings: ControllerSettings = state == .poweredOn ? [.powered, .lowEnergy] : .lowEnergy
            let status = AdapterStatus(state: state, index: index, address: 7, settings: settings)
            return handle(.adapter(status, [event])) + handle(.management(event))
        }
    }

    /// A conversation whose adapter is on.
    private func begun(bonds: [Bond]? = nil, isBluetoothdRunning: @escaping () -> Bool = { false }) -> Talk {
        var talk = Talk(bonds: bonds, isBluetoothdRunning: isBluetoothdRunning)
        let settings = ControllerSettings([.powered, .lowEnergy])
        talk.handle(kernel: .newSettings(settings, index))
        talk.handle(kernel: connections(.success))
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
        talk.handle(.request(.connect(headset, attempt: attempt)))
        talk.handle(kernel: .deviceConnected(headset, advertisement: Advertisement(), index))
        talk.handle(.channelOpened(headset))
        return talk
    }

    @Test func theFirstQuestionShowsWhetherTheAdapterMayBeUsed() {
        var talk = Talk()
        #expect(talk.handle(kernel: .newSettings([.powered, .lowEnergy], index)) == [.send(.getConnections(index))])
        #expect(talk.handle(kernel: connections(.permissionDenied)) == [.emit(.didUpdateState(.unauthorized))])
    }

    @Test func anAdapterThatIsOffIsSwitchedOnOnceAndUnknownMeanwhile() {
        var talk = Talk(powersOn: true)
        #expect(
            talk.handle(kernel: .newSettings(.lowEnergy, index), .poweredOff)
                == [.send(.getConnections(index)), .send(.setPowered(true, index))])
        #expect(talk.handle(kernel: .newSettings(.lowEnergy, index), .poweredOff).isEmpty)
        #expect(talk.conversation.adapter.state == .unknown)
    }

    @Test func nothingIsWaitedForOnceAnAdapterThatRefusedIsOn() throws {
        var talk = Talk(powersOn: true)
        talk.handle(kernel: .newSettings(.lowEnergy, index), .poweredOff)
        let busy = ManagementEnd.code(of: .setPowered) + [ManagementStatus.busy.rawValue]
        talk.handle(kernel: try ManagementEvent(packet: [0x02, 0, 0, 0, 3, 0] + busy), .poweredOff)
        #expect(talk.conversation.deadline == talk.now + .seconds(2))
        // Somebody else has switched it on.
        talk.handle(kernel: .newSettings([.powered, .lowEnergy], index))
        #expect(talk.conversation.deadline == nil)
    }

    @Test func nothingIsWaitedForOnceAnotherAdapterIsInUse() {
        var talk = Talk(powersOn: true)
        talk.handle(kernel: .newSettings([.powered, .lowEnergy], index))
        talk.handle(kernel: .newSettings(.lowEnergy, index), .poweredOff)
        #expect(talk.conversation.deadline == talk.now + PowerMemory.removalLimit)
        let other = AdapterStatus(
            state: .poweredOn, index: ControllerIndex(rawValue: 1), address: 8, settings: [.powered, .lowEnergy])
        talk.handle(.adapter(other, [.newSettings([.powered, .lowEnergy], ControllerIndex(rawValue: 1))]), after: .seconds(1))
        #expect(talk.conversation.deadline == nil)
    }

    @Test(arguments: [false, true])
    func nothingIsWaitedForOnceTheRadioIsBlocked(isBluetoothdRunning: Bool) {
        var talk = Talk(powersOn: true, isBluetoothdRunning: { isBluetoothdRunning })
        talk.handle(kernel: .newSettings([.powered, .lowEnergy], index))
        talk.handle(kernel: .newSettings(.lowEnergy, index), .poweredOff)
        #expect(talk.conversation.deadline != nil)
        talk.handle(kernel: .newSettings(.lowEnergy, index), .blocked)
        #expect(talk.conversation.deadline == nil)
    }

    @Test func nobodyLooksForBluetoothdWithEachPacket() {
        var looks = 0
        let count = {
            looks += 1
            return false
        }
        var talk = Talk(powersOn: true, isBluetoothdRunning: count)
        talk.handle(kernel: .newSettings([.powered, .lowEnergy], index))
        let status = talk.conversation.adapter.status
        looks = 0
        for _ in 0..<100 { talk.handle(.adapter(status, []), after: .milliseconds(5)) }
        #expect(looks == 0)
        for _ in 0..<100 { talk.handle(.adapter(status, []), after: .milliseconds(5)) }
        #expect(looks == 1)
        talk.handle(kernel: connections(.success))
        #expect(looks == 2)
    }

    @Test func aConnectWaitsForTheKernelAndOpensTheChannelWhenTheLinkIsUp() {
        var talk = begun()
        #expect(talk.handle(.request(.connect(headset, attempt: attempt))) == [.send(.addDevice(headset, index))])
        #expect(talk.conversation.deadline == nil, "however long it takes")
        let up = ManagementEvent.deviceConnected(headset, advertisement: Advertisement(), index)
        #expect(talk.handle(kernel: up) == [.open(headset)])
        let opened = talk.handle(.channelOpened(headset))
        #expect(opened.first == .emit(.didConnect(headset, attempt: attempt)))
        #expect(opened.dropFirst().map(\.opcode) == [.exchangeMTURequest])
    }

    @Test func theStrengthOfALinkIsAskedForWhereThereIsOne() throws {
        var talk = begun()
        #expect(talk.handle(.request(.readRSSI(of: headset))).isEmpty)
        talk = linked()
        #expect(talk.handle(.request(.readRSSI(of: headset))) == [.send(.getConnectionInformation(headset, index))])
        let address = ManagementEnd.bytes(of: headset.address) + [headset.addressType == .random ? 2 : 1]
        let code = ManagementEnd.code(of: .getConnectionInformation)
        let answer = try ManagementEvent(packet: [0x01, 0, 0, 0, 13, 0] + code + [0] + address + [0xC2, 4, 127])
        #expect(
            talk.handle(.management(answer)) == [.emit(.didReadRSSI(LinkQuality(rssi: -62, transmitPower: 4), of: headset))])
    }

    @Test func aChannelThatDoesNotOpenInTimeIsClosedAndItsLinkToo() {
        var talk = begun()
        talk.handle(.request(.connect(headset, attempt: attempt)))
        talk.handle(kernel: .deviceConnected(headset, advertisement: Advertisement(), index))
        #expect(talk.handle(.timeReached, after: .milliseconds(4999)).isEmpty)
        #expect(
            talk.handle(.timeReached, after: .milliseconds(1)) == [.close(headset), .send(.disconnect(headset, index))])
        // The kernel goes on waiting for it.
        let up = ManagementEvent.deviceConnected(headset, advertisement: Advertisement(), index)
        #expect(talk.handle(kernel: up) == [.open(headset)])
    }

    @Test func aLinkEndsOnceAllIsReadThatHadArrivedWithTheKernelsReason() {
        var talk = linked()
        // The socket's own end is no reason as long as the kernel may give a better one.
        #expect(talk.handle(.channelEnded(headset, SocketError(code: 104))).isEmpty)
        #expect(talk.conversation.awaitsReasons)
        #expect(talk.handle(kernel: .deviceDisconnected(headset, .connectionTimeout, index)) == [.readRest(of: headset)])
        #expect(
            talk.handle(.restRead(of: headset)) == [
                .close(headset), .send(.removeDevice(headset, index)),
                .emit(.didDisconnect(headset, error: .linkLost, attempt: attempt)),
            ])
        #expect(talk.handle(.timeReached).isEmpty, "once")
    }

    @Test func aSocketThatEndsWithoutAWordOfTheKernelEndsItsLinkInTheSameTurn() {
        var talk = linked()
        talk.handle(.channelEnded(headset, SocketError(code: 104)))
        #expect(
            talk.handle(.timeReached).last == .emit(.didDisconnect(headset, error: .peripheralDisconnected, attempt: attempt)))
    }

    @Test func whatComesForAChannelThatIsGoneIsNoNews() {
        var talk = linked()
        talk.handle(.request(.cancelPeripheralConnection(headset, attempt: attempt)))
        for event: KernelConversation.Event in [
            .received([0x1B, 3, 0, 1], from: headset, at: .boot), .channelOpened(headset),
            .channelRefused(headset, SocketError(code: 16)), .channelEnded(headset, SocketError(code: 104)),
            .restRead(of: headset), .channelOverflowed(headset), .security(.high, of: headset, isRefused: false),
        ] {
            #expect(talk.handle(event).isEmpty, "\(event)")
        }
    }

    @Test func aHeadsetThatTakesNoPacketsIsGivenUp() {
        var talk = linked()
        #expect(
            talk.handle(.channelOverflowed(headset)) == [
                .send(.disconnect(headset, index)), .close(headset), .send(.removeDevice(headset, index)),
                .emit(.didDisconnect(headset, error: .linkLost, attempt: attempt)),
            ])
    }

    @Test func aLinkWithKeysIsSecuredBeforeTheFirstPacketAndLookedAtUntilItIs() throws {
        let value = try #require(SecretKey([UInt8](repeating: 7, count: 16)))
        let talk = linked(bonds: [Bond(identity: headset, identityResolvingKey: value)])
        let raised = try #require(talk.effects.firstIndex(of: .raiseSecurity(.medium, of: headset)))
        let packet = try #require(talk.effects.firstIndex { $0.opcode != nil })
        #expect(raised < packet)
        var waiting = talk
        #expect(waiting.handle(.timeReached, after: .milliseconds(50)) == [.readSecurity(of: headset)])
        #expect(waiting.handle(.security(.low, of: headset, isRefused: false)).isEmpty)
        #expect(waiting.conversation.awaitsSecurity(of: headset))
        #expect(waiting.handle(.timeReached, after: .milliseconds(49)).isEmpty)
        #expect(waiting.handle(.timeReached, after: .milliseconds(1)) == [.readSecurity(of: headset)])
        waiting.handle(.security(.medium, of: headset, isRefused: false))
        #expect(!waiting.conversation.awaitsSecurity(of: headset))
        // The kernel refuses, and the link is no more secure: nobody waits any longer.
        var refused = talk
        refused.handle(.security(.low, of: headset, isRefused: true))
        #expect(!refused.conversation.awaitsSecurity(of: headset))
    }

    @Test func bluetoothdInTheWayIsLookedAtUntilItIsGone() {
        var isRunning = true
        var talk = begun(isBluetoothdRunning: { isRunning })
        talk.handle(.request(.connect(headset, attempt: attempt)))
        talk.handle(kernel: .deviceConnected(headset, advertisement: Advertisement(), index))
        #expect(
            talk.handle(.channelRefused(headset, SocketError(code: 16))).last
                == .emit(.didFailToConnect(headset, error: .heldByBluetoothd, attempt: attempt)))
        #expect(talk.handle(.timeReached, after: .seconds(2)).isEmpty)
        isRunning = false
        #expect(talk.handle(.timeReached, after: .seconds(2)) == [.emit(.didUnblock(headset))])
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
