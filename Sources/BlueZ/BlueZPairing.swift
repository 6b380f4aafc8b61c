import Bluetooth

/// Pairing: Device1.Pair where a headset asks for a bond, and the answers to bluetoothd's questions meanwhile
/// (`org.bluez.Agent1`), with the passkey from the configuration, and "just works" where none is asked for. Only for headsets
/// that this process connects to; every other pairing is refused.
struct BlueZPairing {
    /// The agent's own object.
    static let agentPath = "/org/eegsync/agent"
    /// The Security Manager's own limit of 30 s begins anew with each packet (Vol 3, Part H, 3.4).
    private static let pairLimit = Duration.seconds(60)

    private let passkeys: [Passkey]
    private let serialPorts: [PeripheralIdentifier]
    private let allowsRepairing: Bool
    /// Devices that were seen paired, until a person removes them.
    private var pairedDevices: Set<String> = []
    /// Devices that are being paired.
    private var devicesUnderWay: Set<String> = []

    init(options: BlueZOptions) {
        passkeys = options.passkeys
        serialPorts = options.serialPorts
        allowsRepairing = options.allowsRepairing
    }

    // MARK: Pairing

    /// True where a device was paired and a person forbade to pair such a one anew. bluetoothd forgets a pairing that failed,
    /// but not the device: that it was removed is a person's word.
    func forbids(_ path: String) -> Bool { !allowsRepairing && pairedDevices.contains(path) }

    /// A device is paired.
    mutating func notePaired(_ path: String) {
        pairedDevices.insert(path)
    }

    /// A device was removed.
    mutating func deviceRemoved(_ path: String) {
        pairedDevices.remove(path)
    }

    /// Pairs with a device, or joins the pairing that is under way: bluetoothd refuses a second one. Returns false where it
    /// would change nothing.
    mutating func pair(_ path: String, _ adapter: BlueZAdapter, _ exchange: inout BusExchange) -> Bool {
        guard let device = adapter.device(at: path), !device.isPaired else { return false }
        // Said to whoever joins one that is under way, too: its step has to wait as long.
        if let identifier = device.identifier { exchange.emit(.didBeginPairing(identifier)) }
        guard devicesUnderWay.insert(path).inserted else { return true }
        exchange.call("Pair", of: BlueZInterface.device, at: path, for: .pair(path: path), within: Self.pairLimit)
        return true
    }

    /// A pairing has ended, either way.
    mutating func replied(_ path: String) {
        devicesUnderWay.remove(path)
    }

    /// bluetoothd is gone.
    mutating func reset() {
        devicesUnderWay.removeAll()
    }

    // MARK: The agent

    /// Makes the agent known to a bluetoothd that has started.
    func register(_ exchange: inout BusExchange) {
        let capability = passkeys.isEmpty ? "NoInputNoOutput" : "KeyboardOnly"
        exchange.call(
            "RegisterAgent", of: BlueZInterface.agentManager, at: "/org/bluez",
            [.objectPath(Self.agentPath), .string(capability)], for: .nothing)
    }

    /// Answers a question.
    func answer(_ call: IncomingCall, _ links: BlueZLinks, _ adapter: BlueZAdapter) -> Result<[BusValue], BusError> {
        guard call.path == Self.agentPath, call.interface == BlueZInterface.agent else {
            return .failure(
                BusError(name: "org.freedesktop.DBus.Error.UnknownObject", message: "there is no such object"))
        }
        if call.member == "Release" || call.member == "Cancel" { return .success([]) }
        guard let path = call.arguments.first?.text, !forbids(path) || call.member == "AuthorizeService" else {
            return .failure(Self.rejection)
        }
        if let port = serialPort(path, adapter) { return answer(call, of: port) }
        guard let link = links.link(at: path) else { return .failure(Self.rejection) }
        switch call.member {
        case "RequestAuthorization", "RequestConfirmation", "AuthorizeService", "DisplayPasskey", "DisplayPinCode":
            return .success([])
        case "RequestPasskey":
            return passkeys.value(for: link.identifier).map { .success([.uint32($0)]) } ?? .failure(Self.rejection)
        case "RequestPinCode":
            return passkeys.value(for: link.identifier).map { .success([.string("\($0)")]) } ?? .failure(Self.rejection)
        default: return .failure(Self.rejection)
        }
    }

    /// The peripheral of Bluetooth Classic that bluetoothd has an object for.
    private func serialPort(_ path: String, _ adapter: BlueZAdapter) -> PeripheralIdentifier? {
        // bluetoothd calls classic addresses public.
        guard let address = adapter.device(at: path)?.identifier?.address else { return nil }
        return serialPorts.first { $0.address == address }
    }

    /// Answers for a peripheral of Bluetooth Classic, which is older than passkeys or displays nothing.
    private func answer(_ call: IncomingCall, of port: PeripheralIdentifier) -> Result<[BusValue], BusError> {
        switch call.member {
        case "RequestPinCode": .success([.string(passkeys.pin(for: port))])
        case "RequestAuthorization", "RequestConfirmation", "AuthorizeService", "DisplayPinCode": .success([])
        default: .failure(Self.rejection)
        }
    }

    private static let rejection = BusError(
        name: "org.bluez.Error.Rejected", message: "eegsync does not pair with this device")
}
