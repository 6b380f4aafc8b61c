import Bluetooth

/// Requests on their way through the system and over the air, and notifications on their way back.
extension SimulatedWorld {
    /// Takes a request of the daemon's process.
    func take(_ request: CentralRequest) {
        switch request {
        case .restoreState(let identifiers, let services, let attempt):
            self.request(.restore(identifiers: identifiers, services: services), attempt: attempt)
        case .retrieveConnectedPeripherals(let services, let attempt):
            self.request(.retrieve(services: services), attempt: attempt)
        case .scanForPeripherals(let filter): scan(filter)
        case .stopScan: stopScan()
        case .setConnectionParameters, .trustPeripheral: break
        // The controller knows it without a word on the air; nothing is drawn for it.
        case .readRSSI(let peripheral): schedule(.readRSSI(peripheral), attempt: .none, at: clock + 1_000_000)
        case .connect(let peripheral, let attempt): connect(peripheral, attempt: attempt)
        case .cancelPeripheralConnection(let peripheral, let attempt): cancel(peripheral, attempt: attempt)
        case .discoverServices(let peripheral, let attempt):
            requestFromHeadset(.discover(peripheral), on: peripheral, attempt: attempt)
        case .setNotifyValue(let isOn, let characteristic, let peripheral, let attempt):
            requestFromHeadset(.setNotify(isOn, characteristic, peripheral), on: peripheral, attempt: attempt)
        case .readValue(let characteristic, let peripheral, let attempt):
            requestFromHeadset(.read(characteristic, peripheral), on: peripheral, attempt: attempt)
        case .writeValue(let value, let characteristic, let type, let peripheral, let attempt):
            requestFromHeadset(.write(value, characteristic, type, peripheral), on: peripheral, attempt: attempt)
        }
    }

    /// Takes a request that needs no radio.
    func request(_ kind: PendingRequest.Kind, attempt: Attempt) {
        schedule(kind, attempt: attempt, at: clock + draw(options.systemLatency))
    }

    /// Takes a request to a headset. The Attribute Protocol carries one request at a time: they are answered in order.
    func requestFromHeadset(_ kind: PendingRequest.Kind, on identifier: PeripheralIdentifier, attempt: Attempt) {
        guard let headset = linked(identifier) else {
            schedule(kind, attempt: attempt, at: clock + draw(options.systemLatency))
            return
        }
        let interval = headset.specification.connectionInterval.nanoseconds
        var delay = interval / 2 + Int64(timing.below(UInt64(max(1, interval))))
        // Primary services, characteristics and descriptors take about this many round trips; a copy is only validated.
        if case .discover = kind { delay += interval * (headset.servicesAreUnknown ? 10 : 1) }
        let time = max(clock + delay, headset.lastRequestTime + 1)
        headset.lastRequestTime = time
        schedule(kind, attempt: attempt, at: time)
    }

    private func schedule(_ kind: PendingRequest.Kind, attempt: Attempt, at time: Int64) {
        let slot = requests.insert(PendingRequest(kind: kind, attempt: attempt, generation: process.generation))
        queue.schedule(.perform(slot: Int32(truncatingIfNeeded: slot)), at: time)
    }

    private func linked(_ identifier: PeripheralIdentifier) -> SimulatedHeadset? {
        headsets.first { $0.link?.identifier == identifier }
    }

    func perform(slot: Int) {
        guard let request = requests.remove(slot), request.generation == process.generation else { return }
        let attempt = request.attempt
        switch request.kind {
        case .reportState: reportState()
        case .restore(let identifiers, let services): restore(identifiers, services, attempt)
        case .retrieve(let services): retrieve(services, attempt)
        case .cancel(let identifier, let serial): performCancel(identifier, serial: serial, attempt: attempt)
        case .discover(let identifier): discover(identifier, attempt)
        case .setNotify(let on, let uuid, let identifier): setNotify(on, uuid, identifier, attempt)
        case .read(let uuid, let identifier): read(uuid, identifier, attempt)
        case .readRSSI(let identifier):
            guard let headset = linked(identifier) else { return }
            push(.didReadRSSI(LinkQuality(rssi: headset.specification.rssi, transmitPower: 8), of: identifier))
        case .write(let value, let uuid, let type, let identifier): write(value, uuid, type, identifier, attempt)
        }
    }

    /// Reports the adapter's state, where it is not what was reported last.
    func reportState() {
        guard process.isAlive, process.reportedState != adapterState else { return }
        process.reportedState = adapterState
        push(.didUpdateState(adapterState))
    }

    // MARK: Layers

    private func restore(_ identifiers: [PeripheralIdentifier], _ services: [BluetoothUUID], _ attempt: Attempt) {
        if strikes(.silentRestoration, headset: 0) { return }
        var restored: [RestoredPeripheral] = []
        if options.system == .bluetoothd {
            for headset in headsets where !headset.hasSerialPort {
                guard let link = headset.link, adapterState == .poweredOn else { continue }
                let database = headset.database
                guard identifiers.contains(link.identifier) || database.services.contains(where: services.contains) else {
                    continue
                }
                headset.link?.isReported = true
                headset.link?.isOrphan = false
                restored.append(
                    RestoredPeripheral(
                        identifier: link.identifier, isConnected: true, database: link.isDiscovered ? database : nil,
                        notifying: []))
            }
        }
        push(.willRestoreState(restored, attempt: attempt))
    }

    private func retrieve(_ services: [BluetoothUUID], _ attempt: Attempt) {
        if strikes(.silentRetrieval, headset: 0) { return }
        var found: [PeripheralIdentifier] = []
        for headset in headsets where headset.isConnected && adapterState == .poweredOn {
            // A kernel socket's link of a dead process is nobody's any more, but the kernel still lists it.
            guard headset.database.services.contains(where: services.contains) else { continue }
            // A serial port serves one program: of use is this process's own link alone.
            if headset.hasSerialPort, headset.link?.isOrphan ?? true { continue }
            found.append(headset.link?.identifier ?? headset.reportedIdentifier)
        }
        push(.didRetrieveConnected(found, attempt: attempt))
    }

    // MARK: Attribute protocol

    /// The headset, where it is connected and answers; `silent` where it is connected and does not.
    private enum Partner {
        case answering(SimulatedHeadset)
        case silent
        case absent
    }

    private func partner(_ identifier: PeripheralIdentifier) -> Partner {
        guard let headset = linked(identifier) else { return .absent }
        headset.link?.isOrphan = false
        headset.link?.isReported = true
        return headset.isHeard && headset.isBooted ? .answering(headset) : .silent
    }

    private func discover(_ identifier: PeripheralIdentifier, _ attempt: Attempt) {
        switch partner(identifier) {
        case .silent: return
        case .absent: push(.didDiscoverServices(identifier, result: .failure(.notConnected), attempt: attempt))
        case .answering(let headset):
            if strikes(.discoveryFailure, headset: headset.number) {
                let error = CentralError.att(.unlikelyError)
                reply(.didDiscoverServices(identifier, result: .failure(error), attempt: attempt), headset: headset)
                return
            }
            headset.servicesAreUnknown = false
            headset.link?.isDiscovered = true
            let database = headset.database
            reply(.didDiscoverServices(identifier, result: .success(database), attempt: attempt), headset: headset)
        }
    }

    private func setNotify(_ on: Bool, _ uuid: BluetoothUUID, _ identifier: PeripheralIdentifier, _ attempt: Attempt) {
        func answer(_ error: CentralError?) -> CentralEvent {
            .didUpdateNotificationState(uuid, on: identifier, error: error, attempt: attempt)
        }
        switch partner(identifier) {
        case .silent: return
        case .absent: push(answer(.notConnected))
        case .answering(let headset):
            let properties = headset.database[uuid]?.properties
            guard let properties, headset.link?.isDiscovered == true else {
                return reply(answer(.noSuchCharacteristic(uuid)), headset: headset)
            }
            guard !properties.isDisjoint(with: [.notify, .indicate]) else {
                return reply(answer(.att(.requestNotSupported)), headset: headset)
            }
            if strikes(.notifyError, headset: headset.number) {
                return reply(answer(.att(.insufficientResources)), headset: headset)
            }
            reply(answer(nil), headset: headset)
            guard headset.isNotifying(uuid) != on else { return }
            if on {
                headset.link?.subscriptions.append(uuid)
            } else {
                headset.link?.subscriptions.removeAll { $0 == uuid }
            }
            headset.behaviour.linkChanged(at: clock)
        }
    }

    private func read(_ uuid: BluetoothUUID, _ identifier: PeripheralIdentifier, _ attempt: Attempt) {
        func answer(_ result: Result<[UInt8], CentralError>) -> CentralEvent {
            .didReadValue(uuid, on: identifier, result: result, attempt: attempt)
        }
        switch partner(identifier) {
        case .silent: return
        case .absent: push(answer(.failure(.notConnected)))
        case .answering(let headset):
            let properties = headset.database[uuid]?.properties
            guard let properties, headset.link?.isDiscovered == true else {
                return reply(answer(.failure(.noSuchCharacteristic(uuid))), headset: headset)
            }
            guard properties.contains(.read) else {
                return reply(answer(.failure(.att(.readNotPermitted))), headset: headset)
            }
            if let value = headset.behaviour.read(uuid, at: clock) {
                reply(answer(.success(value)), headset: headset)
            } else if uuid == .serialNumberString, let serial = headset.specification.serialNumber {
                reply(answer(.success(Array(serial.utf8))), headset: headset)
            } else {
                reply(answer(.failure(.att(.readNotPermitted))), headset: headset)
            }
        }
    }

    private func write(
        _ value: [UInt8], _ uuid: BluetoothUUID, _ type: WriteType, _ identifier: PeripheralIdentifier, _ attempt: Attempt
    ) {
        func answer(_ error: CentralError?, from headset: SimulatedHeadset?) {
            guard type == .withResponse else { return }
            let event = CentralEvent.didWriteValue(uuid, on: identifier, error: error, attempt: attempt)
            if let headset { reply(event, headset: headset) } else { push(event) }
        }
        switch partner(identifier) {
        case .silent: return
        case .absent: answer(.notConnected, from: nil)
        case .answering(let headset):
            let properties = headset.database[uuid]?.properties
            guard let properties, headset.link?.isDiscovered == true else {
                return answer(.noSuchCharacteristic(uuid), from: headset)
            }
            let wanted: Characteristic.Properties = type == .withResponse ? .write : .writeWithoutResponse
            guard properties.contains(wanted) else { return answer(.att(.writeNotPermitted), from: headset) }
            if type == .withResponse, strikes(.writeError, headset: headset.number) {
                return answer(.att(.unlikelyError), from: headset)
            }
            answer(headset.behaviour.write(value, to: uuid, at: clock).map { .att($0) }, from: headset)
        }
    }

    // MARK: Notifications

    /// Carries a notification to the process, with whatever befalls it on the way.
    func notify(_ value: [UInt8], from characteristic: BluetoothUUID, headset: SimulatedHeadset) {
        guard let link = headset.link else { return }
        if strikes(.lostNotification, headset: headset.number) { return }
        if link.held == nil, strikes(.reorderedNotification, headset: headset.number) {
            headset.link?.held = (characteristic, value)
            // Nothing waits for longer than this, also where nothing follows.
            let delay = 4 * headset.specification.connectionInterval.nanoseconds
            let number = Int32(truncatingIfNeeded: headset.number)
            queue.schedule(.release(headset: number, link: link.serial), at: clock + delay)
            return
        }
        carry(value, from: characteristic, headset)
        if strikes(.malformedNotification, headset: headset.number) {
            let isByteStream = headset.hasSerialPort || headset.specification.sendsByteStream
            let malformed = malformed(value, from: characteristic, isByteStream: isByteStream)
            carry(malformed.value, from: malformed.characteristic, headset)
        }
        if strikes(.duplicatedNotification, headset: headset.number) { carry(value, from: characteristic, headset) }
        if link.held != nil { releaseHeld(headset, link: link.serial) }
    }

    func releaseHeld(_ headset: SimulatedHeadset, link serial: UInt32) {
        guard let link = headset.link, link.serial == serial, let held = link.held else { return }
        headset.link?.held = nil
        carry(held.value, from: held.characteristic, headset)
    }

    /// Delivers to the process a notification, as late as it arrives.
    private func carry(_ value: [UInt8], from characteristic: BluetoothUUID, _ headset: SimulatedHeadset) {
        guard let link = headset.link else { return }
        let arrival = max(options.lateness.arrival(of: clock, &lateness), link.lastArrival)
        if arrival == clock, link.late.isEmpty {
            return push(.didUpdateValue(characteristic, on: link.identifier, value: value, at: now))
        }
        headset.link?.lastArrival = arrival
        headset.link?.late.append((arrival, characteristic, value))
        queue.schedule(.arrive(headset: Int32(truncatingIfNeeded: headset.number), link: link.serial), at: arrival)
    }

    func arriveNext(_ headset: SimulatedHeadset, link serial: UInt32, isDue: Bool = false) {
        guard let link = headset.link, link.serial == serial, let next = link.late.first, isDue || next.time <= clock else {
            return
        }
        headset.link?.late.removeFirst()
        push(.didUpdateValue(next.characteristic, on: link.identifier, value: next.value, at: now))
    }

    /// What is under way when a link ends arrives before its end is reported.
    func arriveAll(_ headset: SimulatedHeadset) {
        guard let serial = headset.link?.serial else { return }
        for _ in 0..<(headset.link?.late.count ?? 0) { arriveNext(headset, link: serial, isDue: true) }
    }
}
