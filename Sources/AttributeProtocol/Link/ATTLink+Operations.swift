import Bluetooth

extension ATTLink {
    /// Begins an operation. Returns false where it is done already.
    mutating func begin(_ operation: ATTOperation, at now: MonotonicTime) -> Bool {
        switch operation {
        case .exchangeMTU: return client.start(.exchangeMTU, at: now)
        case .validate(let attempt):
            // The services may have changed since it was asked for.
            guard let map else { return beginDiscovery(attempt, at: now) }
            isOvertaken = false
            return client.start(.validate(map), at: now)
        case .discover(let attempt): return beginDiscovery(attempt, at: now)
        case .setNotify(let enabled, let uuid, _): return beginNotify(enabled, uuid, operation, at: now)
        case .read(let uuid, _):
            guard let found = map?[uuid] else { return isUnknown(operation, uuid) }
            return client.start(.read(found.value), at: now)
        case .write(let value, let uuid, let type, _):
            guard let found = map?[uuid] else { return isUnknown(operation, uuid) }
            if type == .withResponse { return client.start(.write(found.value, value), at: now) }
            if !client.writeCommand(value, to: found.value) { droppedWriteCount += 1 }
            return false
        case .watchServices:
            guard let configuration = map?[.serviceChanged]?.configuration else { return false }
            isWatching = true
            return client.start(.write(configuration, Self.configurationValue(.indicate)), at: now)
        }
    }

    private mutating func isUnknown(_ operation: ATTOperation, _ uuid: BluetoothUUID) -> Bool {
        fail(operation, .noSuchCharacteristic(uuid))
        return false
    }

    /// The value of a Client Characteristic Configuration (Core Specification, Vol 3, Part G, 3.3.3.3): 0x0001 for
    /// notifications, 0x0002 for indications. A characteristic that can do both notifies: an indication costs a round trip
    /// for each value.
    static func configurationValue(_ properties: Characteristic.Properties) -> [UInt8] {
        properties.contains(.notify) ? [1, 0] : [2, 0]
    }

    private mutating func beginNotify(
        _ enabled: Bool, _ uuid: BluetoothUUID, _ operation: ATTOperation, at now: MonotonicTime
    ) -> Bool {
        guard let found = map?[uuid] else { return isUnknown(operation, uuid) }
        let index = subscriptions.firstIndex { $0.handle == found.value }
        guard !found.properties.isDisjoint(with: [.notify, .indicate]) else {
            if enabled { fail(operation, .att(.requestNotSupported)) } else { succeed(operation) }
            return false
        }
        let isOn = index.map { subscriptions[$0].isConfirmed } ?? false
        if enabled == isOn, enabled || index == nil {
            succeed(operation)
            return false
        }
        // Values may come before the answer, and until the answer where they are switched off.
        if enabled, index == nil {
            subscriptions.append(ATTSubscription(handle: found.value, uuid: uuid, isConfirmed: false))
        }
        guard let configuration = found.configuration else {
            // Some headsets always notify and have nothing to configure.
            succeed(operation)
            return false
        }
        return client.start(
            .write(configuration, enabled ? Self.configurationValue(found.properties) : [0, 0]), at: now)
    }

    // MARK: Ends

    /// An operation that took round trips ended.
    mutating func finish(_ operation: ATTOperation, _ result: Result<GATTOutcome, GATTFailure>, at now: MonotonicTime) {
        switch result {
        case .success(let outcome): succeed(operation, outcome, at: now)
        case .failure(.timedOut): events.append(.didTimeOut)
        case .failure(.senselessResponse):
            fail(operation, .connectionFailed(reason: "an answer of the headset makes no sense"))
        case .failure(.refused(let error, _)):
            if raiseSecurity(for: operation, after: error, at: now) { return }
            fail(operation, .att(error))
            if error.showsChangedHandles(isFromEarlierLink: isFromEarlierLink), operation.usesHandles {
                servicesChanged(.all)
            }
        }
    }

    private mutating func raiseSecurity(for operation: ATTOperation, after error: ATTError, at now: MonotonicTime) -> Bool {
        // What nobody has asked for is no reason to pair.
        guard operation.attempt != nil, let level = security.raised(after: error) else { return false }
        current = operation
        raisedSecurity = RaisedSecurity(level: level, error: error, deadline: now + Self.securityLimit)
        events.append(.needsSecurity(level))
        return true
    }

    private mutating func succeed(_ operation: ATTOperation, _ outcome: GATTOutcome, at now: MonotonicTime) {
        switch (operation, outcome) {
        case (.validate(let attempt), .validity(let holds)): validated(holds, attempt, at: now)
        case (.discover(let attempt), .map(let found)): discovered(found, attempt, at: now)
        case (.read(let uuid, let attempt), .value(let value)):
            emit(.didReadValue(uuid, on: peripheral, result: .success(value), attempt: attempt))
        default: succeed(operation)
        }
    }

    /// Reports the success of an operation that has no value.
    private mutating func succeed(_ operation: ATTOperation) {
        switch operation {
        case .setNotify(let enabled, let uuid, let attempt):
            let index = subscriptions.firstIndex { $0.handle == map?[uuid]?.value }
            if let index, enabled { subscriptions[index].isConfirmed = true }
            if let index, !enabled { subscriptions.remove(at: index) }
            emit(.didUpdateNotificationState(uuid, on: peripheral, error: nil, attempt: attempt))
        case .write(_, let uuid, .withResponse, let attempt):
            emit(.didWriteValue(uuid, on: peripheral, error: nil, attempt: attempt))
        default: break
        }
    }

    /// Reports that an operation failed, where somebody waits for it.
    mutating func fail(_ operation: ATTOperation, _ error: CentralError) {
        switch operation {
        case .validate(let attempt), .discover(let attempt):
            discoveryCount = 0
            emit(.didDiscoverServices(peripheral, result: .failure(error), attempt: attempt))
        case .setNotify(let enabled, let uuid, let attempt):
            if enabled { subscriptions.removeAll { $0.uuid == uuid && !$0.isConfirmed } }
            emit(.didUpdateNotificationState(uuid, on: peripheral, error: error, attempt: attempt))
        case .read(let uuid, let attempt):
            emit(.didReadValue(uuid, on: peripheral, result: .failure(error), attempt: attempt))
        case .write(_, let uuid, .withResponse, let attempt):
            emit(.didWriteValue(uuid, on: peripheral, error: error, attempt: attempt))
        case .write, .exchangeMTU, .watchServices: break
        }
    }

    mutating func emit(_ event: CentralEvent) {
        events.append(.central(event))
    }
}

extension ATTOperation {
    /// The attempt that waits for it; nil where the link does it by itself.
    fileprivate var attempt: Attempt? {
        switch self {
        case .validate(let attempt), .discover(let attempt), .setNotify(_, _, let attempt), .read(_, let attempt),
            .write(_, _, _, let attempt):
            attempt
        case .exchangeMTU, .watchServices: nil
        }
    }

    /// True where it was sent to a handle from the map.
    fileprivate var usesHandles: Bool {
        switch self {
        case .setNotify, .read, .write: true
        case .exchangeMTU, .validate, .discover, .watchServices: false
        }
    }
}

extension ATTError {
    /// True where the handle that was asked cannot be right. Handles that were discovered on this very link are: a headset
    /// that refuses those is not discovered over and over.
    fileprivate func showsChangedHandles(isFromEarlierLink: Bool) -> Bool {
        self == .databaseOutOfSync || isFromEarlierLink && (self == .invalidHandle || self == .attributeNotFound)
    }
}
