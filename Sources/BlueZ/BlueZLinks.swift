import Bluetooth

/// Connections: made, restored, cancelled, lost.
struct BlueZLinks {
    /// What the end or the beginning of a link means for the other parts of the conversation.
    enum Effect: Hashable {
        /// Device1.Connect is to be called.
        case connect(path: String)
        /// A link is being closed: nothing is asked of its headset any more.
        case closing(PeripheralIdentifier)
        /// A link has ended.
        case ended(PeripheralIdentifier)
        /// A link is up that nobody waits for any more.
        case unclaimed(path: String)
    }

    /// Device1.Connect: bluetoothd itself gives up after 40 s.
    static let connectLimit = Duration.seconds(60)
    /// Device1.Disconnect: bluetoothd waits 2 s for its own profiles before it closes a link.
    private static let disconnectLimit = Duration.seconds(10)
    /// How long a device that bluetoothd calls busy is left alone before Device1.Connect is called again.
    private static let busyPause = Duration.milliseconds(500)
    /// How long the connect of a dead process is waited for.
    private static let joinLimit = Duration.seconds(10)
    /// How long the kernel needs to give up a pending connect. A connect that follows sooner joins the one that is being given
    /// up, and stays pending for ever, whatever the headset advertises (seen with Linux 6.1 in the lab).
    private static let settleTime = Duration.milliseconds(100)
    /// How long the signal that a link is up may follow the reply that says so: bluetoothd sends both in one turn of its loop.
    private static let confirmationLimit = Duration.milliseconds(500)
    /// Of how many devices it is known that a connect was stuck: more than anybody has headsets. Of the oldest it is forgotten.
    static let stuckLimit = 256

    /// Peripherals that are being connected to or are connected.
    private var links: [BlueZLink] = []
    /// Cancels that were not answered yet.
    private var openCancels: [Attempt] = []
    /// Paths of devices on which the connect of a dead process was found, and no connect has ended since; the oldest first.
    /// Until when each is waited for, whoever gives it up meanwhile and comes back.
    private(set) var stuck: [(path: String, until: MonotonicTime)] = []
    /// By the path of a device: until when the kernel may still be giving up a connect to it.
    private(set) var settling: [String: MonotonicTime] = [:]
    /// Pending connects whose callers do not wait any more.
    private(set) var givenUp = GivenUpConnects()
    private var effects: [Effect] = []
    /// Whether a device may be removed although it is paired.
    private let mayForgetKeys: Bool

    init(mayForgetKeys: Bool) {
        self.mayForgetKeys = mayForgetKeys
    }

    /// Takes what the other parts are to know.
    mutating func takeEffects() -> [Effect] {
        defer { effects.removeAll(keepingCapacity: true) }
        return effects
    }

    var isEmpty: Bool { links.isEmpty }

    /// The link to a device.
    func link(at path: String) -> BlueZLink? { links.first { $0.path == path } }

    /// The link to a peripheral.
    func link(to identifier: PeripheralIdentifier) -> BlueZLink? { links.first { $0.identifier == identifier } }

    // MARK: What the system holds

    /// Takes over the link to a device that was found connected.
    mutating func restore(_ identifier: PeripheralIdentifier, at path: String) {
        // Once more for a second headset: the link stays the one that it is.
        guard link(to: identifier) == nil else { return }
        var link = BlueZLink(path: path, identifier: identifier, attempt: .none, phase: .connected)
        link.wasUp = true
        links.append(link)
    }

    // MARK: Connecting

    mutating func connect(
        _ identifier: PeripheralIdentifier, _ attempt: Attempt, _ adapter: BlueZAdapter, _ exchange: inout BusExchange
    ) {
        func fail(_ error: CentralError) {
            exchange.emit(.didFailToConnect(identifier, error: error, attempt: attempt))
        }
        guard adapter.state == .poweredOn else { return fail(.adapterUnavailable(adapter.state)) }
        guard let device = adapter.device(identifier) else { return fail(.unknownPeripheral) }
        guard !device.isBlocked else { return fail(.peripheralBlocked) }
        // Of a link that is being closed nothing counts on the next; one that is up keeps what it has.
        if link(to: identifier)?.cancels.isEmpty == false { effects.append(.ended(identifier)) }
        links.removeAll { $0.identifier == identifier }
        var link = BlueZLink(
            path: device.path, identifier: identifier, attempt: attempt, phase: .connecting(recovery: .none))
        let claim = givenUp.claim(device.path)
        link.isRejoined = claim == .connect
        link.wasUp = device.isConnected && claim == .nothing
        links.append(link)
        guard link.isRejoined else { return callConnect(links.count - 1, recovery: .none, exchange.now) }
        if device.isConnected { connected(links.count - 1, &exchange) }
    }

    /// Calls Device1.Connect, not before the kernel has given up an earlier connect to the device.
    private mutating func callConnect(_ index: Int, recovery: BlueZLink.Recovery, _ now: MonotonicTime) {
        let path = links[index].path
        if let settled = settling[path], settled > now {
            links[index].phase = .pausing(recovery: recovery, until: settled)
            return
        }
        settling[path] = nil
        links[index].phase = .connecting(recovery: recovery)
        effects.append(.connect(path: path))
    }

    mutating func connectReplied(
        _ path: String, _ result: Result<[BusValue], BusError>, _ adapter: BlueZAdapter, _ exchange: inout BusExchange
    ) {
        guard let index = links.firstIndex(where: { $0.path == path }),
            case .connecting(let recovery) = links[index].phase
        else { return givenUpReplied(path, result, adapter, &exchange) }
        // What was cancelled ends with the reply to Device1.Disconnect.
        guard links[index].cancels.isEmpty else { return }
        switch result {
        case .success:
            if adapter.device(at: path)?.isConnected == true { return connected(index, &exchange) }
            // Seen in BlueZ 5.66: where the adapter is switched off under a connect, bluetoothd calls that a success; and where
            // its ATT socket is faster than the kernel's management channel, it never signals that the device is connected
            // ("is already connected" in its log). So it is asked.
            links[index].phase = .confirming(until: exchange.now + Self.confirmationLimit)
            confirm(path, &exchange)
        case .failure(let error):
            let meaning = BlueZErrorTable.connecting(error)
            guard meaning == .inProgress else {
                stuck.removeAll { $0.path == path }
                if links[index].isRejoined, meaning == .connectionTimedOut {
                    // bluetoothd has waited for longer than this caller.
                    links[index].isRejoined = false
                    return callConnect(index, recovery: .none, exchange.now)
                }
                return failToConnect(index, meaning, adapter, &exchange)
            }
            recover(index, from: recovery, adapter, &exchange)
        }
    }

    /// A connect was answered that its caller has given up.
    private mutating func givenUpReplied(
        _ path: String, _ result: Result<[BusValue], BusError>, _ adapter: BlueZAdapter, _ exchange: inout BusExchange
    ) {
        guard givenUp.paths.contains(path) else { return }
        guard case .success = result else { return givenUp.ended(path) }
        if adapter.device(at: path)?.isConnected != true { confirm(path, &exchange) }
    }

    private func confirm(_ path: String, _ exchange: inout BusExchange) {
        exchange.call(
            "GetAll", of: BlueZInterface.properties, at: path, [.string(BlueZInterface.device)],
            for: .confirmConnect(path: path))
    }

    /// A device was asked whether it is connected: it is, or it is not, or it cannot be asked. No connect is pending then.
    mutating func confirmed(_ path: String, _ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        let isConnected = adapter.device(at: path)?.isConnected == true
        if !isConnected {
            givenUp.ended(path)
        } else if givenUp.connected(path, at: exchange.now) {
            effects.append(.unclaimed(path: path))
        }
        guard let index = links.firstIndex(where: { $0.path == path }) else { return }
        let isRejoined = links[index].isRejoined && links[index].isPending
        if isConnected {
            if links[index].awaitsLink || isRejoined { connected(index, &exchange) }
        } else if isRejoined {
            links[index].isRejoined = false
            callConnect(index, recovery: .none, exchange.now)
        }
    }

    private mutating func connected(_ index: Int, _ exchange: inout BusExchange) {
        let path = links[index].path
        stuck.removeAll { $0.path == path }
        links[index].phase = .connected
        exchange.emit(.didConnect(links[index].identifier, attempt: links[index].attempt))
    }

    /// bluetoothd still works on an earlier connect for this device, of a process that is dead. It is as good as ours: what it
    /// leads to is waited for. Only where that led to nothing before is it cleared away.
    private mutating func recover(
        _ index: Int, from recovery: BlueZLink.Recovery, _ adapter: BlueZAdapter, _ exchange: inout BusExchange
    ) {
        let path = links[index].path
        switch recovery {
        case .none:
            // Not cancelled lightly: a cancel in the moment in which the kernel connects blocks its radio for 4 s (Linux 6.1).
            let until = stuck.first { $0.path == path }?.until ?? exchange.now + Self.joinLimit
            guard until > exchange.now else { return clearStuckConnect(index, &exchange) }
            stuck.removeAll { $0.path == path }
            stuck.append((path: path, until: until))
            if stuck.count > Self.stuckLimit { stuck.removeFirst() }
            links[index].phase = .joining(until: until)
            if adapter.device(at: path)?.isConnected == true { connected(index, &exchange) }
        case .disconnected: links[index].phase = .pausing(recovery: .paused, until: exchange.now + Self.busyPause)
        case .paused:
            // The last resort: forgets the device with whatever is stuck on it; the scan finds it again.
            guard let adapterPath = adapter.path, mayForgetKeys || adapter.device(at: path)?.isPaired != true else {
                return failToConnect(index, .inProgress, adapter, &exchange)
            }
            links[index].phase = .connecting(recovery: .removed)
            exchange.call(
                "RemoveDevice", of: BlueZInterface.adapter, at: adapterPath, [.objectPath(path)],
                for: .removeDevice(path: path))
        case .removed: failToConnect(index, .inProgress, adapter, &exchange)
        }
    }

    /// Device1.Disconnect cancels a connect that is under way, whoever began it.
    private mutating func clearStuckConnect(_ index: Int, _ exchange: inout BusExchange) {
        let path = links[index].path
        links[index].phase = .connecting(recovery: .disconnected)
        exchange.call("Disconnect", of: BlueZInterface.device, at: path, for: .clearStuckConnect(path: path))
    }

    /// A connect to a device was cancelled. Of others that were, nothing is remembered for longer than it counts.
    private mutating func settle(_ path: String, _ now: MonotonicTime) {
        settling = settling.filter { $0.value > now }
        settling[path] = now + Self.settleTime
    }

    mutating func stuckConnectCleared(_ path: String, _ now: MonotonicTime) {
        settle(path, now)
        guard let index = recovering(path, .disconnected) else { return }
        callConnect(index, recovery: .disconnected, now)
    }

    mutating func deviceWasRemoved(_ path: String, _ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        guard let index = recovering(path, .removed) else { return }
        failToConnect(index, .unknownPeripheral, adapter, &exchange)
    }

    private func recovering(_ path: String, _ recovery: BlueZLink.Recovery) -> Int? {
        links.firstIndex { $0.path == path && $0.cancels.isEmpty && $0.phase == .connecting(recovery: recovery) }
    }

    private mutating func failToConnect(
        _ index: Int, _ error: CentralError, _ adapter: BlueZAdapter, _ exchange: inout BusExchange
    ) {
        let link = links.remove(at: index)
        let isGone = adapter.state != .poweredOn
        exchange.emit(
            .didFailToConnect(
                link.identifier, error: isGone ? .adapterUnavailable(adapter.state) : error, attempt: link.attempt))
    }

    // MARK: Cancelling

    mutating func cancel(
        _ identifier: PeripheralIdentifier, _ attempt: Attempt, _ adapter: BlueZAdapter, _ exchange: inout BusExchange
    ) {
        let device = adapter.device(identifier)
        guard let path = link(to: identifier)?.path ?? (device?.isConnected == true ? device?.path : nil) else {
            return exchange.emit(.didDisconnect(identifier, error: nil, attempt: attempt))
        }
        if let index = links.firstIndex(where: { $0.identifier == identifier && ($0.isPending || $0.isJoining) }) {
            let isForeign = links.remove(at: index).isJoining
            givenUp.add(path, isForeign: isForeign, isUp: device?.isConnected == true, at: exchange.now)
            effects.append(.ended(identifier))
            return exchange.emit(.didDisconnect(identifier, error: nil, attempt: attempt))
        }
        openCancels.append(attempt)
        if let index = links.firstIndex(where: { $0.identifier == identifier }) {
            links[index].cancels.append(attempt)
            effects.append(.closing(identifier))
        }
        exchange.call(
            "Disconnect", of: BlueZInterface.device, at: path, for: .disconnect(path: path, attempt: attempt),
            within: Self.disconnectLimit)
    }

    mutating func disconnectReplied(
        _ path: String, _ attempt: Attempt, _ result: Result<[BusValue], BusError>, _ adapter: inout BlueZAdapter,
        _ exchange: inout BusExchange
    ) {
        // Silence: the one who asked has a deadline, and asks again.
        if case .failure(.noReply) = result { return }
        guard let index = links.firstIndex(where: { $0.path == path && $0.cancels.contains(attempt) }) else {
            // Of another program's link, or of one that was asked for again meanwhile.
            guard let identifier = adapter.device(at: path)?.identifier else { return }
            return cancelled(identifier, attempt, &exchange)
        }
        let link = links.remove(at: index)
        if link.phase != .connected { settle(path, exchange.now) }
        // The signal that says so follows the reply.
        adapter.objects.set("Connected", of: BlueZInterface.device, at: path, to: .boolean(false))
        adapter.objects.set("ServicesResolved", of: BlueZInterface.device, at: path, to: .boolean(false))
        effects.append(.ended(link.identifier))
        for cancel in link.cancels { cancelled(link.identifier, cancel, &exchange) }
    }

    /// Answers a cancel, once: the end of a link answers every cancel that waited for it, before bluetoothd does.
    private mutating func cancelled(
        _ identifier: PeripheralIdentifier, _ attempt: Attempt, _ exchange: inout BusExchange
    ) {
        guard let index = openCancels.firstIndex(of: attempt) else { return }
        openCancels.remove(at: index)
        exchange.emit(.didDisconnect(identifier, error: nil, attempt: attempt))
    }

    // MARK: Losing

    /// The adapter is not on any more.
    mutating func closeAll(_ error: CentralError, _ exchange: inout BusExchange) {
        givenUp.reset()
        while !links.isEmpty { close(0, error, &exchange) }
    }

    /// bluetoothd is gone, and with it whatever it was doing.
    mutating func reset(_ exchange: inout BusExchange) {
        settling.removeAll()
        stuck.removeAll()
        closeAll(.adapterUnavailable(.resetting), &exchange)
        openCancels.removeAll()
    }

    /// Ends a link for a reason of the system's.
    private mutating func close(_ index: Int, _ error: CentralError, _ exchange: inout BusExchange) {
        let link = links.remove(at: index)
        effects.append(.ended(link.identifier))
        guard link.cancels.isEmpty else {
            for cancel in link.cancels { cancelled(link.identifier, cancel, &exchange) }
            return
        }
        if link.phase == .connected {
            exchange.emit(.didDisconnect(link.identifier, error: error, attempt: link.attempt))
        } else {
            exchange.emit(.didFailToConnect(link.identifier, error: error, attempt: link.attempt))
        }
    }

    /// Properties of a device changed.
    mutating func deviceChanged(
        _ path: String, _ changed: ObjectMirror.Properties, _ adapter: BlueZAdapter, _ exchange: inout BusExchange
    ) {
        guard let isConnected = changed["Connected"]?.flag else { return }
        if !isConnected {
            givenUp.disconnected(path)
        } else if givenUp.connected(path, at: exchange.now) {
            stuck.removeAll { $0.path == path }
            effects.append(.unclaimed(path: path))
        }
        guard let index = links.firstIndex(where: { $0.path == path }) else { return }
        if isConnected {
            if links[index].awaitsLink { connected(index, &exchange) }
        } else if links[index].phase == .connected {
            close(index, adapter.device(at: path)?.isBlocked == true ? .peripheralBlocked : .linkLost, &exchange)
        }
    }

    /// A device's object is gone.
    mutating func deviceRemoved(_ path: String, _ exchange: inout BusExchange) {
        givenUp.ended(path)
        stuck.removeAll { $0.path == path }
        guard let index = links.firstIndex(where: { $0.path == path }) else { return }
        let phase = links[index].phase
        if phase == .connecting(recovery: .removed) { return }
        close(index, phase == .connected ? .linkLost : .unknownPeripheral, &exchange)
    }

    // MARK: Time

    /// When ``due(_:_:)`` is to be called; nil for never.
    var deadline: MonotonicTime? { (links.map(\.deadline) + [givenUp.deadline]).compactMap(\.self).min() }

    /// Goes on where a link has waited.
    mutating func due(_ adapter: BlueZAdapter, _ exchange: inout BusExchange) {
        for path in givenUp.takeOverdue(at: exchange.now) {
            settle(path, exchange.now)
            exchange.call(
                "Disconnect", of: BlueZInterface.device, at: path, for: .clearStuckConnect(path: path),
                within: Self.disconnectLimit)
        }
        while let index = links.firstIndex(where: { $0.deadline.map { $0 <= exchange.now } ?? false }) {
            switch links[index].phase {
            case .pausing(let recovery, _): callConnect(index, recovery: recovery, exchange.now)
            case .joining: clearStuckConnect(index, &exchange)
            case .confirming:
                failToConnect(
                    index, .connectionFailed(reason: "bluetoothd gave up without a reason"), adapter, &exchange)
            case .connecting, .connected: return
            }
        }
    }
}
