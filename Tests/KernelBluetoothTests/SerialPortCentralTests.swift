import Bluetooth
import BluetoothManagement
import Glibc
import Testing

@testable import KernelBluetooth

@Suite struct SerialPortCentralTests {
    private let headset = ClassicRoom.headset
    private let other = PeripheralIdentifier(address: 0x2068_9D00_0002, type: .classic)

    // MARK: The adapter

    @Test func theStateIsUnknownUntilTheKernelHasReportedIt() {
        let room = ClassicRoom()
        #expect(room.central.state == .unknown)
        #expect(room.turn() == [.didUpdateState(.poweredOn)])
        #expect(room.turn().isEmpty && room.central.deadline == nil)
    }

    @Test func everythingIsRefusedWhileTheAdapterIsOff() {
        let room = ClassicRoom(powered: false)
        room.turn()
        let attempt = room.connect()
        #expect(room.emitted.last == .didFailToConnect(headset, error: .adapterUnavailable(.poweredOff), attempt: attempt))
        room.central.request(.scanForPeripherals(matching: ScanFilter(serviceUUIDs: [.serialPort])))
        #expect(room.turn() == [.didFailToScan(.adapterUnavailable(.poweredOff))])
        #expect(room.openings.isEmpty)
    }

    @Test func switchingTheAdapterOffEndsLinksAndConnects() {
        let room = ClassicRoom()
        let attempt = room.link().attempt
        let pending = room.connect(other)
        room.setPowered(false)
        let off = CentralError.adapterUnavailable(.poweredOff)
        #expect(
            room.emitted.suffix(3) == [
                .didUpdateState(.poweredOff), .didDisconnect(headset, error: off, attempt: attempt),
                .didFailToConnect(other, error: off, attempt: pending),
            ])
        room.setPowered(true)
        #expect(room.emitted.last == .didUpdateState(.poweredOn) && room.openings.count == 3)
    }

    // MARK: Connecting

    @Test func aConnectGoesFromAPageToTheSerialPort() {
        let room = ClassicRoom()
        let (attempt, port) = room.link()
        #expect(room.openings.map(\.channel) == [nil, 1])
        #expect(room.openings.allSatisfy { $0.peripheral == headset.address })
        #expect(room.emitted.last == .didConnect(headset, attempt: attempt))
        #expect(room.openings.first?.hear() == nil, "the Service Discovery Protocol's channel is closed")
        #expect(port?.hear() == [])
    }

    @Test func theStrengthOfALinkIsAskedForAndReported() {
        let room = ClassicRoom()
        _ = room.link()
        _ = room.commands()
        room.central.request(.readRSSI(of: headset))
        #expect(room.commands().map { $0.first } == [0x31])
        room.sendPairing(0x0001, before: ManagementEnd.code(of: .getConnectionInformation) + [0], after: [0xFE, 4, 127])
        #expect(room.emitted.last == .didReadRSSI(LinkQuality(rssi: -2, transmitPower: 4), of: headset))
        room.central.request(.readRSSI(of: other))
        #expect(room.commands().isEmpty, "there is no link to it")
    }

    @Test func aHeadsetThatIsAwayIsPagedUntilItAnswers() {
        let room = ClassicRoom()
        room.turn()
        let attempt = room.connect()
        for number in 1...20 {
            room.fail(EHOSTDOWN)
            room.turn(after: .milliseconds(100))
            #expect(room.openings.count == number + 1)
        }
        #expect(room.emitted == [.didUpdateState(.poweredOn)])
        room.answerPage()
        room.answerSearch(channel: 1)
        room.answerPort()
        #expect(room.emitted.last == .didConnect(headset, attempt: attempt))
    }

    @Test func aPageThatTheKernelForgetsIsBegunAgain() {
        let room = ClassicRoom()
        room.turn()
        room.connect()
        #expect(room.central.deadline == room.now + .seconds(8))
        room.turn(after: .seconds(8))
        #expect(room.openings[0].hear().map { !$0.isEmpty } == true)
        room.turn(after: .milliseconds(100))
        #expect(room.openings.count == 2 && room.emitted.count == 1)
    }

    @Test func headsetsThatAreAwayTakeTurns() {
        let room = ClassicRoom()
        room.turn()
        room.connect()
        room.connect(other)
        #expect(room.openings.map(\.peripheral) == [headset.address])
        for _ in 0..<3 {
            room.turn(after: .milliseconds(2800))
            room.turn(after: .milliseconds(100))
        }
        #expect(room.openings.map(\.peripheral) == [headset.address, other.address, headset.address, other.address])
    }

    @Test func aHeadsetThatFallsSilentWhileItIsAskedIsPagedAgain() {
        let room = ClassicRoom()
        room.turn()
        room.connect()
        room.answerPage()
        room.turn(after: .seconds(3))
        room.turn(after: .milliseconds(100))
        #expect(room.openings.map(\.channel) == [nil, nil])
        room.answerPage()
        room.answerSearch(channel: 1)
        room.turn(after: .seconds(5))
        room.turn(after: .milliseconds(100))
        #expect(room.openings.map(\.channel) == [nil, nil, 1, nil] && room.emitted.count == 1)
    }

    @Test func aHeadsetWithoutSerialPortIsReportedAsSuch() {
        let room = ClassicRoom()
        room.turn()
        let attempt = room.connect()
        room.answerPage()
        _ = room.openings.last?.hear()
        room.openings.last?.say(SerialPortSearchTests.response([0x35, 0x00]))
        #expect(
            room.turn() == [
                .didFailToConnect(
                    headset, error: .connectionFailed(reason: "it offers no serial port"), attempt: attempt)
            ])
    }

    /// What a headset may answer to the question for its serial port, instead of the channel.
    enum SearchFailure: CaseIterable {
        case noRecord, refused, unanswered, noServiceDiscovery
    }

    @Test(arguments: SearchFailure.allCases)
    func aHeadsetThatDoesNotNameItsChannelIsOpenedOnThatOfItsModel(_ failure: SearchFailure) {
        let room = ClassicRoom(channels: [
            SerialPortChannel(number: 3, identifiers: [headset]), SerialPortChannel(number: 7, identifiers: []),
        ])
        room.turn()
        let attempt = room.connect()
        if failure == .noServiceDiscovery { room.fail(ECONNREFUSED) } else { room.answerPage() }
        switch failure {
        case .noRecord: room.openings.last?.say(SerialPortSearchTests.response([0x35, 0x00]))
        // Error Response, Invalid PDU Size (Core Specification, Vol 3, Part B, 4.4.1).
        case .refused: room.openings.last?.say([0x01, 0x00, 0x01, 0x00, 0x02, 0x00, 0x04])
        case .unanswered: room.turn(after: .seconds(3))
        case .noServiceDiscovery: break
        }
        room.turn()
        #expect(room.openings.map(\.channel) == [nil, 3])
        room.answerPort()
        #expect(room.emitted == [.didUpdateState(.poweredOn), .didConnect(headset, attempt: attempt)])
    }

    @Test func whatAHeadsetSaysOfItsChannelCountsFirst() {
        let room = ClassicRoom(channels: [SerialPortChannel(number: 3, identifiers: [])])
        _ = room.link()
        #expect(room.openings.map(\.channel) == [nil, 1])
    }

    @Test func aChannelForAnyHeadsetCountsOnlyWhereAllModelsAgree() {
        let named = SerialPortChannel(number: 2, identifiers: [other])
        let any = SerialPortChannel(number: 1, identifiers: [])
        #expect([named, any, any].number(for: headset) == 1)
        #expect([named, any].number(for: other) == 2)
        #expect([named, any, SerialPortChannel(number: 5, identifiers: [])].number(for: headset) == nil)
        #expect([named].number(for: headset) == nil)
    }

    @Test func aHeadsetThatIsNotPairedIsReportedAsSuchAndLeftAloneLongerEachTime() {
        let room = ClassicRoom()
        room.turn()
        for seconds in [5, 10, 20, 40, 80, 160, 320, 640, 900, 900] {
            let attempt = room.connect()
            room.answerPage()
            room.answerSearch(channel: 1)
            room.fail(EACCES)
            #expect(room.emitted.last == .didFailToConnect(headset, error: .pairingRefused, attempt: attempt))
            #expect(room.central.deadline == room.now + .seconds(seconds))
            #expect(room.turn(after: .seconds(seconds)) == [.didUnblock(headset)])
            #expect(room.turn().isEmpty && room.central.deadline == nil)
        }
        _ = room.link()
        room.central.request(.cancelPeripheralConnection(headset, attempt: room.nextAttempt()))
        room.connect()
        room.fail(EACCES)
        #expect(room.central.deadline == room.now + .seconds(5), "a link begins anew")
    }

    @Test func aSerialPortThatAnotherProgramHoldsIsReportedAsSuchInTheEnd() {
        let room = ClassicRoom()
        room.turn()
        let attempt = room.connect()
        for _ in 0...50 {
            room.fail(EBUSY)
            room.turn(after: .milliseconds(100))
        }
        #expect(room.emitted.last == .didFailToConnect(headset, error: .channelBusy, attempt: attempt))
    }

    @Test func aRefusalAtOnceIsAnsweredAtOnce() {
        let room = ClassicRoom()
        room.turn()
        room.refusal = SocketError(code: EPERM)
        let attempt = room.connect()
        #expect(
            room.emitted.last
                == .didFailToConnect(headset, error: .notPermitted(what: "open Bluetooth sockets"), attempt: attempt))
    }

    @Test func anAddressOfLowEnergyIsNotPaged() {
        let room = ClassicRoom()
        room.turn()
        let stranger = PeripheralIdentifier(address: headset.address, type: .public)
        let attempt = room.connect(stranger)
        #expect(room.emitted.last == .didFailToConnect(stranger, error: .unknownPeripheral, attempt: attempt))
    }

    // MARK: Cancelling

    @Test func aPendingConnectThatIsCancelledHasNoAnswerOfItsOwn() {
        let room = ClassicRoom()
        room.turn()
        room.connect()
        let cancel = room.nextAttempt()
        while room.command() != nil {}
        room.central.request(.cancelPeripheralConnection(headset, attempt: cancel))
        #expect(room.turn() == [.didDisconnect(headset, error: nil, attempt: cancel)])
        #expect(room.turn(after: .seconds(60)).isEmpty && room.openings.count == 1)
        #expect(room.command() == nil, "the kernel would never answer a Disconnect")
    }

    @Test func aCancelledLinkEndsOnceAndIsTakenDown() {
        let room = ClassicRoom()
        _ = room.link()
        while room.command() != nil {}
        let cancel = room.nextAttempt()
        room.central.request(.cancelPeripheralConnection(headset, attempt: cancel))
        #expect(room.turn() == [.didDisconnect(headset, error: nil, attempt: cancel)])
        #expect(room.command()?.first == 0x14, "the kernel is asked to close what it may still hold")
        #expect(room.openings.last?.hear() == nil)
        #expect(room.turn(after: .seconds(60)).isEmpty)
    }

    @Test func aConnectToALinkThatIsUpIsAnsweredAndItsAttemptIsTheLinksOwn() {
        let room = ClassicRoom()
        let port = room.link().port
        room.subscribe()
        let second = room.connect()
        #expect(room.emitted.last == .didConnect(headset, attempt: second))
        port?.hangUp()
        #expect(room.turn() == [.didDisconnect(headset, error: .peripheralDisconnected, attempt: second)])
    }

    // MARK: The serial port

    @Test func whatArrivesIsDeliveredOnceNotificationsAreOnAndNothingIsLostBefore() {
        let room = ClassicRoom()
        let port = room.link().port
        port?.say([1, 2, 3])
        #expect(room.turn().isEmpty)
        room.subscribe()
        room.turn()
        port?.say([4])
        room.turn()
        let values = room.emitted.compactMap { event -> [UInt8]? in
            guard case .didUpdateValue(.serialPort, headset, let value, let arrival) = event else { return nil }
            #expect(arrival.nanoseconds > 0)
            return value
        }
        #expect(values == [[1, 2, 3], [4]])
    }

    @Test func theLastBytesAreDeliveredBeforeTheEnd() {
        let room = ClassicRoom()
        let (attempt, port) = room.link()
        room.subscribe()
        port?.say([9, 9])
        port?.hangUp()
        let events = room.turn()
        #expect(events.count == 2)
        guard case .didUpdateValue(_, _, [9, 9], _) = events.first else {
            Issue.record("emitted was \(events)")
            return
        }
        #expect(events.last == .didDisconnect(headset, error: .peripheralDisconnected, attempt: attempt))
    }

    @Test func theEndIsReportedAlsoWhereNobodyListens() {
        let room = ClassicRoom()
        let (attempt, port) = room.link()
        #expect(room.turn().isEmpty)
        port?.hangUp()
        #expect(room.turn() == [.didDisconnect(headset, error: .peripheralDisconnected, attempt: attempt)])
    }

    @Test func commandsAreWrittenInTheirOrderAlsoWhereThePortIsFull() {
        let room = ClassicRoom()
        let port = room.link().port
        let commands = (0..<4).map { [UInt8](repeating: $0, count: 1000) }
        for command in commands {
            room.central.request(
                .writeValue(command, to: .serialPort, type: .withoutResponse, on: headset, attempt: room.nextAttempt()))
        }
        var heard: [UInt8] = []
        for _ in 0..<20 {
            room.turn()
            heard += port?.hear() ?? []
        }
        #expect(heard == commands.flatMap { $0 })
        #expect(room.turn().isEmpty)
    }

    @Test func theDatabaseIsThatOfASerialPort() {
        let room = ClassicRoom()
        let attempt = room.link().attempt
        let next = room.nextAttempt()
        room.central.request(.discoverServices(on: headset, attempt: next))
        guard case .didDiscoverServices(headset, .success(let database), next) = room.turn().last else {
            Issue.record("no database on the link \(attempt)")
            return
        }
        #expect(database.services == [.serialPort])
        #expect(database[.serialPort]?.properties == [.write, .writeWithoutResponse, .notify])
    }

    @Test func requestsThatCannotBeMetAreAnswered() {
        let room = ClassicRoom()
        room.turn()
        let attempt = room.nextAttempt()
        room.central.request(.readValue(of: .serialPort, on: headset, attempt: attempt))
        room.central.request(.discoverServices(on: headset, attempt: attempt))
        room.central.request(.setNotifyValue(true, for: .serialPort, on: headset, attempt: attempt))
        room.central.request(.writeValue([1], to: .serialPort, type: .withResponse, on: headset, attempt: attempt))
        #expect(
            room.turn() == [
                .didReadValue(.serialPort, on: headset, result: .failure(.notConnected), attempt: attempt),
                .didDiscoverServices(headset, result: .failure(.notConnected), attempt: attempt),
                .didUpdateNotificationState(.serialPort, on: headset, error: .notConnected, attempt: attempt),
                .didWriteValue(.serialPort, on: headset, error: .notConnected, attempt: attempt),
            ])
        _ = room.link()
        room.central.request(.readValue(of: .serialPort, on: headset, attempt: attempt))
        room.central.request(.setNotifyValue(true, for: .batteryLevel, on: headset, attempt: attempt))
        #expect(
            room.turn() == [
                .didReadValue(.serialPort, on: headset, result: .failure(.att(.readNotPermitted)), attempt: attempt),
                .didUpdateNotificationState(
                    .batteryLevel, on: headset, error: .noSuchCharacteristic(.batteryLevel), attempt: attempt),
            ])
    }

    @Test func onlyOwnLinksAreRetrievedAndNothingIsRestored() {
        let room = ClassicRoom()
        _ = room.link()
        let attempt = room.nextAttempt()
        room.central.request(.restoreState(identifiers: [headset], services: [.serialPort], attempt: attempt))
        room.central.request(.retrieveConnectedPeripherals(withServices: [.serialPort], attempt: attempt))
        room.central.request(.retrieveConnectedPeripherals(withServices: [.batteryLevel], attempt: attempt))
        #expect(
            room.turn() == [
                .willRestoreState([], attempt: attempt), .didRetrieveConnected([headset], attempt: attempt),
                .didRetrieveConnected([], attempt: attempt),
            ])
    }

    // MARK: Errors

    @Test(arguments: [
        (EHOSTDOWN, SocketError.Refusal.away), (ETIMEDOUT, .away), (EBUSY, .ending), (ECONNABORTED, .ending),
        (EHOSTUNREACH, .final(.adapterUnavailable(.poweredOff))),
    ])
    func errorsWhileConnectingMean(code: Int32, meaning: SocketError.Refusal) {
        #expect(SocketError(code: code).connecting == meaning)
    }

    @Test(arguments: [
        (ECONNRESET, CentralError.peripheralDisconnected), (ETIMEDOUT, .linkLost), (ECONNABORTED, .disconnectedByOperator),
        (EIO, .linkLost),
    ])
    func errorsOfALinkMean(code: Int32, meaning: CentralError) {
        #expect(SocketError.ended(SocketError(code: code)) == meaning)
    }
}
