import Testing

@testable import Bluetooth

@Suite struct RoutedCentralTests {
    private let classic = PeripheralIdentifier(address: 1, type: .classic)
    private let known = PeripheralIdentifier(address: 2, type: .public)
    private let other = PeripheralIdentifier(address: 3, type: .random)
    private let eeg = BluetoothUUID(UInt16(0xFE8D))
    private let attempt = Attempt(number: 7)

    private struct Room {
        let lowEnergy = NotingCentral()
        let serial = NotingCentral()
        let routed: RoutedCentral

        init() { routed = RoutedCentral(lowEnergy: lowEnergy, classic: serial) }

        func turn() -> [CentralEvent] { routed.process(at: .boot) }
    }

    @Test func eachPeripheralIsReachedThroughTheCentralOfItsAddress() {
        let room = Room()
        for peripheral in [classic, known, other] {
            room.routed.request(.connect(peripheral, attempt: attempt))
            room.routed.request(.cancelPeripheralConnection(peripheral, attempt: attempt))
            room.routed.request(.discoverServices(on: peripheral, attempt: attempt))
            room.routed.request(.setNotifyValue(true, for: eeg, on: peripheral, attempt: attempt))
            room.routed.request(.readValue(of: eeg, on: peripheral, attempt: attempt))
            room.routed.request(.writeValue([1], to: eeg, type: .withResponse, on: peripheral, attempt: attempt))
        }
        let calls = ["connect", "cancel", "discover", "setNotify", "read", "write"]
        #expect(room.serial.calls == calls.map { "\($0) \(classic)" })
        #expect(room.lowEnergy.calls == [known, other].flatMap { peripheral in calls.map { "\($0) \(peripheral)" } })
    }

    @Test func whatBothAreAskedIsAnsweredOnce() {
        let room = Room()
        room.routed.request(.restoreState(identifiers: [classic, known], services: [eeg, .serialPort], attempt: attempt))
        #expect(room.serial.calls == ["restore [\(classic)] [1101]"])
        #expect(room.lowEnergy.calls == ["restore [\(known)] [FE8D]"])
        let restored = RestoredPeripheral(identifier: known, isConnected: true, database: nil, notifying: [])
        room.serial.events = [.willRestoreState([], attempt: attempt)]
        #expect(room.turn().isEmpty)
        room.lowEnergy.events = [.willRestoreState([restored], attempt: attempt)]
        #expect(room.turn() == [.willRestoreState([restored], attempt: attempt)])

        room.routed.request(.retrieveConnectedPeripherals(withServices: [eeg, .serialPort], attempt: attempt))
        room.lowEnergy.events = [.didRetrieveConnected([known], attempt: attempt)]
        room.serial.events = [.didRetrieveConnected([classic], attempt: attempt)]
        #expect(room.turn() == [.didRetrieveConnected([known, classic], attempt: attempt)])
    }

    @Test func aCentralThatNeverAnswersHoldsUpNoBoundlessNumberOfQuestions() {
        let room = Room()
        let questions = (1...RoutedCentral.mergesMaximum + 1).map { Attempt(number: UInt64($0)) }
        for question in questions {
            room.routed.request(.retrieveConnectedPeripherals(withServices: [eeg, .serialPort], attempt: question))
            room.lowEnergy.events = [.didRetrieveConnected([known], attempt: question)]
            #expect(room.turn().isEmpty, "the other one is waited for")
        }
        // The oldest is forgotten, and what answers it now is passed on as it is; its caller drops what is late.
        for (question, found) in [(questions[0], [classic]), (questions[1], [known, classic])] {
            room.serial.events = [.didRetrieveConnected([classic], attempt: question)]
            #expect(room.turn() == [.didRetrieveConnected(found, attempt: question)])
        }
    }

    @Test func whatConcernsOneIsAskedOfThatOneAlone() {
        let room = Room()
        room.routed.request(.retrieveConnectedPeripherals(withServices: [.serialPort], attempt: attempt))
        room.serial.events = [.didRetrieveConnected([classic], attempt: attempt)]
        #expect(room.turn() == [.didRetrieveConnected([classic], attempt: attempt)])
        room.routed.request(.restoreState(identifiers: [], services: [eeg], attempt: attempt))
        room.routed.request(.restoreState(identifiers: [], services: [], attempt: attempt))
        #expect(room.lowEnergy.calls == ["restore [] [FE8D]", "restore [] []"] && room.serial.calls.count == 1)
    }

    @Test func theStateIsThatOfLowEnergyUnlessBluetoothdIsAway() {
        let room = Room()
        #expect(room.routed.state == .unknown)
        room.serial.state = .poweredOn
        room.serial.events = [.didUpdateState(.poweredOn)]
        #expect(room.turn().isEmpty, "bluetoothd has not reported what it holds")
        let steps: [(lowEnergy: AdapterState, classic: AdapterState, emitted: AdapterState?)] = [
            (.poweredOn, .poweredOn, .poweredOn), (.resetting, .poweredOn, nil), (.resetting, .poweredOff, .resetting),
            (.poweredOff, .poweredOff, .poweredOff), (.blocked, .poweredOff, .blocked), (.poweredOn, .unknown, .poweredOn),
        ]
        for step in steps {
            room.lowEnergy.state = step.lowEnergy
            room.lowEnergy.events = [.didUpdateState(step.lowEnergy)]
            room.serial.state = step.classic
            #expect(room.turn() == step.emitted.map { [.didUpdateState($0)] } ?? [])
            #expect(room.routed.state == step.emitted ?? .poweredOn)
        }
    }

    @Test func onlyLowEnergyScans() {
        let room = Room()
        room.routed.request(.scanForPeripherals(matching: .unfiltered))
        room.routed.request(.stopScan)
        #expect(room.lowEnergy.calls == ["scan", "stopScan"] && room.serial.calls.isEmpty)
    }

    @Test func theEarlierDeadlineCounts() {
        let room = Room()
        #expect(room.routed.deadline == nil)
        room.serial.deadline = MonotonicTime(nanoseconds: 9)
        #expect(room.routed.deadline == MonotonicTime(nanoseconds: 9))
        room.lowEnergy.deadline = MonotonicTime(nanoseconds: 5)
        #expect(room.routed.deadline == MonotonicTime(nanoseconds: 5))
    }
}

/// A central that notes what it is asked, and emits what the test gives it.
private final class NotingCentral: Central {
    var state = AdapterState.unknown
    var deadline: MonotonicTime?
    var events: [CentralEvent] = []
    var calls: [String] = []

    func process(at now: MonotonicTime) -> [CentralEvent] {
        defer { events = [] }
        return events
    }

    func request(_ request: CentralRequest) {
        switch request {
        case .restoreState(let identifiers, let services, _): calls.append("restore \(identifiers) \(services)")
        case .retrieveConnectedPeripherals(let services, _): calls.append("retrieve \(services)")
        case .scanForPeripherals: calls.append("scan")
        case .stopScan: calls.append("stopScan")
        case .setConnectionParameters, .trustPeripheral: break
        case .readRSSI(let peripheral): calls.append("readRSSI \(peripheral)")
        case .connect(let peripheral, _): calls.append("connect \(peripheral)")
        case .cancelPeripheralConnection(let peripheral, _): calls.append("cancel \(peripheral)")
        case .discoverServices(let peripheral, _): calls.append("discover \(peripheral)")
        case .setNotifyValue(_, _, let peripheral, _): calls.append("setNotify \(peripheral)")
        case .readValue(_, let peripheral, _): calls.append("read \(peripheral)")
        case .writeValue(_, _, _, let peripheral, _): calls.append("write \(peripheral)")
        }
    }
}
