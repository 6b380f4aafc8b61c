import Bluetooth
import Headsets

/// What most cases begin with. Limits are far above what a good central needs, and far below "never".
extension CentralUnderTest {
    /// What finds a headset with memory, the only one that is scanned for.
    static let filter = BufferedEEGProfile().recognition.scanFilter
    /// What finds nothing: a service of this project's own range that no headset has.
    static let foreignService = BluetoothUUID(high: 0xAB87_FFFF_81BC_439D, low: 0xA90A_BE5D_3A2C_E5F9)
    static let foreignFilter = ScanFilter(serviceUUIDs: [foreignService])

    /// The model of the bench's headset.
    var profile: any HeadsetProfile { bench.profile }
    /// A characteristic that notifies.
    var notifying: BluetoothUUID { profile.requiredCharacteristics.first ?? BufferedEEGService.control }

    /// Where nobody is.
    var nobody: PeripheralIdentifier {
        PeripheralIdentifier(address: 0xC0_DE_AD_00_00_01, type: profile.usesSerialPort ? .classic : .random)
    }

    /// Carries the headset away for so long that a link to it is lost, and then for a while: at Bluetooth Classic's supervision
    /// timeout, 20 s (Vol 4, Part E, 6.21), or long before.
    func loseLink(for duration: Duration) {
        bench.takeAway(for: duration + (profile.usesSerialPort ? .seconds(20) : .zero))
    }

    // MARK: Waiting for answers

    /// Makes a request and waits for its answer.
    @discardableResult
    func answer(to request: Request, within limit: Duration = .seconds(10)) throws(Breach) -> CentralEvent {
        try answer(to: request, ask(request), within: limit)
    }

    /// Waits for the answer to a request.
    @discardableResult
    func answer(
        to request: Request, _ attempt: Attempt, within limit: Duration = .seconds(10)
    ) throws(Breach) -> CentralEvent {
        try wait(limit, for: "the answer \(attempt) to \(request)") { event in
            event.attempt == attempt && request.isAnswered(by: event) ? event : nil
        }
    }

    func waitForState(_ state: AdapterState, within limit: Duration) throws(Breach) {
        try wait(limit, for: "the state \(state)") { $0 == .didUpdateState(state) ? () : nil }
    }

    /// Waits for the end of a link that nobody cancelled.
    func waitForLoss(of link: Attempt, within limit: Duration = .seconds(25)) throws(Breach) -> CentralError {
        try wait(limit, for: "the end of the link \(link)") { [headset] event in
            guard case .didDisconnect(headset, let error?, let attempt) = event, attempt == link else { return nil }
            return error
        }
    }

    // MARK: Steps

    /// Waits until the adapter is on.
    func begin() throws(Breach) {
        try waitForState(.poweredOn, within: .seconds(30))
    }

    /// Scans until the headset is found.
    func find() throws(Breach) {
        // Its address is all that is needed.
        if profile.usesSerialPort { return }
        scan(Self.filter)
        try sight()
        stopScan()
    }

    /// Waits for an advertisement of the headset.
    func sight(within limit: Duration = .seconds(20)) throws(Breach) {
        try wait(limit, for: "an advertisement of the headset") { [headset] event in
            if case .didDiscover(headset, _, _) = event { () } else { nil }
        }
    }

    /// Connects to the headset that was found; the attempt of the connect.
    @discardableResult
    func connect() throws(Breach) -> Attempt {
        let attempt = ask(.connect(headset))
        let event = try answer(to: .connect(headset), attempt, within: .seconds(30))
        guard case .didConnect = event else { throw Breach(finding: "the headset is in range, but: \(event)") }
        return attempt
    }

    /// From the beginning to a link.
    @discardableResult
    func link() throws(Breach) -> Attempt {
        try begin()
        try find()
        return try connect()
    }

    /// From the beginning to a link whose services are known.
    @discardableResult
    func establish() throws(Breach) -> Attempt {
        let attempt = try link()
        try discover()
        return attempt
    }

    @discardableResult
    func discover() throws(Breach) -> GATTDatabase {
        let event = try answer(to: .discover(headset), within: .seconds(30))
        guard case .didDiscoverServices(_, .success(let database), _) = event else {
            throw Breach(finding: "the discovery failed: \(event)")
        }
        return database
    }

    func setNotify(_ on: Bool, _ uuid: BluetoothUUID? = nil) throws(Breach) {
        let event = try answer(to: .setNotify(on, uuid ?? notifying, headset))
        if case .didUpdateNotificationState(_, _, let error?, _) = event {
            throw Breach(finding: "notifications could not be set: \(error)")
        }
    }

    /// Writes a command with response.
    func write(_ command: BufferedEEGCommand) throws(Breach) {
        let event = try answer(
            to: .write(command.encoded(), BufferedEEGService.control, .withResponse, headset))
        if case .didWriteValue(_, _, let error?, _) = event { throw Breach(finding: "a write failed: \(error)") }
    }

    /// Waits for a sign of life: the answer to a command, or what a serial port sends anyway.
    func expectLife() throws(Breach) {
        if !profile.usesSerialPort { try write(.status) }
        try waitForValue(of: notifying)
    }

    /// Waits for a notification.
    func waitForValue(of uuid: BluetoothUUID, within limit: Duration = .seconds(5)) throws(Breach) {
        try wait(limit, for: "a notification of \(uuid)") { event in
            if case .didUpdateValue(uuid, _, _, _) = event { () } else { nil }
        }
    }

    /// Closes the link to the headset, or what else there is to cancel.
    @discardableResult
    func cancel() throws(Breach) -> Attempt {
        let attempt = ask(.cancel(headset))
        try answer(to: .cancel(headset), attempt, within: .seconds(15))
        return attempt
    }

    /// Requires that every request to the headset is refused, because it is not connected.
    func expectNotConnected() throws(Breach) {
        let control = notifying
        let command = BufferedEEGCommand.status.encoded()
        let requests: [Request] = [
            .discover(headset), .setNotify(true, control, headset), .setNotify(false, control, headset),
            .read(.serialNumberString, headset), .write(command, control, .withResponse, headset),
        ]
        ask(.write(command, control, .withoutResponse, headset))
        for (request, attempt) in requests.map({ ($0, ask($0)) }) {
            try expectFailure(.notConnected, of: answer(to: request, attempt))
        }
    }

    /// Requires that an answer carries an error.
    func expectFailure(_ expected: CentralError, of event: CentralEvent) throws(Breach) {
        guard event.failure == expected else { throw Breach(finding: "expected \(expected), got \(event)") }
    }

    /// Requires that nothing is emitted for a while but what `isExpected` names.
    func expectSilence(_ duration: Duration, but isExpected: (CentralEvent) -> Bool = { _ in false }) throws(Breach) {
        let unexpected = try watch(duration).filter { !isExpected($0) }
        if let first = unexpected.first { throw Breach(finding: "\(unexpected.count) unexpected events, first: \(first)") }
    }
}

extension CentralEvent {
    /// The attempt that the event carries; nil for what answers no call.
    var attempt: Attempt? {
        switch self {
        case .didUpdateState, .didDiscover, .didNoticeHungRadio, .didFailToScan, .didUnblock, .didModifyServices,
            .didBeginPairing, .didUpdateValue, .didTransferPacket, .didReadRSSI:
            nil
        case .willRestoreState(_, let attempt), .didRetrieveConnected(_, let attempt), .didConnect(_, let attempt),
            .didFailToConnect(_, _, let attempt), .didDisconnect(_, _, let attempt), .didDiscoverServices(_, _, let attempt),
            .didUpdateNotificationState(_, _, _, let attempt), .didReadValue(_, _, _, let attempt),
            .didWriteValue(_, _, _, let attempt):
            attempt
        }
    }

    /// The error that the event carries; nil for none.
    var failure: CentralError? {
        switch self {
        case .didFailToScan(let error), .didFailToConnect(_, let error, _), .didDiscoverServices(_, .failure(let error), _),
            .didReadValue(_, _, .failure(let error), _):
            error
        case .didDisconnect(_, let error, _), .didUpdateNotificationState(_, _, let error, _),
            .didWriteValue(_, _, let error, _):
            error
        default: nil
        }
    }

    /// True for an advertisement.
    var isDiscovery: Bool {
        if case .didDiscover = self { true } else { false }
    }

    /// True for a notification.
    var isValue: Bool {
        if case .didUpdateValue = self { true } else { false }
    }
}
