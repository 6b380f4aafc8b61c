import Bluetooth

extension SimulatedWorld {
    /// Starts a daemon process: kills the present one, if any, and returns the view of the new one.
    package func makeCentral() -> SimulatedCentral {
        kill()
        process.isAlive = true
        request(.reportState, attempt: .none)
        return SimulatedCentral(world: self, generation: process.generation)
    }

    /// Ends the daemon process at this instant, as `kill -9` does. What happens to its links is ``Options/system``'s matter.
    package func kill() {
        process = SimulatedProcess(generation: process.generation &+ 1)
        for headset in headsets {
            guard headset.link != nil else { continue }
            headset.link?.isOrphan = true
            headset.link?.isReported = false
            headset.link?.attempt = .none
            headset.link?.subscriptions = []
            headset.link?.held = nil
            headset.link?.late = []
            headset.behaviour.linkChanged(at: clock)
            if endsWithProcess(linkOf: headset), let serial = headset.link?.serial {
                queue.schedule(
                    .closeOrphan(headset: Int32(truncatingIfNeeded: headset.number), link: serial),
                    at: clock + options.orphanDuration.nanoseconds)
            }
        }
        refreshAdvertising()
    }

    /// True where a link to the headset is a socket of the process that made it. A serial port's is one also beside bluetoothd.
    func endsWithProcess(linkOf headset: SimulatedHeadset) -> Bool {
        options.system == .kernelSockets || headset.hasSerialPort
    }

    /// The host loses its power: the process ends, and all links are lost.
    package func losePower() {
        kill()
        for headset in headsets { closeLink(headset, error: nil) }
    }

    /// True while a daemon process runs.
    package var isDaemonAlive: Bool { process.isAlive }

    /// Emits an event to the present process.
    func push(_ event: CentralEvent) {
        guard process.isAlive else { return }
        eventCount += 1
        addToDigest(event)
        process.inbox.append(event)
    }

    /// Emits an event to the present process later.
    @discardableResult
    func push(_ event: CentralEvent, after delay: Int64, isLate: Bool = false, connect: UInt32? = nil) -> Int {
        let delivery = PendingDelivery(event: event, generation: process.generation, isLate: isLate, connect: connect)
        let slot = deliveries.insert(delivery)
        queue.schedule(.deliver(slot: Int32(truncatingIfNeeded: slot)), at: clock + delay)
        return slot
    }

    /// Answers a request: at once, or long after its time where the fault strikes.
    func reply(_ event: CentralEvent, headset: SimulatedHeadset) {
        if strikes(.lateReply, headset: headset.number) {
            push(event, after: draw(faults.lateReplyDelay), isLate: true)
        } else {
            push(event)
        }
    }

    func deliver(slot: Int) {
        guard let delivery = deliveries.remove(slot), delivery.generation == process.generation else { return }
        complete(delivery)
    }

    /// Brings every late reply at once.
    func deliverLateReplies() {
        for slot in deliveries.values.indices {
            guard let delivery = deliveries.values[slot], delivery.isLate else { continue }
            deliveries.void(slot)
            if delivery.generation == process.generation { complete(delivery) }
        }
    }

    private func complete(_ delivery: PendingDelivery) {
        if let serial = delivery.connect { process.connects.removeAll { $0.serial == serial } }
        push(delivery.event)
    }

    private func addToDigest(_ event: CentralEvent) {
        mix(UInt64(bitPattern: clock))
        switch event {
        case .didUpdateState(let state): mix(1 ^ UInt64(state.rawValue.utf8.count) << 8)
        case .willRestoreState(let peripherals, let attempt): mix(2 ^ UInt64(peripherals.count) << 8 ^ attempt.number << 16)
        case .didRetrieveConnected(let found, let attempt): mix(3 ^ UInt64(found.count) << 8 ^ attempt.number << 16)
        case .didDiscover(let identifier, _, let rssi): mix(4 ^ identifier.address << 16 ^ UInt64(UInt8(bitPattern: rssi)) << 8)
        case .didFailToScan: mix(5)
        case .didNoticeHungRadio(let isRecovering): mix(isRecovering ? 17 : 16)
        case .didConnect(let identifier, let attempt): mix(6 ^ identifier.address << 8 ^ attempt.number << 56)
        case .didFailToConnect(let identifier, _, let attempt): mix(7 ^ identifier.address << 8 ^ attempt.number << 56)
        case .didDisconnect(let identifier, _, let attempt): mix(8 ^ identifier.address << 8 ^ attempt.number << 56)
        case .didDiscoverServices(let identifier, _, let attempt): mix(9 ^ identifier.address << 8 ^ attempt.number << 56)
        case .didModifyServices(let identifier): mix(10 ^ identifier.address << 8)
        case .didUnblock(let identifier): mix(15 ^ identifier.address << 8)
        case .didBeginPairing(let identifier): mix(21 ^ identifier.address << 8)
        case .didUpdateNotificationState(let uuid, _, _, let attempt): mix(11 ^ uuid.high ^ attempt.number << 8)
        case .didUpdateValue(let uuid, _, let value, _):
            mix(12 ^ uuid.high)
            for byte in value { mix(UInt64(byte)) }
        case .didTransferPacket(let packet, _, let isReceived, _):
            mix(isReceived ? 19 : 18)
            for byte in packet { mix(UInt64(byte)) }
        case .didReadRSSI(let quality, _): mix(20 ^ UInt64(UInt8(bitPattern: quality.rssi)) << 8)
        case .didReadValue(let uuid, _, _, let attempt): mix(13 ^ uuid.high ^ attempt.number << 8)
        case .didWriteValue(let uuid, _, _, let attempt): mix(14 ^ uuid.high ^ attempt.number << 8)
        }
    }

    /// FNV-1a over 64-bit words.
    private func mix(_ word: UInt64) {
        digest = (digest ^ word) &* 0x0000_0100_0000_01B3
    }
}
