import Bluetooth

@testable import BlueZ

/// Plays to a conversation what bluetoothd says, word for word, and keeps what the conversation asks for and emits.
struct BluetoothdScript {
    /// The unique names of the bus and of bluetoothd.
    static let bus = "org.freedesktop.DBus"
    static let owner = ":1.4"
    static let adapterPath = "/org/bluez/hci0"
    static let headset = PeripheralIdentifier(address: 0xC000_0000_1001, type: .random)
    static let devicePath = "/org/bluez/hci0/dev_C0_00_00_00_10_01"
    static let eeg = BluetoothUUID(UInt16(0xFE01))
    static let control = BluetoothUUID(UInt16(0xFE02))
    static let eegPath = devicePath + "/service0010/char0011"
    static let controlPath = devicePath + "/service0010/char0014"

    var conversation: BlueZConversation
    var calls: [BusCall] = []
    var others: [BlueZConversation.Effect] = []
    var events: [CentralEvent] = []
    private var lastAttempt = Attempt.none

    init(
        options: BlueZOptions = BlueZOptions(), isBlocked: @escaping () -> Bool = { false },
        mayUse: @escaping () -> Bool = { true }
    ) {
        conversation = BlueZConversation(options: options, isBlocked: { _ in isBlocked() }, mayUse: { _ in mayUse() })
    }

    /// bluetoothd runs, its adapter is on, and it knows the headset.
    static func ready(
        options: BlueZOptions = BlueZOptions(), device: [String: BusValue]? = [:], resolved: Bool = false
    ) -> BluetoothdScript {
        var script = BluetoothdScript(options: options)
        script.conversation.busConnected()
        script.collect()
        script.reply("GetNameOwner", [.string(owner)])
        script.reply("GetManagedObjects", [script.objects(device: device, hasCharacteristics: resolved)])
        return script
    }

    /// A number for the next request.
    mutating func attempt() -> Attempt {
        lastAttempt = lastAttempt.next
        return lastAttempt
    }

    // MARK: What bluetoothd says

    mutating func reply(_ member: String, _ values: [BusValue] = []) {
        answer(member, .success(values))
    }

    /// The link is up, and then Device1.Connect is answered.
    mutating func connects() {
        device(["Connected": .boolean(true)])
        reply("Connect")
    }

    mutating func fail(_ member: String, _ name: String, _ message: String) {
        answer(member, .failure(BusError(name: name, message: message)))
    }

    private mutating func answer(_ member: String, _ result: Result<[BusValue], BusError>) {
        guard let index = calls.firstIndex(where: { $0.member == member }) else { return }
        conversation.replied(calls.remove(at: index).number, result)
        collect()
    }

    mutating func signal(_ member: String, at path: String = "/", from sender: String = owner, _ body: [BusValue]) {
        conversation.received(BusSignal(sender: sender, path: path, interface: "", member: member, body: body))
        collect()
    }

    /// The bus says who owns bluetoothd's name now.
    mutating func ownerChanged(from old: String, to new: String, sender: String = bus) {
        signal("NameOwnerChanged", from: sender, [.string("org.bluez"), .string(old), .string(new)])
    }

    mutating func changed(_ interface: String, at path: String, _ properties: [String: BusValue]) {
        signal(
            "PropertiesChanged", at: path,
            [.string(interface), Self.dictionary(properties), .array([], of: "s")])
    }

    mutating func device(_ properties: [String: BusValue]) {
        changed(BlueZInterface.device, at: Self.devicePath, properties)
    }

    mutating func adapter(_ properties: [String: BusValue]) {
        changed(BlueZInterface.adapter, at: Self.adapterPath, properties)
    }

    /// Time passes.
    mutating func pass(_ duration: Duration) {
        conversation.now = conversation.now + duration
        if let deadline = conversation.deadline, deadline <= conversation.now { conversation.deadlineReached() }
        collect()
    }

    /// Something that the central was asked.
    mutating func ask(_ request: (inout BlueZConversation) -> Void) {
        request(&conversation)
        collect()
    }

    /// Keeps what the conversation wants and emits.
    mutating func collect() {
        for effect in conversation.takeEffects() {
            switch effect {
            case .call(let call) where call.member == "RegisterAgent": conversation.replied(call.number, .success([]))
            case .call(let call): calls.append(call)
            default: others.append(effect)
            }
        }
        events += conversation.takeEvents()
    }

    /// The members of the calls that wait for an answer.
    var waiting: [String] { calls.map(\.member) }

    // MARK: What bluetoothd has

    static func dictionary(_ properties: [String: BusValue]) -> BusValue {
        let entries = properties.sorted { $0.key < $1.key }.map {
            BusValue.Entry(key: .string($0.key), value: .variant($0.value))
        }
        return .dictionary(entries, of: "sv")
    }

    static func interfaces(_ interfaces: [String: [String: BusValue]]) -> BusValue {
        let entries = interfaces.sorted { $0.key < $1.key }.map {
            BusValue.Entry(key: .string($0.key), value: dictionary($0.value))
        }
        return .dictionary(entries, of: "sa{sv}")
    }

    static func deviceProperties(_ more: [String: BusValue]) -> [String: BusValue] {
        [
            "Address": .string("C0:00:00:00:10:01"), "AddressType": .string("random"), "Connected": .boolean(false),
            "ServicesResolved": .boolean(false), "Trusted": .boolean(false), "Paired": .boolean(false),
            "Blocked": .boolean(false), "UUIDs": .array([.string(eeg.description)], of: "s"),
        ].merging(more) { $1 }
    }

    static func characteristic(_ uuid: BluetoothUUID, _ flags: [String]) -> [String: BusValue] {
        [
            "UUID": .string(uuid.description), "Service": .objectPath(devicePath + "/service0010"),
            "Flags": .array(flags.map { .string($0) }, of: "s"),
        ]
    }

    /// The answer to GetManagedObjects.
    func objects(
        device: [String: BusValue]?, hasCharacteristics: Bool = false, adapter: [String: BusValue] = ["Powered": .boolean(true)]
    ) -> BusValue {
        var objects: [(String, BusValue)] = [(Self.adapterPath, Self.interfaces([BlueZInterface.adapter: adapter]))]
        if let device {
            objects.append(
                (Self.devicePath, Self.interfaces([BlueZInterface.device: Self.deviceProperties(device)])))
        }
        if hasCharacteristics {
            let service: [String: BusValue] = ["UUID": .string(BluetoothUUID(UInt16(0xFE00)).description)]
            objects.append((Self.devicePath + "/service0010", Self.interfaces([BlueZInterface.service: service])))
            let data = Self.characteristic(Self.eeg, ["notify"])
            var command = Self.characteristic(Self.control, ["write", "write-without-response", "indicate"])
            command["WriteAcquired"] = .boolean(false)
            objects.append((Self.eegPath, Self.interfaces([BlueZInterface.characteristic: data])))
            let descriptor: [String: BusValue] = ["UUID": .string("00002902-0000-1000-8000-00805f9b34fb")]
            objects.append((Self.eegPath + "/desc0013", Self.interfaces([BlueZInterface.descriptor: descriptor])))
            objects.append((Self.controlPath, Self.interfaces([BlueZInterface.characteristic: command])))
        }
        let entries = objects.map { BusValue.Entry(key: .objectPath($0.0), value: $0.1) }
        return .dictionary(entries, of: "oa{sa{sv}}")
    }
}
