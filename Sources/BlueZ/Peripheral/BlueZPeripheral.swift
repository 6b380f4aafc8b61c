package import Bluetooth
package import BluetoothManagement
import CLinux
import CSystemd
import Glibc

/// This machine as a peripheral, over bluetoothd's D-Bus interface: publishes services, advertises, notifies.
///
/// The thin half that holds file descriptors: the connection to the bus, and one socket for each characteristic that is
/// subscribed. What the messages mean is ``PeripheralConversation``'s. To be used like a ``Central``: what becomes readable, or
/// a deadline, leads to a call of ``process(at:)``.
package final class BlueZPeripheral {
    /// Of the sockets of AcquireNotify and AcquireWrite: packets stay apart (org.bluez.GattCharacteristic(5)).
    static let socketType = Int32(SOCK_SEQPACKET.rawValue)
    /// How often the bus is tried again.
    private static let busPause = Duration.milliseconds(500)
    /// When what could not be written at once is tried again: the bus takes a message within microseconds.
    private static let writePause = Duration.milliseconds(2)

    private let watch: DescriptorWatch
    private let readiness = DescriptorSet()
    /// Lets those go who ask who has the adapter.
    private let dismissQuestions: () -> Void
    private var conversation: PeripheralConversation
    private var bus: BusConnection?
    private var nextBusTry: MonotonicTime? = .boot
    private var calls: [UInt64: CallNumber] = [:]
    /// True where more had arrived than one turn takes.
    private var hasMoreMessages = false
    /// Calls of bluetoothd that wait for their answers.
    private var incoming: [RequestNumber: BusMessage] = [:]
    private var lastRequest: UInt64 = 0
    private var sockets: [(uuid: BluetoothUUID, descriptor: Int32)] = []

    /// How many notifications were dropped because bluetoothd did not take them fast enough.
    package private(set) var droppedCount = 0

    /// Creates a peripheral that connects to the system bus when it is first processed.
    ///
    /// - Parameters:
    ///   - adapter: its name or address; nil for the first that is switched on.
    ///   - lock: keeps other processes from the adapter, and this one from theirs; nil for one that shares it.
    ///   - watch: where its file descriptors are watched.
    package convenience init(adapter: String?, lock: AdapterLock? = nil, watch: DescriptorWatch) {
        self.init(
            adapter: adapter, mayUse: { lock?.take($0) ?? true }, dismissQuestions: { lock?.dismissQuestions() }, watch: watch)
    }

    /// The same with another lock.
    init(
        adapter: String?, mayUse: @escaping (String) -> Bool, dismissQuestions: @escaping () -> Void, watch: DescriptorWatch
    ) {
        self.watch = watch
        self.dismissQuestions = dismissQuestions
        watch.watch(readiness.descriptor)
        conversation = PeripheralConversation(
            adapter: adapter, isBlocked: { RadioSwitch.isBlocked(adapter: $0) }, mayUse: mayUse)
    }

    deinit {
        watch.unwatch(readiness.descriptor)
        for socket in sockets { Glibc.close(socket.descriptor) }
    }

    /// The state of the adapter in use.
    package var state: AdapterState { conversation.adapter.state }

    /// The adapter in use, such as `hci0`, and its address; nil where there is none.
    package var adapter: (name: String, address: String)? {
        let known = conversation.adapter.path.flatMap { AdapterObject(conversation.adapter.objects, path: $0) }
        return known.map { ($0.name, $0.address) }
    }

    /// When ``process(at:)`` is due, whether or not a descriptor is readable; nil for never.
    package var deadline: MonotonicTime? {
        if conversation.hasEvents || hasMoreMessages { return conversation.now }
        var deadlines = [conversation.deadline, nextBusTry]
        if bus?.wantsToWrite == true { deadlines.append(conversation.now + Self.writePause) }
        return deadlines.compactMap { $0 }.min()
    }

    /// Receives and sends what there is. Never waits.
    package func process(at now: MonotonicTime) -> [PeripheralEvent] {
        conversation.now = now
        dismissQuestions()
        connectBus(at: now)
        let ready = readiness.ready()
        for socket in sockets where ready.contains(socket.descriptor) {
            // Nothing is ever received there but its end.
            var byte: UInt8 = 0
            _ = recv(socket.descriptor, &byte, 1, BlueZCentral.neverWait)
            if clinux_has_ended(socket.descriptor) == 1 { conversation.socketEnded(socket.uuid) }
        }
        if let bus, bus.wantsToWrite || hasMoreMessages || ready.contains(bus.descriptor) { receiveMessages() }
        if let due = conversation.deadline, due <= now { conversation.deadlineReached() }
        carryOut()
        return conversation.takeEvents()
    }

    /// Asks for something.
    package func request(_ request: PeripheralRequest) {
        conversation.take(request)
        carryOut()
    }

    /// Sends everything that is still to be sent: to be called before the process ends.
    package func flush() {
        bus?.flush()
    }

    private func connectBus(at now: MonotonicTime) {
        guard bus == nil, let due = nextBusTry, due <= now else { return }
        do {
            let bus = try BusConnection()
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
            switch received {
            case .nothing: break
            case .reply(let cookie, let result):
                guard let number = calls.removeValue(forKey: cookie) else { continue }
                conversation.replied(number, result)
            case .signal(let signal): conversation.received(signal)
            case .call(let call, let message):
                lastRequest += 1
                let number = RequestNumber(rawValue: lastRequest)
                incoming[number] = message
                conversation.received(call, number)
            case .lost:
                if let bus { readiness.remove(bus.descriptor) }
                bus = nil
                calls.removeAll()
                incoming.removeAll()
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
            for effect in effects { carryOut(effect) }
        }
    }

    private func carryOut(_ effect: PeripheralConversation.Effect) {
        switch effect {
        case .call(let call):
            if let cookie = bus?.send(call) {
                calls[cookie] = call.number
            } else {
                conversation.replied(call.number, .failure(.disconnected))
            }
        case .emit(let path, let interface, let member, let body):
            bus?.emit(path: path, interface: interface, member: member, body)
        case .answer(let number, let result):
            if let message = incoming.removeValue(forKey: number) { bus?.answer(message, result) }
        case .offerSocket(let number, let uuid, let mtu): offerSocket(number, uuid, mtu)
        case .send(let value, let uuid):
            guard let socket = sockets.first(where: { $0.uuid == uuid }) else { return }
            if Glibc.send(socket.descriptor, value, value.count, BlueZCentral.neverWait) < 0 { droppedCount += 1 }
        case .closeSocket(let uuid):
            guard let index = sockets.firstIndex(where: { $0.uuid == uuid }) else { return }
            let socket = sockets.remove(at: index)
            readiness.remove(socket.descriptor)
            Glibc.close(socket.descriptor)
        }
    }

    private func offerSocket(_ number: RequestNumber, _ uuid: BluetoothUUID, _ mtu: UInt16) {
        guard let message = incoming.removeValue(forKey: number) else { return }
        var ends: [Int32] = [-1, -1]
        let type = Self.socketType | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            let reason = String(cString: strerror(errno))
            bus?.answer(message, .failure(BusError(name: "org.bluez.Error.Failed", message: reason)))
            return conversation.socketEnded(uuid)
        }
        sockets.append((uuid, ends[0]))
        readiness.insert(ends[0])
        // The message has a duplicate of its own.
        bus?.answer(message, .success([.descriptor(ends[1]), .uint16(mtu)]))
        Glibc.close(ends[1])
    }
}
