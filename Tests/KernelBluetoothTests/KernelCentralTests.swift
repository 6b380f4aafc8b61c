import AttributeProtocol
import Bluetooth
import BluetoothManagement
import Glibc
import Testing

@testable import KernelBluetooth

@Suite struct KernelCentralTests {
    private let headset = LowEnergyRoom.headset
    private let other = LowEnergyRoom.other
    private let eeg = LowEnergyRoom.eeg
    private let off = CentralError.adapterUnavailable(.poweredOff)

    // MARK: The adapter

    @Test func theStateIsKnownOnceTheKernelHasSaidWhetherThisProcessMayUseTheAdapter() {
        let room = LowEnergyRoom()
        #expect(room.central.state == .unknown)
        #expect(room.turn() == [.didUpdateState(.poweredOn)])
        #expect(room.turn().isEmpty && room.central.deadline == nil)
    }

    @Test func withoutThePermissionTheAdapterIsUnauthorized() {
        let room = LowEnergyRoom()
        room.isPermitted = false
        #expect(room.turn().last == .didUpdateState(.unauthorized))
        let off = LowEnergyRoom(powered: false, powersOn: true)
        off.isPermitted = false
        #expect(off.turn().last == .didUpdateState(.unauthorized), "switched off is not what is in the way")
        let attempt = room.connect()
        #expect(
            room.emitted.last == .didFailToConnect(headset, error: .adapterUnavailable(.unauthorized), attempt: attempt))
    }

    @Test func anAdapterThatIsOffStaysOffUnlessItIsToBeSwitchedOn() {
        let left = LowEnergyRoom(powered: false)
        #expect(left.turn() == [.didUpdateState(.poweredOff)])
        #expect(!left.commands.contains(.setPowered))
        let right = LowEnergyRoom(powered: false, powersOn: true)
        #expect(right.turn() == [.didUpdateState(.poweredOn)])
        // A person's will.
        right.setPowered(false)
        #expect(right.emitted.last == .didUpdateState(.poweredOff))
        #expect(right.commands.filter { $0 == .setPowered }.count == 1)
    }

    @Test func whatAPersonSwitchedOffStaysOffWhateverBreaksOrIsPulledOut() {
        let room = LowEnergyRoom(powersOn: true)
        room.turn()
        room.breakChannel { room.setPowered(false) }
        #expect(room.central.state == .poweredOff)
        room.turn(after: .seconds(60))
        room.replug()
        room.setBlocked(true)
        room.setBlocked(false)
        room.turn(after: .seconds(60))
        #expect(room.central.state == .poweredOff && !room.commands.contains(.setPowered))
        // Whoever switches it on wants it on, and is remembered for that, too.
        room.setPowered(true)
        room.replug()
        #expect(room.central.state == .poweredOn && room.commands.filter { $0 == .setPowered }.count == 1)
    }

    @Test(arguments: [true, false])
    func anAdapterIsAsItWasOnceItIsUnblockedOrPutInAgain(watchesSwitches: Bool) {
        let room = LowEnergyRoom(powersOn: true, watchesSwitches: watchesSwitches)
        room.turn()
        room.setBlocked(true)
        #expect(room.central.state == .blocked)
        let pause = watchesSwitches ? Duration.seconds(60) : Duration.milliseconds(500)
        #expect(room.central.deadline == room.now + pause)
        room.turn(after: .seconds(3600))
        #expect(!room.commands.contains(.setPowered))
        room.setBlocked(false)
        // At once, or when it is looked at.
        if !watchesSwitches { room.turn(after: .milliseconds(500)) }
        #expect(room.central.state == .poweredOn)
        room.replug()
        #expect(room.central.state == .poweredOn && room.commands.filter { $0 == .setPowered }.count == 2)
    }

    @Test func whatBluetoothdSwitchesOffWhenItEndsIsSwitchedOnAgain() {
        let room = LowEnergyRoom(powersOn: true)
        room.isBluetoothdRunning = true
        room.turn()
        room.setPowered(false)
        room.turn(after: .seconds(5))
        #expect(room.central.state == .poweredOff)
        room.isBluetoothdRunning = false
        room.turn(after: .milliseconds(500))
        #expect(room.central.state == .poweredOn)
        // A person switches it off, and stops bluetoothd much later.
        room.isBluetoothdRunning = true
        room.setPowered(false)
        for _ in 0..<40 { room.turn(after: .milliseconds(500)) }
        room.isBluetoothdRunning = false
        room.turn(after: .seconds(60))
        #expect(room.central.state == .poweredOff)
        #expect(room.central.deadline == room.now + .seconds(60), "nothing is waited for but the next question for adapters")
    }

    @Test func whatBluetoothdSwitchesOffIsItsDoingAlsoWhereItIsGoneWhenThatIsRead() {
        let room = LowEnergyRoom(powersOn: true)
        room.isBluetoothdRunning = true
        room.turn()
        room.isBluetoothdRunning = false
        room.setPowered(false)
        room.turn(after: .milliseconds(500))
        #expect(room.central.state == .poweredOn)
        // A person switches it off after that.
        room.setPowered(false)
        room.turn(after: .seconds(60))
        #expect(room.central.state == .poweredOff)
    }

    @Test func anAdapterThatDoesNotSwitchOnIsSwitchedOnAgainAfterAWhile() {
        let room = LowEnergyRoom(powered: false, powersOn: true)
        room.powerRefusal = .busy
        #expect(room.turn().last == .didUpdateState(.poweredOff))
        #expect(room.turn(after: .seconds(1)).isEmpty && room.central.deadline != nil)
        #expect(room.turn(after: .seconds(1)).last == .didUpdateState(.poweredOn))
    }

    @Test func anotherAdapterDisturbsNothing() {
        let room = LowEnergyRoom(powersOn: true)
        _ = room.link()
        let emittedCount = room.emitted.count
        room.plugAnother()
        #expect(room.emitted.count == emittedCount && room.central.state == .poweredOn && !room.commands.contains(.setPowered))
    }

    @Test func switchingTheAdapterOffEndsLinksConnectsAndScans() {
        let room = LowEnergyRoom()
        let attempt = room.link().attempt
        let pending = room.connect(other)
        room.central.request(.scanForPeripherals(matching: .unfiltered))
        room.turn()
        room.setPowered(false)
        #expect(
            room.emitted.suffix(4) == [
                .didUpdateState(.poweredOff), .didDisconnect(headset, error: off, attempt: attempt),
                .didFailToConnect(other, error: off, attempt: pending), .didFailToScan(off),
            ])
        room.setPowered(true)
        #expect(room.emitted.last == .didUpdateState(.poweredOn))
    }

    // MARK: Links

    @Test func aHeadsetThatIsAwayIsWaitedForByTheKernelAndNotByASocket() {
        let room = LowEnergyRoom()
        room.turn()
        let attempt = room.connect()
        room.turn(after: .seconds(100_000))
        #expect(room.channels.isEmpty && room.central.deadline == nil)
        #expect(room.commands.last == .addDevice)
        room.sendConnected()
        #expect(room.emitted.last == .didConnect(headset, attempt: attempt))
        #expect(room.channels.count == 1)
    }

    @Test func parametersAreLoadedRightBeforeTheConnect() throws {
        let room = LowEnergyRoom()
        room.turn()
        let parameters = try #require(
            ConnectionParameters(minimumInterval: 12, maximumInterval: 24, latency: 0, supervisionTimeout: 400))
        room.central.request(.setConnectionParameters(parameters, for: headset))
        room.connect()
        #expect(room.commands.suffix(2) == [.loadConnectionParameters, .addDevice])
    }

    @Test func servicesAreDiscoveredAndNotificationsArrive() throws {
        let room = LowEnergyRoom()
        let channel = try #require(room.link().channel)
        guard case .didDiscoverServices(headset, .success(let database), _)? = room.emitted.last else {
            Issue.record("\(room.emitted)")
            return
        }
        #expect(database.characteristics.map(\.uuid) == [eeg])
        let attempt = room.nextAttempt()
        room.central.request(.setNotifyValue(true, for: eeg, on: headset, attempt: attempt))
        room.turn()
        #expect(room.emitted.last == .didUpdateNotificationState(eeg, on: headset, error: nil, attempt: attempt))
        channel.sayNothing()
        for number in UInt8(0)..<200 { channel.say(.handleValueNotification(LowEnergyRoom.value, [number])) }
        let values = room.turn().compactMap { event in
            if case .didUpdateValue(_, _, let value, _) = event { value.first } else { nil }
        }
        #expect(values == Array(0..<200))
    }

    @Test func theNextLinkAsksOnceForWhatTheLastOneHasDiscovered() throws {
        let room = LowEnergyRoom()
        _ = room.link()
        room.sendDisconnected(reason: 1)
        let channel = try #require(room.link().channel)
        #expect(room.channels.count == 2)
        #expect(channel.received.map(\.opcode) == [.exchangeMTURequest, .readByTypeRequest])
        guard case .didDiscoverServices(_, .success, _)? = room.emitted.last else {
            Issue.record("\(room.emitted)")
            return
        }
    }

    @Test func theFirstLinkAfterAStartAsksOnceForWhatAnEarlierProcessHasDiscovered() throws {
        var texts: [PeripheralIdentifier: String] = [:]
        _ = LowEnergyRoom(maps: .inMemory([:]) { texts[$0] = $1 }).link()
        #expect(texts.count == 1)
        let channel = try #require(LowEnergyRoom(maps: .inMemory(texts) { _, _ in }).link().channel)
        #expect(channel.received.map(\.opcode) == [.exchangeMTURequest, .readByTypeRequest])
    }

    @Test func handlesOfAddressesThatNobodyUsesAnyMoreAreForgotten() throws {
        var texts: [PeripheralIdentifier: String] = [:]
        _ = LowEnergyRoom(maps: .inMemory([:]) { texts[$0] = $1 }).link()
        let text = try #require(texts[headset])
        texts = [:]
        for address in 1...UInt64(HandleMapTable.limit) { texts[PeripheralIdentifier(address: address, type: .public)] = text }
        _ = LowEnergyRoom(maps: .inMemory(texts) { texts[$0] = $1 }).link()
        #expect(texts.count == HandleMapTable.limit && texts[headset] != nil)
    }

    @Test func theHandlesThatWereUsedLastAreKept() throws {
        let map = HandleMap(services: [])
        var maps = HandleMapTable()
        maps[headset] = map
        maps[LowEnergyRoom.other] = map
        for address in 1..<UInt64(HandleMapTable.limit) {
            #expect(maps.takeExcess() == nil && maps.use(headset) == map)
            maps[PeripheralIdentifier(address: address, type: .public)] = map
        }
        #expect(maps.takeExcess() == LowEnergyRoom.other && maps.takeExcess() == nil)
    }

    @Test func aKeptMapThatCannotBeReadIsDiscoveredAndReplaced() throws {
        var texts = [headset: "gatt 1\nservice nonsense\n"]
        let room = LowEnergyRoom(maps: .inMemory(texts) { texts[$0] = $1 })
        _ = room.link()
        guard case .didDiscoverServices(_, .success, _)? = room.emitted.last else {
            Issue.record("\(room.emitted)")
            return
        }
        #expect(HandleMap(text: texts[headset] ?? "") != nil)
    }

    @Test func whatHasArrivedBeforeTheEndOfALinkIsDeliveredBeforeIt() throws {
        let room = LowEnergyRoom()
        let (attempt, channel) = room.link()
        room.central.request(.setNotifyValue(true, for: eeg, on: headset, attempt: room.nextAttempt()))
        room.turn()
        // Packets without bytes among them are not the end.
        for number in UInt8(0)..<200 {
            if number.isMultiple(of: 10) { channel?.sayNothing() }
            channel?.say(.handleValueNotification(LowEnergyRoom.value, [number]))
        }
        room.sendDisconnected(reason: 3)
        #expect(room.emitted.last == .didDisconnect(headset, error: .peripheralDisconnected, attempt: attempt))
        #expect(room.emitted.filter { if case .didUpdateValue = $0 { true } else { false } }.count == 200)
        #expect(room.commands.last == .removeDevice)
    }

    @Test func aSocketThatEndsEndsItsLinkOnceWithTheReasonThatTheKernelGives() throws {
        let room = LowEnergyRoom()
        let (attempt, channel) = room.link()
        shutdown(try #require(channel).socket, Int32(SHUT_RDWR))
        room.sendDisconnected(reason: 1)
        #expect(room.emitted.last == .didDisconnect(headset, error: .linkLost, attempt: attempt))
        #expect(room.emitted.filter { if case .didDisconnect = $0 { true } else { false } }.count == 1)
        let again = room.connect()
        room.sendConnected()
        #expect(room.emitted.last == .didConnect(headset, attempt: again))
    }

    @Test func aCancelClosesTheLinkAtOnceAndIsAnswered() {
        let room = LowEnergyRoom()
        _ = room.link()
        let attempt = room.nextAttempt()
        room.central.request(.cancelPeripheralConnection(headset, attempt: attempt))
        #expect(room.turn() == [.didDisconnect(headset, error: nil, attempt: attempt)])
        #expect(room.commands.suffix(2) == [.removeDevice, .disconnect])
        // The link is still ending: the next one is waited for.
        let next = room.connect()
        #expect(room.channels.count == 1)
        room.sendDisconnected(reason: 2)
        room.sendConnected()
        #expect(room.emitted.last == .didConnect(headset, attempt: next))
    }

    @Test func aLinkWhoseChannelAnotherProgramHoldsIsReported() {
        let room = LowEnergyRoom()
        room.turn()
        let attempt = room.connect()
        room.refusal = SocketError(code: EBUSY)
        room.sendConnected()
        #expect(room.emitted.last == .didFailToConnect(headset, error: .channelBusy, attempt: attempt))
        #expect(room.commands.last == .removeDevice)
        room.sendDisconnected(reason: 2)
        // bluetoothd does that with every link, which can be said.
        room.isBluetoothdRunning = true
        let next = room.connect()
        room.refusal = SocketError(code: EBUSY)
        room.sendConnected()
        #expect(room.emitted.last == .didFailToConnect(headset, error: .heldByBluetoothd, attempt: next))
        #expect(room.turn(after: .seconds(60)).isEmpty)
        room.isBluetoothdRunning = false
        #expect(room.turn(after: .seconds(2)) == [.didUnblock(headset)])
        #expect(room.turn(after: .seconds(60)).isEmpty && room.central.deadline == nil)
    }

    @Test func requestsToAHeadsetThatIsNotConnectedAreRefused() {
        let room = LowEnergyRoom()
        room.turn()
        let attempt = room.connect()
        room.central.request(.readValue(of: eeg, on: headset, attempt: attempt))
        room.central.request(.writeValue([1], to: eeg, type: .withoutResponse, on: headset, attempt: attempt))
        #expect(room.turn() == [.didReadValue(eeg, on: headset, result: .failure(.notConnected), attempt: attempt)])
    }

    @Test func aHeadsetThatDoesNotAnswerForHalfAMinuteIsGivenUp() {
        let room = LowEnergyRoom()
        let attempt = room.link().attempt
        // It is there, but deaf: what is sent is not answered.
        room.central.request(.readValue(of: eeg, on: headset, attempt: room.nextAttempt()))
        let events = room.turnWithoutAnswers(after: .seconds(31))
        #expect(events.last == .didDisconnect(headset, error: .linkLost, attempt: attempt))
        #expect(room.commandsNow().contains(.disconnect))
    }

    @Test func aRequestThatNeedsEncryptionIsMadeAgainOnceTheLinkIsEncrypted() {
        let room = LowEnergyRoom()
        _ = room.link()
        let attempt = room.nextAttempt()
        room.central.request(.readValue(of: eeg, on: headset, attempt: attempt))
        #expect(room.turn() == [.didBeginPairing(headset)])
        #expect(room.wantedSecurity == .medium)
        #expect(room.turn(after: .milliseconds(200)).isEmpty)
        room.security = .medium
        #expect(
            room.turn(after: .milliseconds(200))
                == [.didReadValue(eeg, on: headset, result: .success([42]), attempt: attempt)])
    }

    // MARK: What the system holds, and scans

    @Test func nothingIsRestored() {
        let room = LowEnergyRoom()
        room.turn()
        room.central.request(.restoreState(identifiers: [headset], services: [], attempt: room.nextAttempt()))
        #expect(room.turn() == [.willRestoreState([], attempt: Attempt(number: 1))])
    }
}
