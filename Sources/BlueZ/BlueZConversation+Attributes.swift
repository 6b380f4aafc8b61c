import Bluetooth

/// Notifications, reads and writes.
extension BlueZConversation {
    /// How long bluetoothd may take to notice that a socket of AcquireNotify was closed.
    private static let releaseLimit = Duration.milliseconds(500)
    /// Within which time an equal value is the same one again: less than the shortest connection interval, 7.5 ms.
    private static let repetitionLimit = Duration.milliseconds(5)

    // MARK: Requests

    mutating func setNotifyValue(
        _ enabled: Bool, for uuid: BluetoothUUID, on identifier: PeripheralIdentifier, attempt: Attempt
    ) {
        func answer(_ error: CentralError?) -> CentralEvent {
            .didUpdateNotificationState(uuid, on: identifier, error: error, attempt: attempt)
        }
        guard let link = connected(identifier) else { return tell(answer(.notConnected)) }
        guard let object = characteristic(uuid, of: link) else { return tell(answer(.noSuchCharacteristic(uuid))) }
        let start: AttributeOperation.Kind = options.startNotify.contains(identifier) ? .startNotify : .acquireNotify
        enqueue(operation(enabled ? start : .stopNotify, object, uuid, identifier, attempt))
    }

    mutating func readValue(of uuid: BluetoothUUID, on identifier: PeripheralIdentifier, attempt: Attempt) {
        func fail(_ error: CentralError) -> CentralEvent {
            .didReadValue(uuid, on: identifier, result: .failure(error), attempt: attempt)
        }
        guard let link = connected(identifier) else { return tell(fail(.notConnected)) }
        guard let object = characteristic(uuid, of: link) else { return tell(fail(.noSuchCharacteristic(uuid))) }
        enqueue(operation(.read, object, uuid, identifier, attempt))
    }

    mutating func writeValue(
        _ value: [UInt8], to uuid: BluetoothUUID, type: WriteType, on identifier: PeripheralIdentifier, attempt: Attempt
    ) {
        func fail(_ error: CentralError) {
            guard type == .withResponse else { return }
            tell(.didWriteValue(uuid, on: identifier, error: error, attempt: attempt))
        }
        guard let link = connected(identifier) else { return fail(.notConnected) }
        guard let object = characteristic(uuid, of: link) else { return fail(.noSuchCharacteristic(uuid)) }
        if type == .withoutResponse {
            if let socket = writeSockets.first(where: { $0.path == object.path }) {
                return request(.send(value, socket: socket.socket))
            }
            // While a socket is acquired, bluetoothd refuses every other write: only for what is never written otherwise.
            if object.offersAcquireWrite, !object.flags.contains("write"),
                !operations.contains(where: { $0.path == object.path })
            {
                return enqueue(operation(.acquireWrite(value), object, uuid, identifier, attempt))
            }
        }
        enqueue(operation(.write(value, type), object, uuid, identifier, attempt))
    }

    private func connected(_ identifier: PeripheralIdentifier) -> BlueZLink? {
        links.first { $0.identifier == identifier && $0.phase == .connected && $0.cancels.isEmpty }
    }

    private func characteristic(_ uuid: BluetoothUUID, of link: BlueZLink) -> CharacteristicObject? {
        characteristicObjects(of: link.path).first { $0.uuid == uuid }
    }

    private mutating func operation(
        _ kind: AttributeOperation.Kind, _ object: CharacteristicObject, _ uuid: BluetoothUUID,
        _ identifier: PeripheralIdentifier, _ attempt: Attempt
    ) -> AttributeOperation {
        AttributeOperation(
            number: nextCall(), identifier: identifier, uuid: uuid, path: object.path, kind: kind, attempt: attempt)
    }

    // MARK: One at a time

    private mutating func enqueue(_ operation: AttributeOperation) {
        operations.append(operation)
        if !operations.dropLast().contains(where: { $0.path == operation.path }) { begin(operations.count - 1) }
    }

    private mutating func begin(_ index: Int) {
        if isDone(index) { return conclude(index, .success([])) }
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
        call(
            member, of: BlueZInterface.characteristic, at: operation.path, arguments,
            for: .operation(operation.number), within: Self.attributeLimit)
    }

    /// True where there is nothing to ask bluetoothd for: notifications are on or off as wanted, or a value went through the
    /// socket for writes. Begins to switch notifications off where closing a socket does it.
    private mutating func isDone(_ index: Int) -> Bool {
        let operation = operations[index]
        let current = subscriptions.first { $0.path == operation.path }
        switch operation.kind {
        case .acquireNotify, .startNotify: return current != nil
        case .stopNotify:
            subscriptions.removeAll { $0.path == operation.path }
            guard let socket = current?.socket else { return current == nil }
            request(.close(socket))
            operations[index].kind = .releaseNotify(until: now + Self.releaseLimit)
            return false
        case .write(let value, .withoutResponse):
            // It has waited while the socket was acquired; from then on bluetoothd refuses every other write.
            guard let socket = writeSockets.first(where: { $0.path == operation.path }) else { return false }
            request(.send(value, socket: socket.socket))
            return true
        case .releaseNotify, .read, .write, .acquireWrite: return false
        }
    }

    /// Goes on where bluetoothd has not said in time that a socket is closed.
    mutating func operationsDue() {
        while let index = operations.firstIndex(where: { $0.deadline ?? now + .nanoseconds(1) <= now }) {
            conclude(index, .success([]))
        }
    }

    mutating func operationReplied(_ number: CallNumber, _ result: Result<[BusValue], BusError>) {
        guard let index = operations.firstIndex(where: { $0.number == number }) else {
            if case .success(let values) = result { closeDescriptors(in: values) }
            return
        }
        if case .failure(let error) = result, retry(index, after: error) { return }
        conclude(index, result)
    }

    private mutating func conclude(_ index: Int, _ result: Result<[BusValue], BusError>) {
        let operation = operations.remove(at: index)
        finish(operation, result)
        if let next = operations.firstIndex(where: { $0.path == operation.path }) { begin(next) }
    }

    /// Tries another way to the same end. Returns false where there is none.
    private mutating func retry(_ index: Int, after error: BusError) -> Bool {
        let operation = operations[index]
        switch operation.kind {
        case .acquireNotify where BlueZErrorTable.asksForStartNotify(error):
            operations[index].kind = .startNotify
        case .acquireWrite(let value): operations[index].kind = .write(value, .withoutResponse)
        default:
            guard BlueZErrorTable.attribute(error) == .att(.insufficientAuthentication), !operation.wasPaired,
                let link = connected(operation.identifier)
            else { return false }
            operations[index].wasPaired = true
            operations[index].awaitsPairing = pair(link.path)
            return operations[index].awaitsPairing
        }
        begin(index)
        return true
    }

    /// Begins the operations again that waited for the pairing of a device.
    mutating func pairReplied(_ path: String, _ result: Result<[BusValue], BusError>) {
        let waiting = operations.filter { $0.awaitsPairing && $0.path.hasPrefix(path + "/") }.map(\.number)
        for number in waiting {
            guard let index = operations.firstIndex(where: { $0.number == number }) else { continue }
            operations[index].awaitsPairing = false
            begin(index)
        }
    }

    /// Pairs with a device, or joins the pairing that is under way: bluetoothd refuses a second one. Returns false where it
    /// would change nothing.
    private mutating func pair(_ path: String) -> Bool {
        guard let device = DeviceObject(objects, path: path), !device.isPaired else { return false }
        if awaits(.pair(path: path)) { return true }
        call("Pair", of: BlueZInterface.device, at: path, for: .pair(path: path), within: Self.connectLimit)
        return true
    }

    // MARK: Answers

    private mutating func finish(_ operation: AttributeOperation, _ result: Result<[BusValue], BusError>) {
        let (identifier, uuid, attempt) = (operation.identifier, operation.uuid, operation.attempt)
        var values: [BusValue] = []
        var failure: CentralError?
        switch result {
        case .success(let reply): values = reply
        case .failure(let error): failure = BlueZErrorTable.attribute(error)
        }
        switch operation.kind {
        case .acquireNotify:
            if failure == nil, !isSubscribed(operation.path) { failure = adopt(values, operation) }
            tell(.didUpdateNotificationState(uuid, on: identifier, error: failure, attempt: attempt))
        case .startNotify:
            if failure == nil, !isSubscribed(operation.path) {
                subscriptions.append(
                    Subscription(identifier: identifier, uuid: uuid, path: operation.path, socket: nil))
            }
            tell(.didUpdateNotificationState(uuid, on: identifier, error: failure, attempt: attempt))
        case .stopNotify, .releaseNotify:
            // What was not on is off.
            tell(.didUpdateNotificationState(uuid, on: identifier, error: nil, attempt: attempt))
        case .read:
            let outcome: Result<[UInt8], CentralError> = failure.map { .failure($0) } ?? .success(values.first?.octets ?? [])
            tell(.didReadValue(uuid, on: identifier, result: outcome, attempt: attempt))
        case .write(_, .withResponse): tell(.didWriteValue(uuid, on: identifier, error: failure, attempt: attempt))
        case .write(_, .withoutResponse): break
        case .acquireWrite(let value):
            guard let socket = descriptor(in: values) else { return }
            writeSockets.append(WriteSocket(identifier: identifier, path: operation.path, socket: socket))
            request(.send(value, socket: socket))
        }
        switch operation.kind {
        case .acquireNotify, .startNotify: if failure == nil { trust(identifier) }
        case .stopNotify, .releaseNotify, .read, .write, .acquireWrite: break
        }
    }

    private func isSubscribed(_ path: String) -> Bool { subscriptions.contains { $0.path == path } }

    /// Takes over the socket of AcquireNotify (`hq`: descriptor, MTU).
    private mutating func adopt(_ values: [BusValue], _ operation: AttributeOperation) -> CentralError? {
        guard let socket = descriptor(in: values) else { return .connectionFailed(reason: "AcquireNotify gave no socket") }
        subscriptions.append(
            Subscription(
                identifier: operation.identifier, uuid: operation.uuid, path: operation.path, socket: socket))
        request(.receive(socket, characteristic: operation.uuid, of: operation.identifier))
        return nil
    }

    /// Keeps bluetoothd from forgetting a headset that works, 30 s after it has left.
    private mutating func trust(_ identifier: PeripheralIdentifier) {
        guard let device = device(identifier), !device.isTrusted else { return }
        objects.set("Trusted", of: BlueZInterface.device, at: device.path, to: .boolean(true))
        call(
            "Set", of: BlueZInterface.properties, at: device.path,
            [.string(BlueZInterface.device), .string("Trusted"), .variant(.boolean(true))], for: .nothing)
    }

    /// A socket reached its end: notifications are off.
    mutating func socketEnded(_ socket: Int32) {
        subscriptions.removeAll { $0.socket == socket }
        writeSockets.removeAll { $0.socket == socket }
        request(.close(socket))
    }

    /// A value that came as a signal.
    mutating func characteristicChanged(_ path: String, _ changed: ObjectMirror.Properties) {
        radio.noteLife()
        if changed["NotifyAcquired"]?.flag == false { released(path) }
        guard let value = changed["Value"]?.octets,
            let index = subscriptions.firstIndex(where: { $0.path == path && $0.socket == nil })
        else { return }
        let subscription = subscriptions[index]
        // Where several programs have switched notifications on, bluetoothd (5.66) sends each signal once for each of them,
        // and everybody gets them all.
        if subscription.latest == value, now <= subscription.latestArrival + Self.repetitionLimit { return }
        subscriptions[index].latest = value
        subscriptions[index].latestArrival = now
        tell(.didUpdateValue(subscription.uuid, on: subscription.identifier, value: value, at: now))
    }

    /// bluetoothd has noticed that a socket was closed. Only now would it give another one.
    private mutating func released(_ path: String) {
        let index = operations.firstIndex { operation in
            if case .releaseNotify = operation.kind { operation.path == path } else { false }
        }
        if let index { conclude(index, .success([])) }
    }

    // MARK: Ends

    /// Ends all requests to a headset. Nobody is told: who cancels a link, or hears that it is gone, asks again on the next.
    mutating func endRequests(of identifier: PeripheralIdentifier) {
        operations.removeAll { $0.identifier == identifier }
    }

    private func descriptor(in values: [BusValue]) -> Int32? {
        if case .descriptor(let descriptor)? = values.first { return descriptor }
        return nil
    }

    /// Closes what nobody takes over.
    mutating func closeDescriptors(in values: [BusValue]) {
        for case .descriptor(let descriptor) in values { request(.close(descriptor)) }
    }
}
