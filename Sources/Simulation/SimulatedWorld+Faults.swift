package import Bluetooth

/// Which faults hold at present.
struct FaultConditions {
    /// How many occurrences of a fault overlap at present, by fault and headset.
    private var depths: [UInt16]
    private let width: Int
    /// The probability of each fault of a request or notification.
    private(set) var probabilities: [Double]
    /// Ends that belong to an earlier generation are void: all faults were ended.
    private(set) var generation: UInt32 = 0
    /// True once nothing may go wrong any more.
    private(set) var isOver = false

    init(headsetCount: Int, faults: FaultProbabilities) {
        width = max(1, headsetCount)
        depths = [UInt16](repeating: 0, count: width * Fault.allCases.count)
        probabilities = Fault.allCases.map { faults.probability(of: $0) }
    }

    subscript(fault: Fault, headset: Int) -> UInt16 {
        get { depths[Int(fault.rawValue) * width + headset] }
        set { depths[Int(fault.rawValue) * width + headset] = newValue }
    }

    mutating func end() {
        for index in depths.indices { depths[index] = 0 }
        for index in probabilities.indices { probabilities[index] = 0 }
        generation += 1
        isOver = true
    }
}

extension SimulatedWorld {
    /// Lets all faults end at an instant, for good: every headset in range and awake on its link, the adapter on, every
    /// request answered. What the faults left behind stays: new addresses, new boots, low power, lost links.
    package func stopFaults(at time: MonotonicTime) {
        queue.schedule(.faultsStop, at: max(clock, time.nanoseconds))
    }

    /// Takes the faults of the daemon's machine that came since the last call; the rehearsal carries them out.
    package func takeHostFaults() -> [HostFault] {
        var taken: [HostFault] = []
        swap(&taken, &hostFaults)
        return taken
    }

    /// Adds a fault to the script.
    package func schedule(_ fault: ScriptedFault) {
        let headset = fault.fault.scope == .headset ? min(max(0, fault.headset), max(0, headsets.count - 1)) : 0
        let number = Int32(truncatingIfNeeded: headset)
        let event = WorldEvent.faultBegins(fault.fault, headset: number, duration: fault.duration.nanoseconds)
        queue.schedule(event, at: max(clock, fault.time.nanoseconds))
    }

    /// True while the fault holds for the headset (0 for faults of the adapter).
    func isUnder(_ fault: Fault, headset: Int) -> Bool { conditions[fault, headset] > 0 }

    /// Decides whether a fault befalls a request or notification, and counts it.
    func strikes(_ fault: Fault, headset: Int) -> Bool {
        let isForced = conditions[fault, headset] > 0
        let probability = conditions.probabilities[Int(fault.rawValue)]
        // Draws of its own: what else befalls a seed does not depend on it.
        let strikes = fault == .malformedNotification ? malformation.strikes(probability) : chance.strikes(probability)
        guard isForced || strikes else { return false }
        injected[fault] += 1
        return true
    }

    /// True where ``strikes(_:headset:)`` can be true; draws nothing.
    func isPossible(_ fault: Fault, headset: Int) -> Bool {
        conditions[fault, headset] > 0 || conditions.probabilities[Int(fault.rawValue)] > 0
    }

    // MARK: The random schedule

    func scheduleRandomFaults() {
        for fault in Fault.allCases {
            guard let episode = faults.episode(of: fault), episode.perHour > 0 else { continue }
            for headset in 0..<(fault.scope == .headset ? headsets.count : 1) {
                scheduleNext(fault, episode, headset: headset)
            }
        }
    }

    private func scheduleNext(_ fault: Fault, _ episode: FaultProbabilities.Episode, headset: Int) {
        let wait = min(chance.exponential() * 3600e9 / episode.perHour, 1e18)
        queue.schedule(.faultDraw(fault, headset: Int32(truncatingIfNeeded: headset)), at: clock + Int64(wait))
    }

    func drawFault(_ fault: Fault, headset: Int) {
        guard !conditions.isOver, let episode = faults.episode(of: fault) else { return }
        begin(fault, headset: headset, duration: chance.duration(episode.duration).nanoseconds)
        scheduleNext(fault, episode, headset: headset)
    }

    // MARK: Beginning and ending

    func begin(_ fault: Fault, headset number: Int, duration: Int64) {
        guard !conditions.isOver, !headsets.isEmpty || fault.scope != .headset else { return }
        if fault.scope == .host {
            injected[fault] += 1
            hostFaults.append(HostFault(time: now, fault: fault, duration: .nanoseconds(duration)))
            return
        }
        if fault.scope == .headset, isInstant(fault) {
            strike(fault, headsets[number])
            return
        }
        conditions[fault, number] += 1
        let end = WorldEvent.faultEnds(
            fault, headset: Int32(truncatingIfNeeded: number), generation: conditions.generation)
        queue.schedule(end, at: clock + max(0, duration))
        if conditions[fault, number] == 1 { conditionChanged(fault, headset: number, holds: true) }
    }

    func end(_ fault: Fault, headset number: Int, generation: UInt32) {
        guard generation == conditions.generation, conditions[fault, number] > 0 else { return }
        conditions[fault, number] -= 1
        if conditions[fault, number] == 0 { conditionChanged(fault, headset: number, holds: false) }
    }

    func endAllFaults() {
        guard !conditions.isOver else { return }
        conditions.end()
        for headset in headsets {
            headset.isInRange = true
            headset.isHeldByOther = false
        }
        deliverLateReplies()
        process.scanIsSilent = false
        for index in process.connects.indices {
            if process.connects[index].fate == .lost { process.connects[index].fate = .normal }
            // A slow connection is overtaken by a normal one.
            process.connects[index].isArmed = false
        }
        updateAdapter()
        refreshAdvertising()
    }

    private func isInstant(_ fault: Fault) -> Bool {
        switch fault {
        case .reboot, .lowPower, .rotatedAddress, .staleAddress, .headsetDisconnect, .operatorDisconnect, .servicesChanged:
            true
        default: false
        }
    }

    /// Carries out the beginning or the end of a fault that lasts for a while.
    private func conditionChanged(_ fault: Fault, headset number: Int, holds: Bool) {
        switch fault {
        case .outOfRange:
            let headset = headsets[number]
            headset.isInRange = !holds
            if holds { injected[fault] += 1 }
            if holds { startSupervision(headset) }
            refreshAdvertising(headset)
        case .silence, .pairingMode, .noServiceAdvertised:
            if holds { injected[fault] += 1 }
            refreshAdvertising(headsets[number])
        case .heldByOtherProgram:
            hold(headsets[number], holds)
        case .adapterOff, .radioBlocked, .adapterVanished, .systemRestarted:
            if holds { injected[fault] += 1 }
            updateAdapter()
        default: break
        }
    }

    private func hold(_ headset: SimulatedHeadset, _ holds: Bool) {
        if holds {
            // The other program cannot take a headset that is away or that is ours.
            guard isReachable(headset) else { return }
            injected[.heldByOtherProgram] += 1
        } else if !headset.isHeldByOther {
            return
        }
        headset.isHeldByOther = holds
        refreshAdvertising(headset)
    }

    /// Takes over the adapter's state from the faults that hold. What hides the most is reported first.
    private func updateAdapter() {
        let state: AdapterState =
            if isUnder(.adapterVanished, headset: 0) { .absent } else if isUnder(.systemRestarted, headset: 0) {
                .resetting
            } else if isUnder(.radioBlocked, headset: 0) { .blocked } else if isUnder(.adapterOff, headset: 0) {
                .poweredOff
            } else { .poweredOn }
        guard state != adapterState else { return }
        let wasOn = adapterState == .poweredOn
        adapterState = state
        // Whether the state or the lost links are reported first differs from case to case in reality.
        let stateFirst = chance.below(2) == 0
        if stateFirst { reportState() }
        if wasOn { shutDownRadio() }
        if !stateFirst { reportState() }
        refreshAdvertising()
    }

    /// Ends every link, connection request and scan, because the adapter cannot be used.
    private func shutDownRadio() {
        let error = CentralError.adapterUnavailable(adapterState)
        for headset in headsets {
            headset.isHeldByOther = false
            closeLink(headset, error: error)
        }
        let connects = process.connects
        process.connects = []
        for pending in connects {
            push(.didFailToConnect(pending.identifier, error: error, attempt: pending.attempt))
        }
        if process.scanFilter != nil {
            process.scanFilter = nil
            process.scanIsSilent = false
            push(.didFailToScan(error))
        }
    }

    // MARK: Faults of an instant

    /// Carries out a fault of an instant, and counts it where it has an effect.
    private func strike(_ fault: Fault, _ headset: SimulatedHeadset) {
        let hasEffect: Bool
        switch fault {
        case .reboot: hasEffect = reboot(headset)
        case .lowPower: hasEffect = headset.isBooted && headset.behaviour.sleep(at: clock)
        case .rotatedAddress: hasEffect = rotate(headset)
        case .staleAddress:
            closeLink(headset, error: .linkLost)
            changeAddress(headset, to: 0b11)
            hasEffect = true
        case .headsetDisconnect: hasEffect = disconnect(headset, error: .peripheralDisconnected)
        case .operatorDisconnect: hasEffect = disconnect(headset, error: .disconnectedByOperator)
        case .servicesChanged: hasEffect = changeServices(headset)
        default: hasEffect = false
        }
        if hasEffect { injected[fault] += 1 }
    }

    @discardableResult func reboot(_ headset: SimulatedHeadset) -> Bool {
        guard headset.isBooted else { return false }
        headset.isBooted = false
        headset.bootGeneration &+= 1
        headset.scheduleTick(at: nil)
        headset.behaviour.shutDown(at: clock)
        startSupervision(headset)
        queue.schedule(
            .booted(headset: Int32(truncatingIfNeeded: headset.number), generation: headset.bootGeneration),
            at: clock + headset.specification.bootDuration.nanoseconds)
        refreshAdvertising(headset)
        return true
    }

    /// A headset that has booted knows nothing of its old link: the host notices at the supervision timeout at the latest.
    func finishBoot(_ headset: SimulatedHeadset, generation: UInt32) {
        guard generation == headset.bootGeneration else { return }
        closeLink(headset, error: .linkLost)
        headset.isHeldByOther = false
        headset.isBooted = true
        headset.behaviour.boot(at: clock)
        refreshAdvertising(headset)
    }

    private func disconnect(_ headset: SimulatedHeadset, error: CentralError) -> Bool {
        guard headset.link != nil, headset.isHeard, headset.isBooted else { return false }
        closeLink(headset, error: error)
        return true
    }

    private func changeServices(_ headset: SimulatedHeadset) -> Bool {
        guard let link = headset.link, headset.isHeard, headset.isBooted else { return false }
        headset.servicesAreUnknown = true
        headset.link?.isDiscovered = false
        headset.link?.subscriptions = []
        if link.isReported { push(.didModifyServices(link.identifier)) }
        headset.behaviour.linkChanged(at: clock)
        return true
    }

    private func rotate(_ headset: SimulatedHeadset) -> Bool {
        guard headset.specification.usesPrivateAddress, !headset.hasSerialPort else { return false }
        changeAddress(headset, to: 0b01)
        return true
    }

    /// Gives the headset a new address: a random one of the kind that the two highest bits name, or, instead of a static one,
    /// another of the type that it had, as another board has.
    private func changeAddress(_ headset: SimulatedHeadset, to kind: UInt64) {
        let type = kind == 0b11 ? headset.identifier.addressType : .random
        headset.identifier = PeripheralIdentifier(address: kind << 46 | chance.next() >> 18, type: type)
        headset.identifiers.append(headset.identifier)
        refreshAdvertising(headset)
    }
}
