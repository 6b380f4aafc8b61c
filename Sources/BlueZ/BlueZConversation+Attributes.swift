import Bluetooth

/// Notifications, reads and writes.
extension BlueZConversation {
    // MARK: Requests

    mutating func setNotifyValue(
        _ enabled: Bool, for uuid: BluetoothUUID, on identifier: PeripheralIdentifier, attempt: Attempt
    ) {
        func answer(_ error: CentralError?) -> CentralEvent {
            .didUpdateNotificationState(uuid, on: identifier, error: error, attempt: attempt)
        }
        guard let link = connected(identifier) else { return tell(answer(.notConnected)) }
        guard let object = characteristic(uuid, of: link) else { return tell(answer(.noSuchCharacteristic(uuid))) }
        let current = subscriptions.first { $0.path == object.path }
        if enabled == (current != nil) { return tell(answer(nil)) }
        if enabled {
            let kind: AttributeOperation.Kind =
                options.startNotify.contains(identifier) ? .startNotify : .acquireNotify
            return enqueue(operation(kind, object, uuid, identifier, attempt))
        }
        subscriptions.removeAll { $0.path == object.path }
        guard let socket = current?.socket else {
            return enqueue(operation(.stopNotify, object, uuid, identifier, attempt))
        }
        // Closing the socket is what ends it.
        request(.close(socket))
        tell(answer(nil))
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
        operations[index].isUnderWay = true
        let operation = operations[index]
        let (member, arguments): (String, [BusValue]) =
            switch operation.kind {
            case .acquireNotify: ("AcquireNotify", [.options()])
            case .startNotify: ("StartNotify", [])
            case .stopNotify: ("StopNotify", [])
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

    mutating func operationReplied(_ number: CallNumber, _ result: Result<[BusValue], BusError>) {
        guard let index = operations.firstIndex(where: { $0.number == number }) else {
            if case .success(let values) = result { closeDescriptors(in: values) }
            return
        }
        if case .failure(let error) = result, retry(index, after: error) { return }
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
            return pair(link.path)
        }
        begin(index)
        return true
    }

    /// Begins the operations again that waited for the pairing of a device.
    mutating func pairReplied(_ path: String, _ result: Result<[BusValue], BusError>) {
        for index in operations.indices where operations[index].path.hasPrefix(path + "/") && operations[index].wasPaired {
            if operations[index].isUnderWay { begin(index) }
        }
    }

    private mutating func pair(_ path: String) -> Bool {
        guard let device = DeviceObject(objects, path: path), !device.isPaired else { return false }
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
            if failure == nil { failure = adopt(values, operation) }
            tell(.didUpdateNotificationState(uuid, on: identifier, error: failure, attempt: attempt))
        case .startNotify:
            if failure == nil {
                subscriptions.append(
                    Subscription(identifier: identifier, uuid: uuid, path: operation.path, socket: nil))
            }
            tell(.didUpdateNotificationState(uuid, on: identifier, error: failure, attempt: attempt))
        case .stopNotify:
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
        if failure == nil, case .acquireNotify = operation.kind { trust(identifier) }
    }

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
        guard let value = changed["Value"]?.octets,
            let subscription = subscriptions.first(where: { $0.path == path && $0.socket == nil })
        else { return }
        tell(.didUpdateValue(subscription.uuid, on: subscription.identifier, value: value, at: now))
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
