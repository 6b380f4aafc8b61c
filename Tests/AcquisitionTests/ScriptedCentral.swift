import Bluetooth
import Headsets
import Synchronization

/// How the headset of a ``ScriptedCentral`` behaves, and what it was asked: shared by a test and the thread of the central.
final class HeadsetScript: Sendable {
    static let identifier = PeripheralIdentifier(address: 0xC0_55_DA_B0_13_24, type: .public)

    let identifier: PeripheralIdentifier

    init(identifier: PeripheralIdentifier = HeadsetScript.identifier) { self.identifier = identifier }

    /// What the central was asked for; writes by the opcode of their command.
    enum Call: Hashable, Sendable {
        case connect, cancel, discover, subscribe(BluetoothUUID), command(UInt8), trust
    }

    /// What a test may change at any time.
    struct Conduct: Sendable {
        /// The answer to a connection request; nil for a link.
        var connectError: CentralError?
        /// False for one that is away: a connection request stays open.
        var answersConnect = true
        var answersStatusQuery = true
        var condition = HeadsetStatus.Condition.sampling
        /// False for a headset that never confirms that it let go.
        var answersCancel = true
        /// Sends samples once it was started.
        var sendsSamples = true
        /// Takes the link down at the next turn.
        var breaksLink = false
        /// What it says that it sends.
        var stream = ScriptedCentral.stream
        /// A second stream, where it has one, and whether its samples come.
        var motion: StreamDescription?
        var sendsMotion = true
        /// Sends its status unasked at the next turn.
        var sendsStatus = false
        /// The adapter's state.
        var adapter = AdapterState.poweredOn
        /// What it says of its firmware.
        var firmware = "1.0"
    }

    private let state = Mutex((conduct: Conduct(), calls: [Call]()))

    /// Everything that was asked for so far.
    var calls: [Call] { state.withLock { $0.calls } }

    var conduct: Conduct { state.withLock { $0.conduct } }

    func change(_ body: (inout sending Conduct) -> Void) { state.withLock { body(&$0.conduct) } }

    func note(_ call: Call) { state.withLock { $0.calls.append(call) } }

    func forgetCalls() { state.withLock { $0.calls.removeAll() } }

    fileprivate func takeStatus() -> Bool {
        state.withLock { state in
            defer { state.conduct.sendsStatus = false }
            return state.conduct.sendsStatus
        }
    }

    fileprivate func takeBreak() -> Bool {
        state.withLock { state in
            defer { state.conduct.breaksLink = false }
            return state.conduct.breaksLink
        }
    }
}

/// A central with one Buffered EEG headset in range, which answers every request at the next turn, except as its script wants
/// it. Two channels at 250 Hz, 8 samples to a block.
final class ScriptedCentral: Central {
    static let stream = StreamDescription(
        name: "eeg", samplingFrequency: 250, counterModulus: 1 << 32,
        channels: ["C3", "C4"].map { ChannelDescription(name: $0, scale: 1, rawMinimum: -100, rawMaximum: 100) })
    static let boot: UInt32 = 0x5EED_C0DE

    private let script: HeadsetScript
    private var now = MonotonicTime.boot
    private var events: [CentralEvent] = []
    private(set) var state = AdapterState.unknown
    /// The attempt under which the link was established; nil while there is none.
    private var link: Attempt?
    private var nextBlock: MonotonicTime?
    private var nextIndex: UInt32 = 0

    init(_ script: HeadsetScript) { self.script = script }

    var deadline: MonotonicTime? { events.isEmpty && state == script.conduct.adapter ? nextBlock : now }

    func process(at now: MonotonicTime) -> [CentralEvent] {
        self.now = now
        if state != script.conduct.adapter {
            state = script.conduct.adapter
            events.append(.didUpdateState(state))
        }
        if script.takeBreak(), let attempt = link {
            events.append(.didDisconnect(script.identifier, error: .linkLost, attempt: attempt))
            (link, nextBlock) = (nil, nil)
        }
        if script.takeStatus() { answerStatusQuery() }
        while let due = nextBlock, due <= now {
            let conduct = script.conduct
            if conduct.sendsSamples { notify(block(of: 0), on: BufferedEEGService.data, at: due) }
            if conduct.sendsSamples, conduct.sendsMotion, conduct.motion != nil {
                notify(block(of: 1), on: BufferedEEGService.data, at: due)
            }
            nextIndex += 8
            nextBlock = due + .milliseconds(32)
        }
        defer { events.removeAll() }
        return events
    }

    private func block(of stream: Int) -> BufferedEEGMessage {
        .block(
            BufferedEEGBlock(
                header: BufferedEEGBlock.Header(
                    isFromMemory: false, bootIdentifier: Self.boot, stream: stream, channelCount: 2, instantCount: 8,
                    firstIndex: nextIndex), values: [Int32](repeating: 1, count: 16)))
    }

    private func notify(_ message: BufferedEEGMessage, on characteristic: BluetoothUUID, at time: MonotonicTime) {
        events.append(.didUpdateValue(characteristic, on: script.identifier, value: message.encoded(), at: time))
    }

    private func answerStatusQuery() {
        let streams = [script.conduct.stream] + [script.conduct.motion].compactMap { $0 }
        let header = BufferedEEGStatusHeader(
            condition: script.conduct.condition, bootIdentifier: Self.boot,
            ranges: streams.map { _ in BufferedEEGStatusHeader.StreamRange(oldest: nextIndex, end: nextIndex) })
        for message in BufferedEEGMessage.statusReport(header, streams: streams) {
            notify(message, on: BufferedEEGService.control, at: now)
        }
    }

    func request(_ request: CentralRequest) {
        switch request {
        case .restoreState(_, _, let attempt): events.append(.willRestoreState([], attempt: attempt))
        case .retrieveConnectedPeripherals(_, let attempt): events.append(.didRetrieveConnected([], attempt: attempt))
        case .scanForPeripherals:
            events.append(
                .didDiscover(
                    script.identifier, advertisement: Advertisement(serviceUUIDs: [BufferedEEGService.service]), rssi: -60))
        case .stopScan, .setConnectionParameters, .readRSSI: break
        case .trustPeripheral: script.note(.trust)
        case .connect(let peripheral, let attempt): connect(peripheral, attempt)
        case .cancelPeripheralConnection(let peripheral, let attempt):
            script.note(.cancel)
            (link, nextBlock) = (nil, nil)
            if script.conduct.answersCancel { events.append(.didDisconnect(peripheral, error: nil, attempt: attempt)) }
        case .discoverServices(let peripheral, let attempt):
            script.note(.discover)
            let firmware = Characteristic(service: .deviceInformation, uuid: .firmwareRevisionString, properties: [.read])
            let database = GATTDatabase(characteristics: BufferedEEGService.characteristics + [firmware])
            events.append(.didDiscoverServices(peripheral, result: .success(database), attempt: attempt))
        case .setNotifyValue(_, let characteristic, let peripheral, let attempt):
            script.note(.subscribe(characteristic))
            events.append(.didUpdateNotificationState(characteristic, on: peripheral, error: nil, attempt: attempt))
        case .readValue(let characteristic, let peripheral, let attempt):
            guard characteristic != .firmwareRevisionString else {
                let firmware = Array(script.conduct.firmware.utf8)
                events.append(.didReadValue(characteristic, on: peripheral, result: .success(firmware), attempt: attempt))
                return
            }
            guard attempt.lane == .connection else {
                let absent = CentralError.noSuchCharacteristic(characteristic)
                events.append(.didReadValue(characteristic, on: peripheral, result: .failure(absent), attempt: attempt))
                return
            }
            let serial = Array("BE-\(script.identifier.address)".utf8)
            events.append(.didReadValue(characteristic, on: peripheral, result: .success(serial), attempt: attempt))
        case .writeValue(let value, let characteristic, _, let peripheral, let attempt):
            write(value, to: characteristic, on: peripheral, attempt)
        }
    }

    private func connect(_ peripheral: PeripheralIdentifier, _ attempt: Attempt) {
        script.note(.connect)
        guard script.conduct.answersConnect else { return }
        if let error = script.conduct.connectError {
            events.append(.didFailToConnect(peripheral, error: error, attempt: attempt))
        } else {
            link = attempt
            events.append(.didConnect(peripheral, attempt: attempt))
        }
    }

    private func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, on peripheral: PeripheralIdentifier, _ attempt: Attempt
    ) {
        let opcode = value.first ?? 0
        script.note(.command(opcode))
        guard link != nil else { return }
        events.append(.didWriteValue(characteristic, on: peripheral, error: nil, attempt: attempt))
        switch opcode {
        case BufferedEEGCommand.status.opcode where script.conduct.answersStatusQuery: answerStatusQuery()
        case BufferedEEGCommand.start.opcode: nextBlock = now + .milliseconds(32)
        case BufferedEEGCommand.stop.opcode: nextBlock = nil
        default: break
        }
    }
}

/// Several scripted headsets in range of one adapter.
final class ScriptedCentrals: Central {
    private let centrals: [(identifier: PeripheralIdentifier, central: ScriptedCentral)]

    init(_ scripts: [HeadsetScript]) { centrals = scripts.map { ($0.identifier, ScriptedCentral($0)) } }

    var state: AdapterState { centrals[0].central.state }
    var deadline: MonotonicTime? { centrals.compactMap(\.central.deadline).min() }

    func process(at now: MonotonicTime) -> [CentralEvent] { centrals.flatMap { $0.central.process(at: now) } }

    private func central(_ peripheral: PeripheralIdentifier) -> ScriptedCentral? {
        centrals.first { $0.identifier == peripheral }?.central
    }

    func request(_ request: CentralRequest) {
        switch request {
        case .restoreState, .retrieveConnectedPeripherals: centrals[0].central.request(request)
        case .scanForPeripherals: for (_, central) in centrals { central.request(request) }
        default: if let peripheral = request.peripheral { central(peripheral)?.request(request) }
        }
    }
}
