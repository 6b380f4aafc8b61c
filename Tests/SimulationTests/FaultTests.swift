import Bluetooth
import Headsets
import Simulation
import Testing

/// Each fault happens, is counted, and ends.
struct FaultTests {
    private static let identifier = HeadsetSpecification.counting().identifier

    private func bench(_ fault: Fault, at time: Double = 5, for duration: Double = 10) -> Bench {
        var specification = HeadsetSpecification.counting()
        specification.usesPrivateAddress = true
        return Bench(
            headsets: [specification],
            script: [ScriptedFault(at: .seconds(time), fault, for: .nanoseconds(Int64(duration * 1e9)))])
    }

    @Test(
        "A fault of the link ends it with its own error",
        arguments: [
            (Fault.outOfRange, CentralError.linkLost), (.reboot, .linkLost), (.staleAddress, .linkLost),
            (.headsetDisconnect, .peripheralDisconnected), (.operatorDisconnect, .disconnectedByOperator),
            (.adapterOff, .adapterUnavailable(.poweredOff)), (.radioBlocked, .adapterUnavailable(.blocked)),
            (.adapterVanished, .adapterUnavailable(.absent)), (.systemRestarted, .adapterUnavailable(.resetting)),
        ])
    func link(fault: Fault, error: CentralError) {
        let bench = bench(fault)
        bench.connect()
        bench.run(seconds: 8)
        let expected = CentralEvent.didDisconnect(Self.identifier, error: error, attempt: Attempt(number: 1))
        #expect(bench.events.filter { if case .didDisconnect = $0 { true } else { false } } == [expected])
        #expect(bench.world.injected[fault] == 1)
    }

    @Test("A link survives absences shorter than the supervision timeout, also one right after the other")
    func shortAbsences() {
        let bench = Bench(script: [
            ScriptedFault(at: .seconds(5), .outOfRange, for: .milliseconds(1500)),
            ScriptedFault(at: .seconds(6.6), .outOfRange, for: .milliseconds(1500)),
        ])
        bench.connect()
        bench.run(seconds: 20)
        #expect(bench.take().isEmpty)
        #expect(bench.world.injected[.outOfRange] == 2)
    }

    @Test(
        "The adapter's state is told when it goes and when it returns",
        arguments: [
            (Fault.adapterOff, AdapterState.poweredOff), (.radioBlocked, .blocked), (.adapterVanished, .absent),
            (.systemRestarted, .resetting),
        ])
    func adapter(fault: Fault, state: AdapterState) {
        let bench = bench(fault)
        bench.connect()
        bench.run(seconds: 30)
        let states = bench.events.filter { if case .didUpdateState = $0 { true } else { false } }
        #expect(states == [.didUpdateState(state), .didUpdateState(.poweredOn)])
    }

    @Test("A pending connect and a scan end with an error when the adapter goes off")
    func adapterEndsWaiting() {
        let bench = Bench(script: [
            ScriptedFault(at: .seconds(0), .outOfRange, for: .seconds(50)),
            ScriptedFault(at: .seconds(5), .adapterOff, for: .seconds(5)),
        ])
        bench.begin(seconds: 1)
        bench.central.request(.connect(Self.identifier, attempt: Attempt(number: 1)))
        bench.central.request(.scanForPeripherals(matching: ScanFilter(namePrefixes: ["C"])))
        bench.run(seconds: 6)
        let error = CentralError.adapterUnavailable(.poweredOff)
        #expect(bench.events.contains(.didFailToConnect(Self.identifier, error: error, attempt: Attempt(number: 1))))
        #expect(bench.events.contains(.didFailToScan(error)))
    }

    @Test("Under a fault of connecting, the answer is an error, late, or none")
    func connecting() {
        for fault in [Fault.lostConnect, .connectFailure, .slowConnect, .lateReply] {
            let bench = bench(fault, at: 0, for: 50)
            bench.begin(seconds: 1)
            bench.central.request(.connect(Self.identifier, attempt: Attempt(number: 1)))
            bench.run(seconds: 0.9)
            let early = bench.events.filter { if case .didConnect = $0 { true } else { false } }
            #expect(early.isEmpty, "\(fault)")
            bench.run(seconds: 40)
            #expect(bench.take().count == (fault == .lostConnect ? 0 : 1), "\(fault)")
            #expect(bench.world.injected[fault] == 1)
        }
    }

    @Test("Silent layers do not answer")
    func silentLayers() {
        let bench = Bench(script: [
            ScriptedFault(at: .boot, .silentRestoration, for: .seconds(60)),
            ScriptedFault(at: .boot, .silentRetrieval, for: .seconds(60)),
            ScriptedFault(at: .boot, .silentScan, for: .seconds(60)),
        ])
        bench.begin(seconds: 1)
        bench.central.request(.restoreState(identifiers: [], services: [], attempt: Attempt(number: 1)))
        bench.central.request(.retrieveConnectedPeripherals(withServices: [], attempt: Attempt(number: 2)))
        bench.central.request(.scanForPeripherals(matching: ScanFilter(namePrefixes: ["C"])))
        bench.run(seconds: 30)
        #expect(bench.take().isEmpty)
        #expect(bench.world.injected.occurred.map(\.fault) == [.silentRestoration, .silentRetrieval, .silentScan])
    }

    @Test("A headset held by another program does not advertise, is retrieved, and can be shared")
    func held() {
        let bench = bench(.heldByOtherProgram, at: 2, for: 60)
        bench.begin(seconds: 3)
        bench.central.request(.scanForPeripherals(matching: ScanFilter(namePrefixes: ["C"])))
        bench.run(seconds: 5)
        #expect(bench.take().isEmpty)
        let services = [HeadsetSpecification.countingService]
        bench.central.request(.retrieveConnectedPeripherals(withServices: services, attempt: Attempt(number: 1)))
        bench.central.request(.connect(Self.identifier, attempt: Attempt(number: 2)))
        bench.run(seconds: 1)
        #expect(
            Set(bench.take()) == [
                .didRetrieveConnected([Self.identifier], attempt: Attempt(number: 1)),
                .didConnect(Self.identifier, attempt: Attempt(number: 2)),
            ])
    }

    @Test("In pairing mode other services are advertised; without services only the name")
    func advertisements() {
        for (fault, services) in [(Fault.pairingMode, [BluetoothUUID(UInt16(0xFFE0))]), (.noServiceAdvertised, [])] {
            let bench = bench(fault, at: 1, for: 60)
            bench.begin(seconds: 2)
            bench.central.request(.scanForPeripherals(matching: ScanFilter(namePrefixes: ["C"])))
            bench.run(seconds: 1)
            guard case .didDiscover(_, let advertisement, _)? = bench.take().first else {
                Issue.record("nothing was discovered under \(fault)")
                continue
            }
            #expect(advertisement.serviceUUIDs == services)
        }
    }

    @Test("A changed address leaves cached ones stale; a bond resolves them")
    func addresses() {
        for isBonded in [false, true] {
            var specification = HeadsetSpecification.counting()
            specification.usesPrivateAddress = true
            specification.isBonded = isBonded
            let bench = Bench(headsets: [specification], script: [ScriptedFault(at: .seconds(1), .rotatedAddress)])
            bench.begin(seconds: 2)
            #expect(bench.world.headsets[0].identifier.isResolvablePrivate)
            bench.central.request(.connect(specification.identifier, attempt: Attempt(number: 1)))
            bench.run(seconds: 20)
            #expect(bench.take().count == (isBonded ? 1 : 0))
        }
    }

    @Test("Connecting under two addresses of one headset at once is a violation")
    func twoAddresses() {
        var specification = HeadsetSpecification.counting()
        specification.usesPrivateAddress = true
        let bench = Bench(headsets: [specification], script: [ScriptedFault(at: .seconds(1), .rotatedAddress)])
        bench.begin(seconds: 2)
        bench.central.request(.connect(specification.identifier, attempt: Attempt(number: 1)))
        bench.central.request(.connect(bench.world.headsets[0].identifier, attempt: Attempt(number: 2)))
        #expect(bench.world.contractViolations.map(\.kind) == [.secondConnectToHeadset])
    }

    @Test(
        "Notifications are lost, doubled and swapped",
        arguments: [
            Fault.lostNotification, .duplicatedNotification, .reorderedNotification, .silence, .malformedNotification,
        ])
    func notifications(fault: Fault) {
        let bench = bench(fault, at: 10, for: 1)
        bench.connect()
        let counter = HeadsetSpecification.countingCharacteristic
        bench.central.request(.setNotifyValue(true, for: counter, on: Self.identifier, attempt: Attempt(number: 3)))
        bench.run(seconds: 20)
        let events = bench.take()
        let lengths = Set(events.compactMap { if case .didUpdateValue(_, _, let value, _) = $0 { value.count } else { nil } })
        let numbers = events.compactMap { event -> Int? in
            guard case .didUpdateValue(counter, _, let value, _) = event, value.count == 2 else { return nil }
            return Int(value[0]) | Int(value[1]) << 8
        }
        let steps = Set(zip(numbers, numbers.dropFirst()).map { $1 - $0 })
        switch fault {
        case .duplicatedNotification: #expect(steps == [0, 1])
        case .reorderedNotification: #expect(steps.contains(-1))
        case .malformedNotification: #expect(lengths.isSuperset(of: [0, 1, 2, 512]) && steps.isSubset(of: [0, 1]))
        default: #expect(steps.count == 2 && steps.contains(1) && (steps.max() ?? 0) > 30)
        }
        #expect(bench.world.injected[fault] > 0)
    }

    @Test("Requests fail as the fault says")
    func requests() {
        for fault in [Fault.discoveryFailure, .writeError, .notifyError, .servicesChanged] {
            let bench = bench(fault, at: 5, for: 10)
            bench.connect()
            bench.run(seconds: 4)
            let counter = HeadsetSpecification.countingCharacteristic
            bench.central.request(
                .writeValue([1], to: counter, type: .withResponse, on: Self.identifier, attempt: Attempt(number: 3)))
            bench.central.request(.setNotifyValue(true, for: counter, on: Self.identifier, attempt: Attempt(number: 4)))
            bench.central.request(.discoverServices(on: Self.identifier, attempt: Attempt(number: 5)))
            bench.run(seconds: 1)
            #expect(bench.world.injected[fault] == 1)
            if fault == .servicesChanged { #expect(bench.events.contains(.didModifyServices(Self.identifier))) }
        }
    }

    @Test("Faults of the daemon's machine are handed to the rehearsal")
    func hostFaults() {
        let bench = bench(.diskFull, at: 3, for: 7)
        bench.run(seconds: 5)
        let faults = bench.world.takeHostFaults()
        #expect(faults.map(\.fault) == [.diskFull])
        #expect(faults.first?.duration == .seconds(7))
        #expect(bench.world.takeHostFaults().isEmpty)
    }

    @Test("Every fault has a name that is read back, and a way to happen")
    func names() {
        for fault in Fault.allCases {
            #expect(Fault(name: fault.name) == fault)
            let storm = FaultProbabilities.storm
            let follows: Set<Fault> = [.bufferOverrun, .counterWrap]
            #expect((storm.episode(of: fault)?.perHour ?? storm.probability(of: fault)) > 0 || follows.contains(fault))
        }
        #expect(Fault(name: "earthquake") == nil)
    }
}
