import Bluetooth

extension ATTLink {
    // MARK: Discovery

    mutating func beginDiscovery(_ attempt: Attempt, at now: MonotonicTime) -> Bool {
        current = .discover(attempt: attempt)
        isOvertaken = false
        discoveryCount += 1
        return client.start(.discover(.configurations), at: now)
    }

    /// The peripheral said whether a map of an earlier link holds.
    mutating func validated(_ holds: Bool, _ attempt: Attempt, at now: MonotonicTime) {
        guard holds, !isOvertaken, let map else {
            forgetMap()
            waiting.insert(.discover(attempt: attempt), at: 0)
            return
        }
        emitServices(map, attempt, at: now)
    }

    mutating func discovered(_ found: HandleMap, _ attempt: Attempt, at now: MonotonicTime) {
        if isOvertaken {
            guard discoveryCount < Self.discoveryLimit else {
                return fail(
                    .discover(attempt: attempt), .connectionFailed(reason: "the headset's services keep changing"))
            }
            waiting.insert(.discover(attempt: attempt), at: 0)
            return
        }
        discoveryCount = 0
        isFromEarlierLink = false
        if found != map {
            // What notifies under another handle now does not notify any more.
            subscriptions.removeAll { found[$0.uuid]?.value != $0.handle }
            map = found
            events.append(.didUpdateMap(found))
        }
        serviceChangedHandle = found[.serviceChanged]?.value ?? serviceChangedHandle
        emitServices(found, attempt, at: now)
    }

    private mutating func emitServices(_ map: HandleMap, _ attempt: Attempt, at now: MonotonicTime) {
        areServicesKnown = true
        if !isWatching, map[.serviceChanged]?.configuration != nil { watchTime = now + Self.watchDelay }
        emit(.didDiscoverServices(peripheral, result: .success(map.database), attempt: attempt))
    }

    private mutating func forgetMap() {
        guard map != nil else { return }
        map = nil
        isFromEarlierLink = false
        events.append(.didUpdateMap(nil))
    }

    // MARK: Changes

    /// A value arrived.
    mutating func received(_ value: [UInt8], from handle: AttributeHandle, at arrival: MonotonicTime) {
        if handle == serviceChangedHandle, value.count == 4 {
            // The first and the last handle that changed (Core Specification, Vol 3, Part G, 7.1).
            let start = AttributeHandle(rawValue: value.uint16(littleEndianAt: 0))
            let end = AttributeHandle(rawValue: value.uint16(littleEndianAt: 2))
            servicesChanged(HandleRange(start, end))
        }
        guard let subscription = subscriptions.first(where: { $0.handle == handle }) else { return }
        emit(.didUpdateValue(subscription.uuid, on: peripheral, value: value, at: arrival))
    }

    /// Handles in a range mean something else from now on. Values from others go on arriving until they are discovered again,
    /// so that a change elsewhere in the headset costs no samples.
    mutating func servicesChanged(_ range: HandleRange) {
        isOvertaken = true
        subscriptions.removeAll { range.contains($0.handle) }
        for index in subscriptions.indices { subscriptions[index].isConfirmed = false }
        watchTime = nil
        if let serviceChangedHandle, range.contains(serviceChangedHandle) { isWatching = false }
        let wereKnown = areServicesKnown
        areServicesKnown = false
        forgetMap()
        if wereKnown { emit(.didModifyServices(peripheral)) }
    }
}
