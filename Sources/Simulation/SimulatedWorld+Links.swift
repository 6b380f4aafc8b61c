import Bluetooth

/// Advertising, connecting, losing links.
extension SimulatedWorld {
    /// True where a connection request would be answered and a scan would hear the headset.
    func isReachable(_ headset: SimulatedHeadset) -> Bool {
        headset.isBooted && headset.isHeard && !headset.isConnected && adapterState == .poweredOn
    }

    // MARK: Scanning

    func scan(_ filter: ScanFilter) {
        guard adapterState == .poweredOn else {
            push(.didFailToScan(.adapterUnavailable(adapterState)), after: draw(options.systemLatency))
            return
        }
        if process.scanFilter == nil { process.scanIsSilent = strikes(.silentScan, headset: 0) }
        process.scanFilter = filter
        refreshAdvertising()
    }

    func stopScan() {
        process.scanFilter = nil
        process.scanIsSilent = false
        refreshAdvertising()
    }

    /// Looks again at what each headset advertises; called whenever something changed on which that depends.
    func refreshAdvertising() {
        for headset in headsets { refreshAdvertising(headset) }
    }

    func refreshAdvertising(_ headset: SimulatedHeadset) {
        let isReachable = isReachable(headset)
        if isReachable { armConnects(to: headset) }
        let isReported =
            isReachable && !process.scanIsSilent && process.scanFilter?.matches(headset.advertisement) ?? false
        guard isReported != headset.isAdvertisementScheduled else { return }
        headset.isAdvertisementScheduled = isReported
        headset.advertisingGeneration &+= 1
        if isReported { scheduleAdvertisement(headset, after: advertisingDelay(headset)) }
    }

    func advertise(_ headset: SimulatedHeadset, generation: UInt32) {
        guard generation == headset.advertisingGeneration, headset.isAdvertisementScheduled else { return }
        let rssi = headset.specification.rssi &+ Int8(timing.below(9)) &- 4
        push(.didDiscover(headset.reportedIdentifier, advertisement: headset.advertisement, rssi: rssi))
        let delay = Int64(timing.below(10_000_000))
        scheduleAdvertisement(headset, after: headset.specification.advertisingInterval.nanoseconds + delay)
    }

    private func scheduleAdvertisement(_ headset: SimulatedHeadset, after delay: Int64) {
        let number = Int32(truncatingIfNeeded: headset.number)
        queue.schedule(.advertise(headset: number, generation: headset.advertisingGeneration), at: clock + delay)
    }

    /// The time until the next advertisement from an instant that has nothing to do with the headset's rhythm.
    private func advertisingDelay(_ headset: SimulatedHeadset) -> Int64 {
        1 + Int64(timing.below(UInt64(max(1, headset.specification.advertisingInterval.nanoseconds))))
    }

    // MARK: Connecting

    func connect(_ identifier: PeripheralIdentifier, attempt: Attempt) {
        let headset = headsets.first { $0.answers(to: identifier) }
        if attempt == .none { record(.missingAttempt, identifier, attempt) }
        guard adapterState == .poweredOn else {
            failConnect(identifier, .adapterUnavailable(adapterState), attempt: attempt)
            return
        }
        if let earlier = process.connects.first(where: { $0.identifier == identifier }) {
            if !earlier.isCancelled { record(.secondConnect, identifier, attempt, earlier: earlier.attempt) }
            failConnect(identifier, .inProgress, attempt: attempt)
            return
        }
        let owner = headsets.first { $0.identifiers.contains(identifier) }
        if let owner,
            let earlier = process.connects.first(where: { !$0.isCancelled && owner.identifiers.contains($0.identifier) })
        {
            record(.secondConnectToHeadset, identifier, attempt, earlier: earlier.attempt)
        }
        if let linked = headsets.first(where: { $0.link?.identifier == identifier }), adopt(linked, attempt: attempt) { return }
        var pending = PendingConnect(serial: makeSerial(), identifier: identifier, attempt: attempt, fate: .normal)
        if let headset {
            pending.fate = fate(of: headset)
        } else if strikes(.unknownPeripheral, headset: 0) {
            pending.fate = .failing(.unknownPeripheral)
        }
        if case .failing(let error) = pending.fate {
            pending.isArmed = true
            let delay = error == .unknownPeripheral ? draw(options.systemLatency) : draw(.milliseconds(100) ... .seconds(3))
            queue.schedule(.establish(connect: pending.serial), at: clock + delay)
        }
        process.connects.append(pending)
        guard let headset else { return }
        if headset.isHeldByOther { joinOther(headset) } else if isReachable(headset) { armConnects(to: headset) }
    }

    private func record(
        _ kind: ContractViolation.Kind, _ identifier: PeripheralIdentifier, _ attempt: Attempt, earlier: Attempt = .none
    ) {
        guard contractViolations.count < Self.violationLimit else { return }
        contractViolations.append(
            ContractViolation(time: now, kind: kind, identifier: identifier, attempt: attempt, earlier: earlier))
    }

    private func failConnect(_ identifier: PeripheralIdentifier, _ error: CentralError, attempt: Attempt) {
        push(.didFailToConnect(identifier, error: error, attempt: attempt), after: draw(options.systemLatency))
    }

    /// What a new connection request will meet.
    private func fate(of headset: SimulatedHeadset) -> PendingConnect.Fate {
        if strikes(.lostConnect, headset: headset.number) { return .lost }
        guard strikes(.connectFailure, headset: headset.number) else { return .normal }
        return .failing(
            chance.below(2) == 0 ? .connectionTimedOut : .connectionFailed(reason: "connection failed to be established"))
    }

    /// Answers a connect to a headset that is connected already; false where the link belongs to a dead process's socket.
    private func adopt(_ headset: SimulatedHeadset, attempt: Attempt) -> Bool {
        guard let link = headset.link, !(link.isOrphan && endsWithProcess(linkOf: headset)) else { return false }
        headset.link?.isOrphan = false
        headset.link?.isReported = true
        headset.link?.attempt = attempt
        // At once: a delayed answer could be overtaken by the loss of the link.
        push(.didConnect(link.identifier, attempt: attempt))
        return true
    }

    /// Shares another program's link, as bluetoothd lets one do; a kernel socket, and so a serial port, finds the channel busy.
    private func joinOther(_ headset: SimulatedHeadset) {
        guard let index = process.connects.firstIndex(where: { headset.answers(to: $0.identifier) }),
            process.connects[index].fate == .normal, !process.connects[index].isArmed
        else { return }
        if endsWithProcess(linkOf: headset) { process.connects[index].fate = .failing(.channelBusy) }
        process.connects[index].isArmed = true
        let delay = draw(options.systemLatency)
        queue.schedule(.establish(connect: process.connects[index].serial), at: clock + delay)
    }

    /// Lets connection requests that waited for the headset proceed.
    func armConnects(to headset: SimulatedHeadset) {
        for index in process.connects.indices {
            let pending = process.connects[index]
            guard pending.fate == .normal, !pending.isArmed, headset.answers(to: pending.identifier) else { continue }
            process.connects[index].isArmed = true
            // An advertisement must be heard, and the first data packet comes 1.25 ms and more after the request.
            var delay = advertisingDelay(headset) + 3 * headset.specification.connectionInterval.nanoseconds
            if strikes(.slowConnect, headset: headset.number) { delay += draw(faults.slowConnectDuration) }
            queue.schedule(.establish(connect: pending.serial), at: clock + delay)
        }
    }

    func establish(_ serial: UInt32) {
        guard let index = process.connects.firstIndex(where: { $0.serial == serial }) else { return }
        let pending = process.connects[index]
        switch pending.fate {
        case .lost, .answered: return
        case .failing(let error):
            process.connects.remove(at: index)
            push(.didFailToConnect(pending.identifier, error: error, attempt: pending.attempt))
        case .normal:
            process.connects[index].isArmed = false
            guard let headset = headsets.first(where: { $0.answers(to: pending.identifier) }) else { return }
            guard headset.isHeldByOther || isReachable(headset) else { return }
            openLink(headset, pending, index: index)
        }
    }

    private func openLink(_ headset: SimulatedHeadset, _ pending: PendingConnect, index: Int) {
        headset.isHeldByOther = false
        headset.link = SimulatedHeadset.Link(
            serial: makeSerial(), identifier: pending.identifier, attempt: pending.attempt, isReported: true)
        let answer = CentralEvent.didConnect(pending.identifier, attempt: pending.attempt)
        if strikes(.lateReply, headset: headset.number) {
            let slot = push(answer, after: draw(faults.lateReplyDelay), isLate: true, connect: pending.serial)
            process.connects[index].fate = .answered(slot: slot)
        } else {
            process.connects.remove(at: index)
            push(answer)
        }
        refreshAdvertising(headset)
        headset.behaviour.linkChanged(at: clock)
    }

    // MARK: Losing a link

    func cancel(_ identifier: PeripheralIdentifier, attempt: Attempt) {
        for index in process.connects.indices where process.connects[index].identifier == identifier {
            process.connects[index].isCancelled = true
        }
        request(.cancel(identifier, serial: makeSerial()), attempt: attempt)
    }

    /// Carries out a cancellation: of the request and of the link, whichever there is.
    func performCancel(_ identifier: PeripheralIdentifier, serial: UInt32, attempt: Attempt) {
        process.connects.removeAll { pending in
            guard pending.identifier == identifier, pending.serial < serial else { return false }
            if case .answered(let slot) = pending.fate { voidConnect(slot) }
            return true
        }
        if let headset = headsets.first(where: { $0.link?.identifier == identifier }) { closeLink(headset, error: nil) }
        push(.didDisconnect(identifier, error: nil, attempt: attempt))
    }

    /// The answer to a cancelled connect still comes, long after its time; it answers no open request any more.
    private func voidConnect(_ slot: Int) {
        deliveries.detach(slot)
    }

    /// Ends a link; `error` is nil where the daemon itself asked for it, which is answered elsewhere.
    func closeLink(_ headset: SimulatedHeadset, error: CentralError?) {
        guard let link = headset.link else { return }
        arriveAll(headset)
        headset.link = nil
        headset.behaviour.linkChanged(at: clock)
        if let index = process.connects.firstIndex(where: { pending in
            if case .answered = pending.fate { return pending.identifier == link.identifier }
            return false
        }) {
            // The request has one answer: that there is no link.
            let pending = process.connects.remove(at: index)
            if case .answered(let slot) = pending.fate { deliveries.void(slot) }
            let failure = CentralError.connectionFailed(reason: "the link was lost at once")
            if error != nil { push(.didFailToConnect(link.identifier, error: failure, attempt: pending.attempt)) }
        } else if link.isReported, let error {
            push(.didDisconnect(link.identifier, error: error, attempt: link.attempt))
        }
        refreshAdvertising(headset)
    }

    /// Begins to count the supervision timeout where the headset is not heard any more.
    func startSupervision(_ headset: SimulatedHeadset) {
        let timeout = headset.specification.supervisionTimeout.nanoseconds
        let serial = headset.link?.serial ?? 0
        headset.unheardSince = clock
        guard headset.isConnected else { return }
        queue.schedule(.supervise(headset: Int32(truncatingIfNeeded: headset.number), link: serial), at: clock + timeout)
    }

    func supervise(_ headset: SimulatedHeadset, link serial: UInt32) {
        let timeout = headset.specification.supervisionTimeout.nanoseconds
        guard !headset.isInRange || !headset.isBooted, clock - headset.unheardSince >= timeout else { return }
        if serial == 0 {
            headset.isHeldByOther = false
            refreshAdvertising(headset)
        } else if headset.link?.serial == serial {
            closeLink(headset, error: .linkLost)
        }
    }

    func closeOrphan(_ headset: SimulatedHeadset, link serial: UInt32) {
        guard let link = headset.link, link.serial == serial, link.isOrphan else { return }
        closeLink(headset, error: .linkLost)
    }
}
