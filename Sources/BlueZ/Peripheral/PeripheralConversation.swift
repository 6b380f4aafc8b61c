import Bluetooth

/// The conversation with bluetoothd about what this machine publishes and advertises, without the bus: requests, replies,
/// signals and calls in; calls, answers and the peripheral's events out. No I/O and no clock in it.
///
/// What is wanted is kept here, so that it is published and advertised again when bluetoothd has restarted, or the adapter was
/// off, without a word from whoever wants it.
struct PeripheralConversation {
    /// What the conversation wants from the one who holds the file descriptors.
    enum Effect: Hashable {
        /// Send a call.
        case call(BusCall)
        /// Send a signal of one of our objects.
        case emit(path: String, interface: String, member: String, [BusValue])
        /// Answer a call that was made to us.
        case answer(RequestNumber, Result<[BusValue], BusError>)
        /// Answer a call with one end of a new socket, whose packets bluetoothd notifies, and keep the other end.
        case offerSocket(RequestNumber, BluetoothUUID, mtu: UInt16)
        /// Send a packet through the socket of a characteristic.
        case send([UInt8], BluetoothUUID)
        /// Close the socket of a characteristic.
        case closeSocket(BluetoothUUID)
    }

    /// Why a call was made.
    enum Purpose: Hashable {
        case nameOwner
        case objects
        case registerApplication
        case registerAdvertisement(path: String)
        case nothing
    }

    /// How far the services are published on the adapter in use.
    enum Publication: Hashable {
        case none
        case underWay
        case done
    }

    /// How values of a subscribed characteristic go to bluetoothd.
    struct Subscription: Hashable {
        var uuid: BluetoothUUID
        var hasSocket: Bool
    }

    /// A read or a write that was not answered yet, or a call whose answer is ours.
    struct OpenRequest {
        var number: RequestNumber
        /// What is read, where it is a read.
        var read: LongRead?
        /// Where in the value the answer begins.
        var offset: Int
    }

    /// What a central reads: of a value that is longer than a packet, part after part.
    struct LongRead: Hashable {
        /// The object of the device; nil where bluetoothd has named none.
        var device: String?
        var uuid: BluetoothUUID
    }

    /// When what was refused or not answered is tried again.
    static let askPause = Duration.seconds(1)

    /// The present, as last reported.
    var now: MonotonicTime = .boot
    var adapter: BlueZAdapter
    var owner = BluetoothdOwner()
    var isLoaded = false
    var retry: MonotonicTime?
    var pending: [CallNumber: (purpose: Purpose, deadline: MonotonicTime)] = [:]
    var lastCall: UInt64 = 0
    var events: [PeripheralEvent] = []
    var effects: [Effect] = []

    var objects = PublishedObjects()
    var publication = Publication.none
    /// What is to be advertised; nil for nothing.
    var wantedAdvertisement: Advertisement?
    /// What bluetoothd advertises for us, and its object; the object outlives what it advertised until it is unregistered.
    var advertised: Advertisement?
    var advertisementPath: String?
    var isRegistering = false
    var advertisementCount = 0

    var centrals: [(path: String, identifier: PeripheralIdentifier)] = []
    var subscriptions: [Subscription] = []
    var openRequests: [OpenRequest] = []
    /// The values that were answered last from their beginning: the further parts of a value are of the same one.
    var answeredReads: [(read: LongRead, value: [UInt8])] = []
    var pairing = PeripheralPairing()

    /// A conversation that has not begun. What the questions are for, ``BlueZAdapter`` says.
    init(adapter wanted: String?, isBlocked: @escaping (String) -> Bool, mayUse: @escaping (String) -> Bool) {
        adapter = BlueZAdapter(wanted: wanted, isBlocked: isBlocked, mayUse: mayUse)
    }

    // MARK: Out

    var hasEvents: Bool { !events.isEmpty }

    mutating func takeEvents() -> [PeripheralEvent] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    mutating func takeEffects() -> [Effect] {
        defer { effects.removeAll(keepingCapacity: true) }
        return effects
    }

    mutating func call(
        _ member: String, of interface: String, at path: String, _ arguments: [BusValue], for purpose: Purpose
    ) {
        lastCall += 1
        let number = CallNumber(rawValue: lastCall)
        pending[number] = (purpose, now + BusExchange.callLimit)
        effects.append(
            .call(BusCall(number: number, path: path, interface: interface, member: member, arguments: arguments)))
    }

    // MARK: Requests

    mutating func take(_ request: PeripheralRequest) {
        switch request {
        case .publish(let characteristics):
            objects = PublishedObjects(characteristics)
            publication = .none
            reconcile()
        case .startAdvertising(let advertisement):
            wantedAdvertisement = advertisement
            reconcile()
        case .stopAdvertising:
            wantedAdvertisement = nil
            reconcile()
        case .updateValue(let value, let uuid): updateValue(value, uuid)
        case .respond(let number, let result): respond(number, result)
        case .openPairing, .closePairing:
            pairing.isWanted = request == .openPairing
            reconcile()
        case .disconnect(let identifier):
            guard let central = centrals.first(where: { $0.identifier == identifier }) else { return }
            call("Disconnect", of: BlueZInterface.device, at: central.path, [], for: .nothing)
        }
    }

    private mutating func updateValue(_ value: [UInt8], _ uuid: BluetoothUUID) {
        guard let subscription = subscriptions.first(where: { $0.uuid == uuid }), let entry = objects.entry(of: uuid) else {
            return
        }
        if subscription.hasSocket { return effects.append(.send(value, uuid)) }
        effects.append(
            .emit(
                path: entry.path, interface: BlueZInterface.properties, member: "PropertiesChanged",
                [
                    .string(BlueZInterface.characteristic), .options(["Value": .bytes(value)]), .array([], of: "s"),
                ]))
    }

    private mutating func respond(_ number: RequestNumber, _ result: Result<[UInt8], ATTError>) {
        guard let index = openRequests.firstIndex(where: { $0.number == number }) else { return }
        let request = openRequests.remove(at: index)
        switch result {
        case .failure(let error): effects.append(.answer(number, .failure(PublishedError.error(error))))
        case .success(let value):
            guard let read = request.read else { return effects.append(.answer(number, .success([]))) }
            if request.offset == 0 {
                answeredReads.removeAll { $0.read == read }
                answeredReads.append((read, value))
            }
            answer(number, with: value, from: request.offset)
        }
    }

    private mutating func answer(_ number: RequestNumber, with value: [UInt8], from offset: Int) {
        guard offset <= value.count else {
            return effects.append(.answer(number, .failure(PublishedError.error(.invalidOffset))))
        }
        effects.append(.answer(number, .success([.bytes(Array(value.dropFirst(offset)))])))
    }

    // MARK: Publishing and advertising

    /// Does the next thing that lacks to what is wanted.
    mutating func reconcile() {
        guard isLoaded, adapter.state == .poweredOn, let path = adapter.path else { return }
        if let adapter = AdapterObject(adapter.objects, path: path) {
            for wanted in pairing.reconcile(adapter) {
                call(wanted.member, of: wanted.interface, at: wanted.path, wanted.arguments, for: .nothing)
            }
        }
        if publication == .none, !objects.entries.isEmpty {
            publication = .underWay
            let root = BusValue.objectPath(PublishedObjects.root)
            call(
                "RegisterApplication", of: BlueZInterface.gattManager, at: path, [root, .options()], for: .registerApplication)
        }
        // Nobody shall connect before there is something to find.
        guard publication == .done, !isRegistering else { return }
        guard advertised != wantedAdvertisement || advertisementIsStale else { return }
        if let old = advertisementPath {
            call(
                "UnregisterAdvertisement", of: BlueZInterface.advertisingManager, at: path, [.objectPath(old)], for: .nothing)
        }
        (advertised, advertisementPath) = (nil, nil)
        guard let wantedAdvertisement else { return }
        advertisementCount += 1
        let object = "\(PublishedObjects.root)/advertisement\(advertisementCount)"
        (advertised, advertisementPath, isRegistering) = (wantedAdvertisement, object, true)
        call(
            "RegisterAdvertisement", of: BlueZInterface.advertisingManager, at: path, [.objectPath(object), .options()],
            for: .registerAdvertisement(path: object))
    }

    /// True for the object of an advertisement that ended with the adapter's power.
    private var advertisementIsStale: Bool { advertised == nil && advertisementPath != nil }

    mutating func applicationReplied(_ error: BusError?) {
        guard publication == .underWay else { return }
        // bluetoothd has it from before its answer was lost.
        let isThere = error == nil || error?.name == "org.bluez.Error.AlreadyExists"
        publication = isThere ? .done : .none
        events.append(.didPublish(error: isThere ? nil : error?.description))
        if isThere { reconcile() } else { retry = now + Self.askPause }
    }

    mutating func advertisementReplied(_ path: String, _ error: BusError?) {
        guard path == advertisementPath else { return }
        isRegistering = false
        if error != nil {
            (advertised, advertisementPath) = (nil, nil)
            retry = now + Self.askPause
        }
        events.append(.didStartAdvertising(error: error?.description))
        if error == nil { reconcile() }
    }

    // MARK: Calls of bluetoothd

    /// bluetoothd, or somebody else, calls one of our objects.
    mutating func received(_ call: IncomingCall, _ number: RequestNumber) {
        func answer(_ result: Result<[BusValue], BusError>) { effects.append(.answer(number, result)) }
        guard owner.hasSent(call.sender) else { return answer(.failure(PublishedError.onlyBluetoothd)) }
        switch (call.interface, call.member) {
        case (BlueZInterface.objectManager, "GetManagedObjects"): answer(.success([objects.managedObjects]))
        case (BlueZInterface.properties, "GetAll"):
            if call.path == advertisementPath, let advertised {
                answer(.success([PublishedObjects.properties(of: advertised)]))
            } else if let properties = objects.properties(at: call.path) {
                answer(.success([properties]))
            } else {
                answer(.failure(PublishedError.unknownObject))
            }
        case (BlueZInterface.advertisement, "Release"):
            answer(.success([]))
            if call.path == advertisementPath { advertisementReleased() }
        case (BlueZInterface.agent, let member) where call.path == PeripheralPairing.agentPath:
            let (result, passkey) = pairing.answer(member, call.arguments)
            answer(result)
            let phone = call.arguments.first?.text.flatMap { DeviceObject(adapter.objects, path: $0)?.identifier }
            if let passkey, let phone { events.append(.didDisplayPasskey(passkey, for: phone)) }
        case (BlueZInterface.characteristic, let member):
            guard let entry = objects.entry(at: call.path) else { return answer(.failure(PublishedError.unknownObject)) }
            received(member, call.arguments, of: entry, number)
        default: answer(.failure(PublishedError.unknownMethod))
        }
    }

    /// bluetoothd advertises no more: its adapter is gone, or it has its reasons.
    private mutating func advertisementReleased() {
        (advertised, advertisementPath, isRegistering) = (nil, nil, false)
        retry = now + Self.askPause
    }

    private mutating func received(
        _ member: String, _ arguments: [BusValue], of entry: PublishedObjects.Entry, _ number: RequestNumber
    ) {
        let options = arguments.last?.entries ?? []
        func option(_ name: String) -> BusValue? { options.first { $0.key.text == name }?.value }
        let offset = Int(option("offset")?.number ?? 0)
        let central = option("device")?.text.flatMap { DeviceObject(adapter.objects, path: $0)?.identifier }
        switch member {
        case "ReadValue":
            let read = LongRead(device: option("device")?.text, uuid: entry.uuid)
            if offset > 0, let answered = answeredReads.first(where: { $0.read == read }) {
                return answer(number, with: answered.value, from: offset)
            }
            openRequests.append(OpenRequest(number: number, read: read, offset: offset))
            events.append(.didReceiveRead(number, of: entry.uuid, from: central))
        case "WriteValue":
            guard let value = arguments.first?.octets, offset == 0 else {
                return effects.append(.answer(number, .failure(PublishedError.error(.invalidOffset))))
            }
            openRequests.append(OpenRequest(number: number, read: nil, offset: 0))
            events.append(.didReceiveWrite(number, value, to: entry.uuid, from: central))
        case "AcquireNotify":
            let mtu = UInt16(clamping: option("mtu")?.number ?? 23)
            unsubscribe(entry.uuid)
            subscriptions.append(Subscription(uuid: entry.uuid, hasSocket: true))
            effects.append(.offerSocket(number, entry.uuid, mtu: mtu))
            // Opcode and handle stand before the value (Vol 3, Part F, 3.4.7.1).
            events.append(.didSubscribe(entry.uuid, maximumLength: Int(mtu) - 3))
        case "StartNotify":
            unsubscribe(entry.uuid)
            subscriptions.append(Subscription(uuid: entry.uuid, hasSocket: false))
            effects.append(.answer(number, .success([])))
            events.append(.didSubscribe(entry.uuid, maximumLength: nil))
        case "StopNotify":
            unsubscribe(entry.uuid)
            effects.append(.answer(number, .success([])))
        case "Confirm": effects.append(.answer(number, .success([])))
        default: effects.append(.answer(number, .failure(PublishedError.unknownMethod)))
        }
    }

    mutating func unsubscribe(_ uuid: BluetoothUUID) {
        guard let index = subscriptions.firstIndex(where: { $0.uuid == uuid }) else { return }
        if subscriptions.remove(at: index).hasSocket { effects.append(.closeSocket(uuid)) }
        events.append(.didUnsubscribe(uuid))
    }

    /// bluetoothd has closed its end of a socket: nobody listens any more.
    mutating func socketEnded(_ uuid: BluetoothUUID) { unsubscribe(uuid) }
}
