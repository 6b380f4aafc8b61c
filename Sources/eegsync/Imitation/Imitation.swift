import Bluetooth
import Simulation

/// What stands between an imitated headset and this machine as a peripheral: what a central does comes in as events, and what
/// the headset does goes out as requests. No I/O and no clock in it.
struct Imitation {
    /// The headset.
    let headset: ImitatedHeadset
    private var schedule: FaultSchedule
    private let began: MonotonicTime

    private var requests: [PeripheralRequest] = []
    private var lines: [String] = []
    private var advertised: Advertisement?
    private var central: PeripheralIdentifier?
    private var isPublished = false
    private var lastProblem: String?
    /// What one notification can hold, by characteristic; what nobody has subscribed is not in it.
    private var subscriptions: [BluetoothUUID: Int?] = [:]

    /// Reads and writes that the headset leaves unanswered.
    private var unanswered: [RequestNumber] = []

    private(set) var connectionCount = 0
    private(set) var notificationCount = 0
    /// How many notifications were longer than the central's MTU lets them be.
    private(set) var tooLongCount = 0

    /// - Parameters:
    ///   - headset: switched on at `start`.
    ///   - schedule: the faults.
    ///   - start: from when on times are counted in what is said to people.
    init(_ headset: ImitatedHeadset, schedule: FaultSchedule, start: MonotonicTime) {
        self.headset = headset
        self.schedule = schedule
        began = start
        let keepsOrder = headset.specification.sendsInOrder
        requests.append(
            .publish(headset.database.characteristics.map { PublishedCharacteristic($0, keepsOrder: keepsOrder) }))
    }

    /// When ``advance(to:)`` is due; nil for not before an event.
    var deadline: MonotonicTime? { [headset.deadline, schedule.deadline].compactMap(\.self).min() }

    mutating func takeRequests() -> [PeripheralRequest] {
        defer { requests.removeAll(keepingCapacity: true) }
        return requests
    }

    /// Takes what a person may want to know, a line for each.
    mutating func takeLines() -> [String] {
        defer { lines.removeAll() }
        return lines
    }

    /// Lets the headset's time go on.
    mutating func advance(to now: MonotonicTime) {
        take(headset.advance(to: now), at: now)
        if let fault = schedule.take(at: now) {
            headset.strike(fault.fault, for: schedule.duration)
            say(fault.isInstant ? fault.name : "\(fault.name) for \(Quantity.duration(schedule.duration))", at: now)
            take(headset.advance(to: now), at: now)
        }
        updateAdvertisement()
    }

    private mutating func take(_ outputs: [ImitatedHeadset.Output], at now: MonotonicTime) {
        for output in outputs {
            switch output {
            case .notification(let value, let uuid): notify(value, uuid, at: now)
            case .linkEnded:
                guard let central else { continue }
                say("the headset ends the link", at: now)
                endRequests()
                requests.append(.disconnect(central))
            }
        }
    }

    private mutating func notify(_ value: [UInt8], _ uuid: BluetoothUUID, at now: MonotonicTime) {
        guard let maximum = subscriptions[uuid] else { return }
        if let maximum, value.count > maximum {
            if tooLongCount == 0 {
                say("the central takes \(maximum) bytes at most: notifications of \(value.count) are left out", at: now)
            }
            tooLongCount += 1
            return
        }
        notificationCount += 1
        requests.append(.updateValue(value, of: uuid))
    }

    private mutating func updateAdvertisement() {
        let wanted = isPublished && headset.isAdvertising ? headset.advertisement : nil
        guard wanted != advertised else { return }
        advertised = wanted
        requests.append(wanted.map { .startAdvertising($0) } ?? .stopAdvertising)
    }

    /// Takes what happened on the radio; the headset's time is to be advanced before.
    mutating func take(_ event: PeripheralEvent, at now: MonotonicTime) {
        switch event {
        case .didUpdateState(let state):
            if state != .poweredOn { say("the adapter is \(state.rawValue)", at: now) }
        case .didPublish(let error):
            if error == nil { isPublished = true }
            report(error, "the services", at: now)
        case .didStartAdvertising(let error): report(error, "the advertisement", at: now)
        case .didConnect(let identifier): connect(identifier, at: now)
        case .didDisconnect(let identifier):
            guard identifier == central else { return }
            central = nil
            endRequests()
            subscriptions.removeAll()
            headset.disconnect()
            say("disconnected", at: now)
        case .didSubscribe(let uuid, let maximum):
            subscriptions[uuid] = .some(maximum)
            headset.setNotifyValue(true, for: uuid)
        case .didUnsubscribe(let uuid):
            subscriptions[uuid] = nil
            headset.setNotifyValue(false, for: uuid)
        case .didReceiveRead(let number, let uuid, _):
            respond(number, headset.read(uuid))
        case .didReceiveWrite(let number, let value, let uuid, _):
            respond(number, headset.write(value, to: uuid)?.map { [] })
        case .didDisplayPasskey, .didPair: break
        }
        updateAdvertisement()
    }

    private mutating func connect(_ identifier: PeripheralIdentifier, at now: MonotonicTime) {
        guard central == nil, headset.connect() else {
            requests.append(.disconnect(identifier))
            return
        }
        central = identifier
        connectionCount += 1
        say("connected by \(identifier.addressDescription)", at: now)
    }

    /// Answers as the headset does; what it leaves unanswered waits for the end of the link.
    private mutating func respond(_ number: RequestNumber, _ result: Result<[UInt8], ATTError>?) {
        guard let result else { return unanswered.append(number) }
        requests.append(.respond(number, result))
    }

    /// bluetoothd up to 5.66 dies where a link ends whose read or write a program has not answered.
    private mutating func endRequests() {
        for number in unanswered { requests.append(.respond(number, .failure(.unlikelyError))) }
        unanswered.removeAll()
    }

    /// The headset is switched off: nobody waits for an answer, or for a supervision timeout.
    mutating func end() {
        endRequests()
        requests.append(.stopAdvertising)
        if let central { requests.append(.disconnect(central)) }
    }

    /// A refusal is said once, until it is another one.
    private mutating func report(_ error: String?, _ what: String, at now: MonotonicTime) {
        if let error, error != lastProblem { say("bluetoothd refuses \(what), which are tried again: \(error)", at: now) }
        lastProblem = error
    }

    private mutating func say(_ text: String, at now: MonotonicTime) {
        lines.append("\(Quantity.duration(now - began)): \(text)")
    }
}
