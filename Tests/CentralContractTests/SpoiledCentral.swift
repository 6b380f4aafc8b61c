import Bluetooth
import Headsets

/// A central that a planted defect sits on.
final class SpoiledCentral: Central {
    private let central: any Central
    private let defect: PlantedDefect
    private var isScanning = false
    private var lastAttempt = Attempt.none
    private var lastProcessed = MonotonicTime.boot
    private var held: [CentralEvent] = []
    private var extra: [CentralEvent] = []
    private var linked: [PeripheralIdentifier] = []
    private var isNotifying: [BluetoothUUID] = []

    init(_ central: any Central, defect: PlantedDefect) {
        self.central = central
        self.defect = defect
    }

    var state: AdapterState {
        defect == .knowsStateEarly && central.state == .unknown ? .poweredOn : central.state
    }

    var deadline: MonotonicTime? {
        switch defect {
        case .spins: lastProcessed
        case .deliversLate: held.isEmpty ? central.deadline : nil
        default: extra.isEmpty ? central.deadline : lastProcessed
        }
    }

    func process(at now: MonotonicTime) -> [CentralEvent] {
        lastProcessed = now
        var events = extra + central.process(at: now).flatMap { spoil($0, now) }
        extra = []
        switch defect {
        case .deliversLate:
            let late = held
            held = events.filter(\.isAnswer)
            events = late + events.filter { !$0.isAnswer }
        case .reversesValues: events = events.filter { !$0.isValue } + events.filter(\.isValue).reversed()
        default: break
        }
        for event in events { note(event) }
        return events
    }

    private func note(_ event: CentralEvent) {
        switch event {
        case .didConnect(let peripheral, _): linked.append(peripheral)
        case .didDisconnect(let peripheral, _, _):
            linked.removeAll { $0 == peripheral }
            isNotifying = []
        default: break
        }
    }

    // MARK: Events

    /// What becomes of an event.
    private func spoil(_ event: CentralEvent, _ now: MonotonicTime) -> [CentralEvent] {
        switch (defect, event) {
        case (.emitsStateTwice, .didUpdateState): [event, event]
        case (.hidesFailedScans, .didFailToScan): []
        case (.forgetsPendingConnects, .didFailToConnect(_, .adapterUnavailable, _)): []
        case (.answersTwice, _): event.isAnswer ? [event, event] : [event]
        case (.dropsReads, .didReadValue(_, _, .success, _)): []
        case (.dropsIdleCancels, .didDisconnect(let peripheral, nil, _)): linked.contains(peripheral) ? [event] : []
        case (.dropsNotConnected, _): event.isNotConnected ? [] : [event]
        case (.modifiesServices, .didConnect(let peripheral, _)): [event, .didModifyServices(peripheral)]
        default: spoilLink(event) ?? spoilAttribute(event, now)
        }
    }

    private func spoilLink(_ event: CentralEvent) -> [CentralEvent]? {
        switch (defect, event) {
        case (.losesWithoutAttempt, .didDisconnect(let peripheral, let error?, _)):
            [.didDisconnect(peripheral, error: error, attempt: .none)]
        case (.losesWithoutError, .didDisconnect(let peripheral, .some, let attempt)):
            [.didDisconnect(peripheral, error: nil, attempt: attempt)]
        case (.hidesLosses, .didDisconnect(_, .some, _)): []
        case (.losesWhatWasCancelled, .didDisconnect(let peripheral, nil, _)):
            linked.contains(peripheral) ? [.didDisconnect(peripheral, error: .linkLost, attempt: .none), event] : [event]
        case (.cancelsWithError, .didDisconnect(let peripheral, nil, let attempt)):
            [.didDisconnect(peripheral, error: .linkLost, attempt: attempt)]
        case (.restoresNothing, .willRestoreState(_, let attempt)): [.willRestoreState([], attempt: attempt)]
        default: nil
        }
    }

    private func spoilAttribute(_ event: CentralEvent, _ now: MonotonicTime) -> [CentralEvent] {
        switch (defect, event) {
        case (.carriesLastAttempt, .didReadValue(let uuid, let peripheral, let result, _)):
            [.didReadValue(uuid, on: peripheral, result: result, attempt: lastAttempt)]
        case (.overlooksCharacteristic, .didDiscoverServices(let peripheral, .success(let database), let attempt)):
            [
                .didDiscoverServices(
                    peripheral, result: .success(GATTDatabase(characteristics: database.characteristics.dropLast())),
                    attempt: attempt)
            ]
        case (.inventsCharacteristics, .didWriteValue(let uuid, let peripheral, .noSuchCharacteristic, let attempt)),
            (.hidesRefusals, .didWriteValue(let uuid, let peripheral, .att, let attempt)):
            [.didWriteValue(uuid, on: peripheral, error: nil, attempt: attempt)]
        case (.stampsWithBoot, .didUpdateValue(let uuid, let peripheral, let value, _)):
            [.didUpdateValue(uuid, on: peripheral, value: value, at: .boot)]
        case (.stampsAhead, .didUpdateValue(let uuid, let peripheral, let value, let arrival)):
            [.didUpdateValue(uuid, on: peripheral, value: value, at: arrival + .milliseconds(1))]
        case (.reversesValues, .didUpdateValue(let uuid, let peripheral, let value, let arrival)):
            // As if each had been read with the one before it.
            [
                .didUpdateValue(uuid, on: peripheral, value: value, at: arrival - .milliseconds(1)),
                .didUpdateValue(uuid, on: peripheral, value: value, at: arrival),
            ]
        case (.swapsReads, .didReadValue(let uuid, let peripheral, let result, let attempt)):
            [
                .didReadValue(
                    uuid, on: peripheral, result: result,
                    attempt: Attempt(number: attempt.number % 2 == 0 ? attempt.number - 1 : attempt.number + 1))
            ]
        default: [event]
        }
    }

    // MARK: Requests

    func request(_ request: CentralRequest) {
        switch request {
        case .connect(_, let attempt), .cancelPeripheralConnection(_, let attempt), .discoverServices(_, let attempt),
            .setNotifyValue(_, _, _, let attempt), .readValue(_, _, let attempt), .writeValue(_, _, _, _, let attempt):
            lastAttempt = attempt
        default: break
        }
        if let spoilt = spoil(request) { central.request(spoilt) }
    }

    /// What becomes of a request; nil where nothing does.
    private func spoil(_ request: CentralRequest) -> CentralRequest? {
        switch (defect, request) {
        case (.retrievesEverything, .retrieveConnectedPeripherals(_, let attempt)):
            return .retrieveConnectedPeripherals(withServices: [BufferedEEGService.service], attempt: attempt)
        case (.ignoresFilter, .scanForPeripherals(let filter)):
            return .scanForPeripherals(matching: filter.union(ScanFilter(serviceUUIDs: [BufferedEEGService.service])))
        case (.keepsFirstFilter, .scanForPeripherals):
            defer { isScanning = true }
            return isScanning ? nil : request
        case (.scansOn, .stopScan): return nil
        case (_, .stopScan): isScanning = false
        case (.forgetsCancel, .cancelPeripheralConnection(let peripheral, let attempt)) where !linked.contains(peripheral):
            extra.append(.didDisconnect(peripheral, error: nil, attempt: attempt))
            return nil
        case (.notifiesOn, .setNotifyValue(false, let characteristic, let peripheral, let attempt))
        where linked.contains(peripheral):
            extra.append(.didUpdateNotificationState(characteristic, on: peripheral, error: nil, attempt: attempt))
            return nil
        case (.dropsRepeatedNotify, .setNotifyValue(let isOn, let characteristic, _, _)):
            if isOn, isNotifying.contains(characteristic) { return nil }
            if isOn { isNotifying.append(characteristic) } else { isNotifying.removeAll { $0 == characteristic } }
        case (.answersWriteCommands, .writeValue(_, let characteristic, .withoutResponse, let peripheral, let attempt)):
            extra.append(.didWriteValue(characteristic, on: peripheral, error: nil, attempt: attempt))
        default: break
        }
        return request
    }
}

extension CentralEvent {
    /// True for the answer to a call.
    fileprivate var isAnswer: Bool {
        switch self {
        case .didUpdateState, .didDiscover, .didNoticeHungRadio, .didFailToScan, .didUnblock, .didModifyServices,
            .didBeginPairing, .didUpdateValue, .didTransferPacket, .didReadRSSI:
            false
        case .didDisconnect(_, let error, _): error == nil
        default: true
        }
    }

    fileprivate var isNotConnected: Bool {
        switch self {
        case .didDiscoverServices(_, .failure(.notConnected), _), .didReadValue(_, _, .failure(.notConnected), _),
            .didUpdateNotificationState(_, _, .notConnected, _), .didWriteValue(_, _, .notConnected, _):
            true
        default: false
        }
    }

    fileprivate var isValue: Bool {
        if case .didUpdateValue = self { true } else { false }
    }
}
