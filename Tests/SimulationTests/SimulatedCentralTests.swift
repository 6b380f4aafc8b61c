import Bluetooth
import Simulation
import Testing

/// The contract of each call, as `Central` states it.
struct SimulatedCentralTests {
    private let counter = HeadsetSpecification.countingCharacteristic
    private let identifier = HeadsetSpecification.counting().identifier

    @Test("The adapter's state is told after the start, once")
    func state() {
        let bench = Bench()
        #expect(bench.central.state == .unknown)
        bench.run(seconds: 1)
        #expect(bench.events == [.didUpdateState(.poweredOn)])
        #expect(bench.central.state == .poweredOn)
    }

    @Test("A connect to a headset in range is answered once, with its attempt")
    func connect() {
        let bench = Bench()
        bench.begin(seconds: 1)
        bench.central.request(.connect(identifier, attempt: Attempt(number: 7)))
        bench.run(seconds: 5)
        #expect(bench.take() == [.didConnect(identifier, attempt: Attempt(number: 7))])
        #expect(bench.world.headsets[0].isConnected)
        #expect(bench.world.contractViolations.isEmpty)
    }

    @Test("A connect to a headset that is away stays pending until the headset returns")
    func pending() {
        let bench = Bench(script: [ScriptedFault(at: .seconds(1), .outOfRange, for: .seconds(100))])
        bench.begin(seconds: 2)
        bench.central.request(.connect(identifier, attempt: Attempt(number: 1)))
        bench.run(seconds: 90)
        #expect(bench.take().isEmpty)
        bench.run(seconds: 15)
        #expect(bench.take() == [.didConnect(identifier, attempt: Attempt(number: 1))])
    }

    @Test("A cancelled connect is answered with a disconnection that carries the cancel's attempt, and with nothing else")
    func cancelPending() {
        let bench = Bench(script: [ScriptedFault(at: .seconds(1), .outOfRange, for: .seconds(100))])
        bench.begin(seconds: 2)
        bench.central.request(.connect(identifier, attempt: Attempt(number: 1)))
        bench.run(seconds: 1)
        bench.central.request(.cancelPeripheralConnection(identifier, attempt: Attempt(number: 2)))
        bench.run(seconds: 200)
        #expect(bench.take() == [.didDisconnect(identifier, error: nil, attempt: Attempt(number: 2))])
    }

    @Test("A cancel with nothing to cancel is answered all the same")
    func cancelNothing() {
        let bench = Bench()
        bench.begin(seconds: 1)
        bench.central.request(.cancelPeripheralConnection(identifier, attempt: Attempt(number: 3)))
        bench.run(seconds: 1)
        #expect(bench.take() == [.didDisconnect(identifier, error: nil, attempt: Attempt(number: 3))])
    }

    @Test("A second connect before the first is answered is recorded as a violation")
    func doubleConnect() {
        let bench = Bench(script: [ScriptedFault(at: .seconds(1), .outOfRange, for: .seconds(100))])
        bench.begin(seconds: 2)
        bench.central.request(.connect(identifier, attempt: Attempt(number: 1)))
        bench.central.request(.connect(identifier, attempt: Attempt(number: 2)))
        bench.run(seconds: 1)
        #expect(bench.world.contractViolations.map(\.kind) == [.secondConnect])
        #expect(bench.take() == [.didFailToConnect(identifier, error: .inProgress, attempt: Attempt(number: 2))])
    }

    @Test("A connect after the earlier one was cancelled is no violation")
    func connectAfterCancel() {
        let bench = Bench(script: [ScriptedFault(at: .seconds(1), .outOfRange, for: .seconds(100))])
        bench.begin(seconds: 2)
        bench.central.request(.connect(identifier, attempt: Attempt(number: 1)))
        bench.central.request(.cancelPeripheralConnection(identifier, attempt: Attempt(number: 2)))
        bench.run(seconds: 1)
        bench.central.request(.connect(identifier, attempt: Attempt(number: 3)))
        bench.run(seconds: 200)
        #expect(bench.take().last == .didConnect(identifier, attempt: Attempt(number: 3)))
        #expect(bench.world.contractViolations.isEmpty)
    }

    @Test("Requests to a headset that is not connected answer notConnected")
    func notConnected() {
        let bench = Bench()
        bench.begin(seconds: 1)
        bench.central.request(.discoverServices(on: identifier, attempt: Attempt(number: 1)))
        bench.central.request(.writeValue([1], to: counter, type: .withResponse, on: identifier, attempt: Attempt(number: 2)))
        bench.central.request(
            .writeValue([1], to: counter, type: .withoutResponse, on: identifier, attempt: Attempt(number: 3)))
        bench.central.request(.readValue(of: counter, on: identifier, attempt: Attempt(number: 4)))
        bench.central.request(.setNotifyValue(true, for: counter, on: identifier, attempt: Attempt(number: 5)))
        bench.run(seconds: 1)
        let expected: [CentralEvent] = [
            .didDiscoverServices(identifier, result: .failure(.notConnected), attempt: Attempt(number: 1)),
            .didWriteValue(counter, on: identifier, error: .notConnected, attempt: Attempt(number: 2)),
            .didReadValue(counter, on: identifier, result: .failure(.notConnected), attempt: Attempt(number: 4)),
            .didUpdateNotificationState(counter, on: identifier, error: .notConnected, attempt: Attempt(number: 5)),
        ]
        let events = bench.take()
        #expect(events.count == expected.count)
        #expect(Set(events) == Set(expected))
    }

    @Test("Notifications come only while they are switched on")
    func notifications() {
        let bench = Bench()
        bench.connect()
        bench.run(seconds: 2)
        #expect(bench.take().isEmpty)
        bench.central.request(.setNotifyValue(true, for: counter, on: identifier, attempt: Attempt(number: 3)))
        bench.run(seconds: 3)
        let events = bench.take()
        let on = CentralEvent.didUpdateNotificationState(counter, on: identifier, error: nil, attempt: Attempt(number: 3))
        #expect(events.first == on)
        #expect((95...100).contains(events.count - 1))
        bench.central.request(.setNotifyValue(false, for: counter, on: identifier, attempt: Attempt(number: 4)))
        bench.run(seconds: 1)
        bench.take()
        bench.run(seconds: 5)
        #expect(bench.take().isEmpty)
    }

    @Test("The serial number is read from the device information service")
    func serialNumber() {
        let bench = Bench()
        bench.connect()
        bench.central.request(.readValue(of: .serialNumberString, on: identifier, attempt: Attempt(number: 3)))
        bench.run(seconds: 1)
        #expect(
            bench.take() == [
                .didReadValue(
                    .serialNumberString, on: identifier, result: .success(Array("CN-1001".utf8)), attempt: Attempt(number: 3))
            ])
    }

    @Test("A characteristic that the headset does not have is told by its name")
    func noSuchCharacteristic() {
        let bench = Bench()
        bench.connect()
        bench.central.request(.readValue(of: .batteryLevel, on: identifier, attempt: Attempt(number: 3)))
        bench.run(seconds: 1)
        let error = CentralError.noSuchCharacteristic(.batteryLevel)
        #expect(
            bench.take() == [
                .didReadValue(.batteryLevel, on: identifier, result: .failure(error), attempt: Attempt(number: 3))
            ])
    }

    @Test("A scan reports matching advertisements at the advertising interval, until the headset is connected")
    func scan() {
        let bench = Bench()
        bench.begin(seconds: 1)
        bench.central.request(.scanForPeripherals(matching: ScanFilter(serviceUUIDs: [HeadsetSpecification.countingService])))
        bench.run(seconds: 10)
        #expect((90...100).contains(bench.take().count))
        bench.central.request(.scanForPeripherals(matching: ScanFilter(serviceUUIDs: [.batteryLevel])))
        bench.run(seconds: 10)
        #expect(bench.take().isEmpty)
        bench.central.request(.scanForPeripherals(matching: ScanFilter(namePrefixes: ["Counter-"])))
        bench.run(seconds: 1)
        #expect(bench.take().count > 8)
        bench.connect()
        bench.run(seconds: 10)
        #expect(bench.take().isEmpty)
    }

    @Test("A killed process hears nothing; the next finds the link, its services known and its notifications off")
    func restoration() {
        let bench = Bench()
        bench.connect()
        bench.central.request(.setNotifyValue(true, for: counter, on: identifier, attempt: Attempt(number: 3)))
        bench.run(seconds: 1)
        let dead = bench.central
        bench.restart()
        #expect(dead.process(at: bench.world.now).isEmpty)
        #expect(dead.deadline == nil)
        bench.central.request(.restoreState(identifiers: [identifier], services: [], attempt: Attempt(number: 1)))
        bench.run(seconds: 5)
        let database = HeadsetSpecification.counting().database
        let restored = RestoredPeripheral(identifier: identifier, isConnected: true, database: database, notifying: [])
        #expect(bench.take().contains(.willRestoreState([restored], attempt: Attempt(number: 1))))
        bench.central.request(.setNotifyValue(true, for: counter, on: identifier, attempt: Attempt(number: 2)))
        bench.run(seconds: 1)
        #expect(bench.take().count > 20)
    }

    @Test("With kernel sockets, the link of a killed process closes after two seconds, and the headset advertises again")
    func kernelSockets() {
        var options = SimulatedWorld.Options()
        options.system = .kernelSockets
        let bench = Bench(options: options)
        bench.connect()
        bench.restart()
        bench.central.request(.restoreState(identifiers: [identifier], services: [], attempt: Attempt(number: 1)))
        bench.central.request(.connect(identifier, attempt: Attempt(number: 2)))
        bench.run(seconds: 1.5)
        #expect(bench.take().contains(.willRestoreState([], attempt: Attempt(number: 1))))
        bench.run(seconds: 1.5)
        #expect(bench.take() == [.didConnect(identifier, attempt: Attempt(number: 2))])
    }

    @Test("A serial port's link ends with its process beside bluetoothd, too: it is never restored, and can be opened again")
    func serialPort() {
        let bench = Bench(headsets: [.cyton()])
        bench.connect()
        let port = bench.world.headsets[0].identifier
        bench.restart()
        bench.central.request(.restoreState(identifiers: [port], services: [.serialPort], attempt: Attempt(number: 1)))
        bench.central.request(.retrieveConnectedPeripherals(withServices: [.serialPort], attempt: Attempt(number: 2)))
        bench.central.request(.connect(port, attempt: Attempt(number: 3)))
        bench.run(seconds: 1.5)
        let early = bench.take()
        #expect(early.contains(.willRestoreState([], attempt: Attempt(number: 1))))
        #expect(early.contains(.didRetrieveConnected([], attempt: Attempt(number: 2))))
        bench.run(seconds: 1.5)
        #expect(bench.take() == [.didConnect(port, attempt: Attempt(number: 3))])
    }

    @Test("A driver that sleeps until the deadline hears the same as one that looks every millisecond")
    func deadline() {
        var digests: [UInt64] = []
        for step in [nil, 0.001] {
            let bench = Bench(step: step)
            bench.connect()
            bench.central.request(.setNotifyValue(true, for: counter, on: identifier, attempt: Attempt(number: 3)))
            bench.run(seconds: 20)
            digests.append(bench.world.digest)
        }
        #expect(digests[0] == digests[1])
    }
}
