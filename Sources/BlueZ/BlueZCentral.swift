package import Bluetooth
package import BluetoothManagement
import CLinux
import CSystemd
import Glibc

/// The central over bluetoothd's D-Bus interface.
///
/// The thin half that holds file descriptors: the connection to the bus, and one socket for each characteristic that
/// notifies. What the messages mean is ``BlueZConversation``'s.
package final class BlueZCentral: Central {
    /// The longest value of an attribute (Vol 3, Part F, 3.2.9), and so of a notification.
    private static let longestValue = 512
    /// How often the bus is tried again.
    private static let busPause = Duration.milliseconds(500)
    /// When what could not be written at once is tried again: the bus takes a message within microseconds.
    private static let writePause = Duration.milliseconds(2)

    /// A full socket neither waits nor kills the process.
    static let neverWait = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)

    private let watch: DescriptorWatch
    /// Says which of the sockets can be read: each notification costs one read, whatever their number.
    private let readiness = DescriptorSet()
    /// The kernel's word on links: bluetoothd neither takes their parameters nor says why they ended.
    private let supervision: LinkSupervision
    /// The kernel's word on radio switches: of one that is moved while the adapter is off, bluetoothd says nothing.
    private let radioSwitch: RadioSwitchWatch
    private let lock: AdapterLock?
    private var conversation: BlueZConversation
    private var bus: BusConnection?
    private var nextBusTry: MonotonicTime? = .boot
    private var calls: [UInt64: CallNumber] = [:]
    /// True where more had arrived than one turn takes.
    private var hasMoreMessages = false
    private var sockets: [NotificationSocket] = []
    private var buffer = [UInt8](repeating: 0, count: BlueZCentral.longestValue + 3)

    /// Creates a central that connects to the system bus when it is first processed.
    ///
    /// - Parameters:
    ///   - lock: keeps other processes from the adapter, and this one from theirs; nil for one that only looks on.
    ///   - watch: where its file descriptors are watched.
    package init(options: BlueZOptions = BlueZOptions(), lock: AdapterLock? = nil, watch: DescriptorWatch) {
        self.watch = watch
        watch.watch(readiness.descriptor)
        let readiness = readiness
        let members = DescriptorWatch(watch: { readiness.insert($0) }, unwatch: { readiness.remove($0) })
        radioSwitch = RadioSwitchWatch(adopting: RadioSwitchWatch.openDevice(), watch: members)
        supervision = LinkSupervision(watch: members)
        self.lock = lock
        conversation = BlueZConversation(
            options: options, isBlocked: { RadioSwitch.isBlocked(adapter: $0) }, mayUse: { lock?.take($0) ?? true })
    }

    deinit {
        for call in conversation.farewell { _ = bus?.send(call) }
        bus?.flush()
        watch.unwatch(readiness.descriptor)
        for socket in sockets { Glibc.close(socket.descriptor) }
        for socket in conversation.attributes.writeSockets { Glibc.close(socket.socket) }
    }

    // MARK: Central

    package var state: AdapterState { conversation.adapter.state }

    package var deadline: MonotonicTime? {
        if conversation.hasEvents || hasMoreMessages { return conversation.now }
        var deadlines = [conversation.deadline, nextBusTry]
        if bus?.wantsToWrite == true { deadlines.append(conversation.now + Self.writePause) }
        return deadlines.compactMap { $0 }.min()
    }

    package func process(at now: MonotonicTime) -> [CentralEvent] {
        conversation.now = now
        lock?.dismissQuestions()
        connectBus(at: now)
        let ready = readiness.ready()
        // First what the headsets sent: the news that a link is gone must not overtake its last samples.
        var events = receiveNotifications(ready)
        if let descriptor = supervision.descriptor, ready.contains(descriptor) { supervision.process() }
        if let descriptor = radioSwitch.descriptor, ready.contains(descriptor), radioSwitch.takeChange() != nil {
            conversation.radioSwitchChanged()
        }
        if let bus, bus.wantsToWrite || hasMoreMessages || ready.contains(bus.descriptor) { receiveMessages() }
        if let due = conversation.deadline, due <= now { conversation.deadlineReached() }
        carryOut()
        events += conversation.takeEvents().map(withReason)
        for (identifier, quality) in supervision.takeQualities() { events.append(.didReadRSSI(quality, of: identifier)) }
        return events
    }

    /// The end of a link with the reason that the kernel gave.
    private func withReason(_ event: CentralEvent) -> CentralEvent {
        guard case .didDisconnect(let identifier, let error, let attempt) = event else { return event }
        // It was reported before bluetoothd reported the end, but maybe after this turn looked.
        supervision.process()
        guard let reason = supervision.takeReason(of: identifier), error == .linkLost else { return event }
        return .didDisconnect(identifier, error: reason.error, attempt: attempt)
    }

    package func request(_ request: CentralRequest) {
        // bluetoothd neither takes the parameters of links nor says how strong they are, nor why they ended: that is the
        // kernel's.
        switch request {
        case .setConnectionParameters(let parameters, let peripheral):
            supervision.setParameters(parameters, for: peripheral)
        case .readRSSI(let peripheral):
            if let index = controllerIndex { supervision.readQuality(of: peripheral, on: index) }
        default:
            conversation.take(request)
            carryOut()
        }
    }

    /// The kernel's number of the adapter in use; nil for none.
    private var controllerIndex: ControllerIndex? {
        conversation.adapter.path.flatMap { ControllerIndex(name: AdapterObject.name(of: $0)) }
    }

    // MARK: The bus

    private func connectBus(at now: MonotonicTime) {
        guard bus == nil, let due = nextBusTry, due <= now else { return }
        do {
            let bus = try BusConnection()
            // Signals of bluetoothd, and the news of its coming and going.
            bus.addMatch("type='signal',sender='org.bluez'")
            bus.addMatch(BluetoothdOwner.matchRule)
            readiness.insert(bus.descriptor)
            self.bus = bus
            nextBusTry = nil
            conversation.busConnected()
        } catch {
            nextBusTry = now + Self.busPause
            conversation.busLost()
        }
    }

    private func receiveMessages() {
        hasMoreMessages = false
        for _ in 0..<BusConnection.turnLimit {
            let received = bus?.receive(
                isAwaited: { calls[$0] != nil }, mayBelieve: conversation.owner.mayBelieve)
            guard let received else { return }
            // A value that comes as a signal bears the time at which it was read, and not that at which the turn began: the
            // message before it may have taken long.
            conversation.now = max(conversation.now, MonotonicTime(nanoseconds: clinux_boottime_nanoseconds()))
            switch received {
            case .reply(let cookie, let result):
                guard let number = calls.removeValue(forKey: cookie) else { continue }
                conversation.replied(number, result)
            case .signal(let signal): conversation.received(signal)
            case .call(let call, let message): bus?.answer(message, conversation.answer(call))
            case .nothing: break
            case .lost:
                if let bus { readiness.remove(bus.descriptor) }
                bus = nil
                calls.removeAll()
                nextBusTry = conversation.now + Self.busPause
                conversation.busLost()
            }
            carryOut()
        }
        hasMoreMessages = true
    }

    /// Does what the conversation asks for.
    private func carryOut() {
        while true {
            let effects = conversation.takeEffects()
            if effects.isEmpty { return }
            for effect in effects {
                switch effect {
                case .call(let call):
                    if let cookie = bus?.send(call) {
                        calls[cookie] = call.number
                    } else {
                        conversation.callFailed(call.number)
                    }
                case .loadConnectionParameters:
                    if let index = controllerIndex { supervision.willConnect(on: index) }
                case .receive(let descriptor, let characteristic, let identifier):
                    sockets.append(
                        NotificationSocket(
                            descriptor: descriptor, characteristic: characteristic, identifier: identifier))
                    readiness.insert(descriptor)
                case .send(let value, let socket):
                    if !WriteSocket.send(value, over: socket) { conversation.socketEnded(socket) }
                case .close(let descriptor):
                    sockets.removeAll { $0.descriptor == descriptor }
                    readiness.remove(descriptor)
                    Glibc.close(descriptor)
                }
            }
        }
    }

    // MARK: Notifications

    private func receiveNotifications(_ ready: ArraySlice<Int32>) -> [CentralEvent] {
        var events: [CentralEvent] = []
        var ended: [Int32] = []
        for socket in sockets where ready.contains(socket.descriptor) {
            let hasEnded = socket.receive(&buffer) { value in
                let arrival = MonotonicTime(nanoseconds: clinux_boottime_nanoseconds())
                events.append(.didUpdateValue(socket.characteristic, on: socket.identifier, value: value, at: arrival))
            }
            if hasEnded { ended.append(socket.descriptor) }
        }
        if !events.isEmpty { conversation.notificationsArrived() }
        for descriptor in ended { conversation.socketEnded(descriptor) }
        return events
    }
}
