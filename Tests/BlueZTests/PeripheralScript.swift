import Bluetooth

@testable import BlueZ

/// Plays to a machine that is a peripheral what bluetoothd says, and keeps what it asks for and emits.
struct PeripheralScript {
    static let owner = BluetoothdScript.owner
    static let adapterPath = BluetoothdScript.adapterPath
    static let device = adapterPath + "/dev_02_AA_01_00_00_42"
    static let central = PeripheralIdentifier(address: 0x02AA_0100_0042, type: .public)
    static let service = BluetoothUUID(UInt16(0xFE8D))
    static let control = BluetoothUUID(UInt16(0xFE01))
    static let data = BluetoothUUID(UInt16(0xFE02))
    static let controlPath = PublishedObjects.root + "/service0/char0"
    static let dataPath = PublishedObjects.root + "/service0/char1"
    static let characteristics = [
        PublishedCharacteristic(Characteristic(service: service, uuid: control, properties: [.read, .write])),
        PublishedCharacteristic(Characteristic(service: service, uuid: data, properties: [.notify])),
    ]
    static let advertisement = Advertisement(localName: "Muse-1301", serviceUUIDs: [service])
    static let objects = BusValue.dictionary(
        [
            BusValue.Entry(
                key: .objectPath(adapterPath),
                value: BluetoothdScript.interfaces([BlueZInterface.adapter: ["Powered": .boolean(true)]]))
        ], of: "oa{sa{sv}}")

    var conversation = PeripheralConversation(adapter: nil, isBlocked: { _ in false }, mayUse: { _ in true })
    var calls: [BusCall] = []
    var others: [PeripheralConversation.Effect] = []
    var events: [PeripheralEvent] = []
    private(set) var lastRequest: UInt64 = 0

    /// bluetoothd runs, and its adapter is on.
    static func ready() -> PeripheralScript {
        var script = PeripheralScript()
        script.change { $0.busConnected() }
        script.reply("GetNameOwner", [.string(owner)])
        script.reply("GetManagedObjects", [objects])
        return script
    }

    /// The services are published and advertised.
    static func advertising() -> PeripheralScript {
        var script = ready()
        script.request(.publish(characteristics))
        script.request(.startAdvertising(advertisement))
        script.reply("RegisterApplication")
        script.reply("RegisterAdvertisement")
        script.events.removeAll()
        return script
    }

    /// The object of the advertisement that is being registered.
    var advertisementPath: String { calls.last { $0.member == "RegisterAdvertisement" }?.arguments.first?.text ?? "" }

    mutating func change(_ change: (inout PeripheralConversation) -> Void) {
        change(&conversation)
        for effect in conversation.takeEffects() {
            if case .call(let call) = effect { calls.append(call) } else { others.append(effect) }
        }
        events += conversation.takeEvents()
    }

    mutating func request(_ request: PeripheralRequest) { change { $0.take(request) } }

    mutating func reply(_ member: String, _ values: [BusValue] = []) { answer(member, .success(values)) }

    mutating func fail(_ member: String, _ name: String) { answer(member, .failure(BusError(name: name, message: ""))) }

    private mutating func answer(_ member: String, _ result: Result<[BusValue], BusError>) {
        guard let index = calls.firstIndex(where: { $0.member == member }) else { return }
        let number = calls.remove(at: index).number
        change { $0.replied(number, result) }
    }

    /// bluetoothd calls one of our objects.
    mutating func callIn(
        _ member: String, of interface: String = BlueZInterface.characteristic, at path: String, _ arguments: [BusValue] = [],
        sender: String = owner
    ) {
        lastRequest += 1
        let number = RequestNumber(rawValue: lastRequest)
        let call = IncomingCall(sender: sender, path: path, interface: interface, member: member, arguments: arguments)
        change { $0.received(call, number) }
    }

    /// The same, and the answer, which comes at once.
    mutating func ask(
        _ member: String, of interface: String = BlueZInterface.objectManager, at path: String
    ) -> Result<[BusValue], BusError> {
        callIn(member, of: interface, at: path)
        guard case .answer(_, let result) = others.popLast() else { return .failure(.noReply) }
        return result
    }

    mutating func signal(_ member: String, at path: String = "/", from sender: String = owner, _ body: [BusValue]) {
        change { $0.received(BusSignal(sender: sender, path: path, interface: "", member: member, body: body)) }
    }

    mutating func changed(_ interface: String, at path: String, _ properties: [String: BusValue]) {
        signal(
            "PropertiesChanged", at: path,
            [.string(interface), BluetoothdScript.dictionary(properties), .array([], of: "s")])
    }

    mutating func ownerChanged(from old: String, to new: String) {
        signal("NameOwnerChanged", from: BluetoothdScript.bus, [.string("org.bluez"), .string(old), .string(new)])
    }

    /// A central connects: bluetoothd has a new device for it.
    mutating func connects() {
        let properties: [String: BusValue] = [
            "Address": .string("02:AA:01:00:00:42"), "AddressType": .string("public"), "Connected": .boolean(true),
        ]
        signal(
            "InterfacesAdded",
            [.objectPath(Self.device), BluetoothdScript.interfaces([BlueZInterface.device: properties])])
    }

    /// Time passes.
    mutating func pass(_ duration: Duration) {
        change {
            $0.now = $0.now + duration
            if let deadline = $0.deadline, deadline <= $0.now { $0.deadlineReached() }
        }
    }

    /// The members of the calls that wait for an answer.
    var waiting: [String] { calls.map(\.member) }
}
