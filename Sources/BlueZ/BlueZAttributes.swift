import Bluetooth

/// Notifications, reads and writes, with the sockets that they go through.
struct BlueZAttributes {
    /// Requests to the peripheral: a transaction of the Attribute Protocol may take 30 s (Vol 3, Part F, 3.3.3).
    private static let requestLimit = Duration.seconds(35)
    /// How long bluetoothd may take to notice that a socket of AcquireNotify was closed.
    private static let releaseLimit = Duration.milliseconds(500)
    /// Within which time an equal value is the same one again: less than the shortest connection interval, 7.5 ms.
    private static let repetitionLimit = Duration.milliseconds(5)

    /// Peripherals whose notifications are asked for with StartNotify.
    private let startNotify: [PeripheralIdentifier]
    /// Characteristics of any peripheral whose notifications are.
    private let counted: [BluetoothUUID]
    /// Notification sockets and sessions.
    private(set) var subscriptions: [Subscription] = []
    /// Sockets for writing without response.
    private(set) var writeSockets: [WriteSocket] = []
    /// Requests to characteristics, those under way first, one at a time for each characteristic.
    private var operations: [AttributeOperation] = []

    init(options: BlueZOptions) {
        startNotify = options.startNotify
        counted = options.countedCharacteristics
    }

    // MARK: Requests

    /// Takes a request that concerns a characteristic.
    ///
    /// - Parameter link: the link to the peripheral; nil where it is not connected.
    mutating func take(
        _ request: CentralRequest, to uuid: BluetoothUUID, on link: BlueZLink?, _ adapter: BlueZAdapter,
        _ exchange: inout BusExchange
    ) {
        func fail(_ error: CentralError) {
            if let answer = request.failure(error) { exchange.emit(answer) }
        }
        guard let link else { return fail(.notConnected) }
        guard let object = adapter.characteristics(of: link.path).first(where: { $0.uuid == uuid }) else {
            return fail(.noSuchCharacteristic(uuid))
        }
        let kind: AttributeOperation.Kind
        switch request {
        case .setNotifyValue(false, _, _, _): kind = .stopNotify
        case .setNotifyValue:
            kind = startNotify.contains(link.identifier) || counted.contains(uuid) ? .startNotify : .acquireNotify
        case .writeValue(let value, _, .withoutResponse, _, _):
            if let socket = writeSockets.first(where: { $0.path == object.path }) {
                return exchange.perform(.send(value, socket: socket.socket))
            }
            // While a socket is acquired, bluetoothd refuses every other write: only for what is never written otherwise.
            let mayAcquire =
                object.offersAcquireWrite && !object.flags.contains("write")
                && !operations.contains { $0.path == object.path }
            kind = mayAcquire ? .acquireWrite(value) : .write(value, .withoutResponse)
        case .writeValue(let value, _, .withResponse, _, _): kind = .write(value, .withResponse)
        default: kind = .read
        }
        let isFree = !operations.contains { $0.path == object.path }
        operations.append(
            AttributeOperation(
                number: exchange.nextCall(), identifier: link.identifier, devicePath: link.path, uuid: uuid,
                path: object.path, kind: kind, attempt: request.attempt ?? .none))
        if isFree { begin(operations.count - 1, &exchange) }
    }

    // MARK: One at a time

    private mutating func begin(_ index: Int, _ exchange: inout BusExchange) {
        if needsNoCall(index, &exchange) { return conclude(index, .success([]), &exchange) }
        let operation = operations[index]
        if operation.deadline != nil { return }
        let (member, arguments): (String, [BusValue]) =
            switch operation.kind {
            case .acquireNotify: ("AcquireNotify", [.options()])
            case .startNotify: ("StartNotify", [])
            case .stopNotify, .releaseNotify: ("StopNotify", [])
            case .read: ("ReadValue", [.options()])
            case .write(let value, let type):
                (
                    "WriteValue",
                    [.bytes(value), .options(["type": .string(type == .withResponse ? "request" : "command")])]
                )
            case .acquireWrite: ("AcquireWrite", [.options()])
            }
        exchange.call(
            member, of: BlueZInterface.characteristic, at: operation.path, arguments,
            for: .operation(operation.number), within: Self.requestLimit)
    }

    /// True where there is nothing to ask bluetoothd for: notifications are on or off as wanted, or a value went through the
    /// socket for writes. Begins to switch notifications off where closing a socket does it.
    private mutating func needsNoCall(_ index: Int, _ exchange: inout BusExchange) -> Bool {
        let operation = operations[index]
        let current = subscriptions.first { $0.path == operation.path }
        switch operation.kind {
        case .acquireNotify, .startNotify: return current != nil
        case .stopNotify:
            subscriptions.removeAll { $0.path == operation.path }
            guard let socket = current?.socket else { return current == nil }
            exchange.perform(.close(socket))
            operations[index].kind = .releaseNotify
            operations[index].deadline = exchange.now + Self.releaseLimit
            return false
        case .write(let value, .withoutResponse):
            // It has waited while the socket was acquired; from then on bluetoothd refuses every other write.
            guard let socket = writeSockets.first(where: { $0.path == operation.path }) else { return false }
            exchange.perform(.send(value, socket: socket.socket))
            return true
        case .releaseNotify, .read, .write, .acquireWrite: return false
        }
    }

    /// Goes on where bluetoothd has not said in time that a socket is closed.
    mutating func due(_ exchange: inout BusExchange) {
        while let index = operations.firstIndex(where: { $0.deadline.map { $0 <= exchange.now } ?? false }) {
            conclude(index, .success([]), &exchange)
        }
    }

    /// When ``due(_:)`` is to be called; nil for never.
    var deadline: MonotonicTime? { operations.compactMap(\.deadline).min() }

    mutating func replied(
        _ number: CallNumber, _ result: Result<[BusValue], BusError>, _ pairing: inout BlueZPairing,
        _ adapter: BlueZAdapter, _ exchange: inout BusExchange
    ) {
        guard let index = operations.firstIndex(where: { $0.number == number }) else {
            return exchange.closeDescriptors(in: result)
        }
        guard case .failure(let error) = result else { return conclude(index, result, &exchange) }
        let wantsPairing = BlueZErrorTable.attribute(error) == .att(.insufficientAuthentication)
        if wantsPairing, pairing.forbids(operations[index].devicePath) {
            conclude(index, .failure(.repairingForbidden), &exchange)
        } else if !retry(index, after: error, &pairing, adapter, &exchange) {
            conclude(index, result, &exchange)
        }
    }

    private mutating func conclude(
        _ index: Int, _ result: Result<[BusValue], BusError>, _ exchange: inout BusExchange
    ) {
        let operation = operations.remove(at: index)
        finish(operation, result, &exchange)
        if let next = operations.firstIndex(where: { $0.path == operation.path }) { begin(next, &exchange) }
    }

    /// Tries another way to the same end. Returns false where there is none.
    private mutating func retry(
        _ index: Int, after error: BusError, _ pairing: inout BlueZPairing, _ adapter: BlueZAdapter,
        _ exchange: inout BusExchange
    ) -> Bool {
        let operation = operations[index]
        switch operation.kind {
        case .acquireNotify where BlueZErrorTable.asksForStartNotify(error):
            operations[index].kind = .startNotify
        case .acquireWrite(let value): operations[index].kind = .write(value, .withoutResponse)
        default:
            guard BlueZErrorTable.attribute(error) == .att(.insufficientAuthentication), !operation.wasPaired else {
                return false
            }
            operations[index].wasPaired = true
            operations[index].awaitsPairing = pairing.pair(operation.devicePath, adapter, &exchange)
            return operations[index].awaitsPairing
        }
        begin(index, &exchange)
        return true
    }

    /// Begins the operations again that waited for the pairing of a device.
    mutating func paired(_ path: String, _ exchange: inout BusExchange) {
        while let index = operations.firstIndex(where: { $0.awaitsPairing && $0.devicePath == path }) {
            operations[index].awaitsPairing = false
            begin(index, &exchange)
        }
    }

    // MARK: Answers

    private mutating func finish(
        _ operation: AttributeOperation, _ result: Result<[BusValue], BusError>, _ exchange: inout BusExchange
    ) {
        let (identifier, uuid, attempt) = (operation.identifier, operation.uuid, operation.attempt)
        var values: [BusValue] = []
        var failure: CentralError?
        switch result {
        case .success(let reply): values = reply
        case .failure(let error): failure = BlueZErrorTable.attribute(error)
        }
        var socket: Int32?
        if wantsSocket(operation), case .descriptor(let descriptor)? = values.first {
            socket = descriptor
            values.removeFirst()
        }
        exchange.closeDescriptors(in: .success(values))
        switch operation.kind {
        case .acquireNotify:
            if failure == nil, !isSubscribed(operation.path) { failure = adopt(socket, operation, &exchange) }
            exchange.emit(.didUpdateNotificationState(uuid, on: identifier, error: failure, attempt: attempt))
        case .startNotify:
            if failure == nil, !isSubscribed(operation.path) {
                subscriptions.append(
                    Subscription(identifier: identifier, uuid: uuid, path: operation.path, socket: nil))
            }
            exchange.emit(.didUpdateNotificationState(uuid, on: identifier, error: failure, attempt: attempt))
        case .stopNotify, .releaseNotify:
            // What was not on is off.
            exchange.emit(.didUpdateNotificationState(uuid, on: identifier, error: nil, attempt: attempt))
        case .read:
            let outcome: Result<[UInt8], CentralError> = failure.map { .failure($0) } ?? .success(values.first?.octets ?? [])
            exchange.emit(.didReadValue(uuid, on: identifier, result: outcome, attempt: attempt))
        case .write(_, .withResponse): exchange.emit(.didWriteValue(uuid, on: identifier, error: failure, attempt: attempt))
        case .write(_, .withoutResponse): break
        case .acquireWrite(let value):
            guard let socket else { return }
            writeSockets.append(WriteSocket(identifier: identifier, path: operation.path, socket: socket))
            exchange.perform(.send(value, socket: socket))
        }
    }

    private func isSubscribed(_ path: String) -> Bool { subscriptions.contains { $0.path == path } }

    /// True where the reply brings a socket (`hq`: descriptor, MTU) that is not there yet.
    private func wantsSocket(_ operation: AttributeOperation) -> Bool {
        switch operation.kind {
        case .acquireNotify: !isSubscribed(operation.path)
        case .acquireWrite: true
        case .startNotify, .stopNotify, .releaseNotify, .read, .write: false
        }
    }

    /// Takes over the socket of AcquireNotify.
    private mutating func adopt(
        _ socket: Int32?, _ operation: AttributeOperation, _ exchange: inout BusExchange
    ) -> CentralError? {
        guard let socket else { return .connectionFailed(reason: "AcquireNotify gave no socket") }
        subscriptions.append(
            Subscription(
                identifier: operation.identifier, uuid: operation.uuid, path: operation.path, socket: socket))
        exchange.perform(.receive(socket, characteristic: operation.uuid, of: operation.identifier))
        return nil
    }

    /// A socket reached its end: notifications are off, or the next write needs another one. Once: whoever has the number of
    /// the socket after that is not to lose it.
    mutating func socketEnded(_ socket: Int32, _ exchange: inout BusExchange) {
        let isKnown = subscriptions.contains { $0.socket == socket } || writeSockets.contains { $0.socket == socket }
        guard isKnown else { return }
        subscriptions.removeAll { $0.socket == socket }
        writeSockets.removeAll { $0.socket == socket }
        exchange.perform(.close(socket))
    }

    /// A value that came as a signal.
    mutating func changed(_ path: String, _ changed: ObjectMirror.Properties, _ exchange: inout BusExchange) {
        if changed["NotifyAcquired"]?.flag == false { released(path, &exchange) }
        guard let value = changed["Value"]?.octets,
            let index = subscriptions.firstIndex(where: { $0.path == path && $0.socket == nil })
        else { return }
        let subscription = subscriptions[index]
        // Where several programs have switched notifications on, bluetoothd (5.66) sends each signal once for each of them,
        // and everybody gets them all.
        if subscription.latest == value, exchange.now <= subscription.latestArrival + Self.repetitionLimit { return }
        subscriptions[index].latest = value
        subscriptions[index].latestArrival = exchange.now
        exchange.emit(.didUpdateValue(subscription.uuid, on: subscription.identifier, value: value, at: exchange.now))
    }

    /// bluetoothd has noticed that a socket was closed. Only now would it give another one.
    private mutating func released(_ path: String, _ exchange: inout BusExchange) {
        let index = operations.firstIndex { $0.kind == .releaseNotify && $0.path == path }
        if let index { conclude(index, .success([]), &exchange) }
    }

    // MARK: Ends

    /// A link is being closed. Nothing is reported: who cancels a link, or hears that it is gone, asks again on the next.
    mutating func endRequests(of identifier: PeripheralIdentifier) {
        operations.removeAll { $0.identifier == identifier }
    }

    /// A link has ended, and its sockets with it.
    mutating func end(_ identifier: PeripheralIdentifier, _ exchange: inout BusExchange) {
        endRequests(of: identifier)
        for subscription in subscriptions where subscription.identifier == identifier {
            if let socket = subscription.socket { exchange.perform(.close(socket)) }
        }
        subscriptions.removeAll { $0.identifier == identifier }
        for socket in writeSockets where socket.identifier == identifier { exchange.perform(.close(socket.socket)) }
        writeSockets.removeAll { $0.identifier == identifier }
    }
}
