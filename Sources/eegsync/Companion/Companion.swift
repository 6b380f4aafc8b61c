import Bluetooth

/// What stands between how things stand and this machine as a peripheral: publishes, advertises, notifies what changed, and
/// takes commands of phones that a person has paired, which are carried out one after the other. No I/O and no clock in it.
struct Companion {
    /// A command that is to be carried out.
    struct Order: Hashable {
        var command: PhoneCommand
        /// Of whom; for the log.
        var phone: PeripheralIdentifier
        /// When it was written; where it waited behind a start, no earlier than that had ended.
        var time: MonotonicTime
        /// What `eegsync` is run with.
        var arguments: [String] { command.arguments(at: time) }
    }

    /// So many commands wait at most; a phone that sends more is asked to wait for what becomes of them.
    static let waitingMaximum = 16

    private let name: String
    private var status: CompanionStatus?
    private var advertised: Advertisement?
    private var requests: [PeripheralRequest] = [.publish(CompanionService.published)]
    /// Commands that wait, in the order in which they were written.
    private var orders: [Order] = []
    /// True from ``takeOrder()`` to ``finish(_:code:text:)``.
    private var isCarryingOut = false
    /// Characteristics that somebody listens to, and what one notification can hold.
    private var subscriptions: [BluetoothUUID: Int?] = [:]
    /// Who is connected and has read or written; of the other links of the adapter, such as those of headsets, nobody has.
    private(set) var phones: [PeripheralIdentifier] = []
    /// True while somebody looks.
    var isWatched: Bool { !phones.isEmpty || !subscriptions.isEmpty }
    /// What keeps the service from being there; nil for nothing.
    private(set) var problem: String?

    /// - Parameter name: what it advertises as; cut to what a scan response holds.
    init(name: String) {
        self.name = String(decoding: name.utf8(atMost: 26), as: UTF8.self)
    }

    mutating func takeRequests() -> [PeripheralRequest] {
        defer { requests.removeAll() }
        return requests
    }

    /// The command to be carried out now; nil for none, and while one is: a stop must not overtake the start before it.
    mutating func takeOrder() -> Order? {
        guard !isCarryingOut, !orders.isEmpty else { return nil }
        isCarryingOut = true
        return orders.removeFirst()
    }

    /// Takes how things stand now, and notifies what is new.
    mutating func update(_ new: CompanionStatus) {
        let old = status
        status = new
        advertise(new)
        if new.value != old?.value { notify(new.value, of: CompanionService.status) }
        for (index, headset) in new.headsets.enumerated() {
            let known = old.flatMap { $0.headsets.indices.contains(index) ? $0.headsets[index].notified : nil }
            if known != headset.notified { notify(new.record(of: index), of: CompanionService.headsets) }
        }
    }

    private mutating func advertise(_ status: CompanionStatus) {
        var advertisement = Advertisement(localName: name, serviceUUIDs: [CompanionService.service])
        let byte = status.severity.code | (status.isPaused ? 0x80 : 0)
        advertisement.manufacturerData = [
            .init(company: CompanionService.company, data: CompanionService.companyDataPrefix + [byte])
        ]
        guard advertisement != advertised else { return }
        advertised = advertisement
        requests.append(.startAdvertising(advertisement))
    }

    /// What does not fit is cut: the phone reads the rest.
    private mutating func notify(_ value: [UInt8], of uuid: BluetoothUUID) {
        guard let maximum = subscriptions[uuid] else { return }
        requests.append(.updateValue(maximum.map { Array(value.prefix($0)) } ?? value, of: uuid))
    }

    /// Takes what happened on the radio.
    ///
    /// - Parameters:
    ///   - now: when it happened.
    ///   - isAllowed: whether a person has paired a phone for commands.
    mutating func take(_ event: PeripheralEvent, at now: MonotonicTime, isAllowed: (PeripheralIdentifier) -> Bool) {
        switch event {
        case .didUpdateState, .didConnect, .didDisplayPasskey, .didPair: break
        case .didPublish(let error), .didStartAdvertising(let error): problem = error
        case .didDisconnect(let phone): phones.removeAll { $0 == phone }
        case .didSubscribe(let uuid, let maximum):
            subscriptions[uuid] = .some(maximum)
            // Whoever begins to listen knows at once.
            guard let status else { return }
            if uuid == CompanionService.status { notify(status.value, of: uuid) }
            if uuid == CompanionService.headsets {
                for index in status.headsets.indices { notify(status.record(of: index), of: uuid) }
            }
        case .didUnsubscribe(let uuid): subscriptions[uuid] = nil
        case .didReceiveRead(let number, let uuid, let phone):
            note(phone)
            requests.append(.respond(number, read(uuid)))
        case .didReceiveWrite(let number, let value, let uuid, let phone):
            note(phone)
            do throws(ATTError) {
                orders.append(try order(value, uuid, phone, at: now, isAllowed))
                requests.append(.respond(number, .success([])))
            } catch {
                requests.append(.respond(number, .failure(error)))
            }
        }
    }

    private mutating func note(_ phone: PeripheralIdentifier?) {
        if let phone, !phones.contains(phone) { phones.append(phone) }
    }

    private func read(_ uuid: BluetoothUUID) -> Result<[UInt8], ATTError> {
        switch uuid {
        case CompanionService.status: .success(status?.value ?? [])
        case CompanionService.headsets: .success(status?.headsetsValue ?? [])
        default: .failure(.readNotPermitted)
        }
    }

    /// bluetoothd lets nobody write whose link is not authenticated; that this phone was paired for it is asked here.
    private func order(
        _ value: [UInt8], _ uuid: BluetoothUUID, _ phone: PeripheralIdentifier?, at now: MonotonicTime,
        _ isAllowed: (PeripheralIdentifier) -> Bool
    ) throws(ATTError) -> Order {
        guard uuid == CompanionService.control else { throw .writeNotPermitted }
        guard let phone, isAllowed(phone) else { throw .insufficientAuthorization }
        let command = try PhoneCommand(decoding: value)
        guard orders.count < Self.waitingMaximum else { throw .procedureAlreadyInProgress }
        return Order(command: command, phone: phone, time: now)
    }

    /// A command has ended: notifies its opcode, its exit code, and a sentence; the next one may be carried out.
    ///
    /// - Parameter end: when it ended.
    mutating func finish(_ order: Order, code: Int32, text: String, at end: MonotonicTime) {
        isCarryingOut = false
        // A recording begins when the start is carried out: a mark that was written meanwhile would be of an instant before it.
        if case .record = order.command, code == 0 {
            for index in orders.indices { orders[index].time = max(orders[index].time, end) }
        }
        let header = [order.command.opcode, UInt8(truncatingIfNeeded: code)]
        notify(header + text.printable.utf8(atMost: CompanionService.valueLengthMaximum - 2), of: CompanionService.control)
    }
}
