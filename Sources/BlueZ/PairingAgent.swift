import Bluetooth

/// Answers bluetoothd's questions while a headset is paired (`org.bluez.Agent1`): with the passkey from the configuration, and
/// "just works" where none is asked for. Only for headsets that this process connects to; every other pairing is refused.
struct PairingAgent {
    /// The agent's own object.
    static let path = "/org/eegsync/agent"

    private let passkeys: [Passkey]
    private let serialPorts: [PeripheralIdentifier]
    private var isRegistered = false

    init(options: BlueZOptions) {
        passkeys = options.passkeys
        serialPorts = options.serialPorts
    }

    /// Makes itself known whenever bluetoothd has (re)started.
    mutating func register(_ conversation: inout BlueZConversation) {
        guard conversation.isLoaded != isRegistered else { return }
        isRegistered = conversation.isLoaded
        guard isRegistered else { return }
        let capability = passkeys.isEmpty ? "NoInputNoOutput" : "KeyboardOnly"
        conversation.call(
            "RegisterAgent", of: BlueZInterface.agentManager, at: "/org/bluez",
            [.objectPath(Self.path), .string(capability)], for: .nothing)
    }

    /// Answers a question.
    func answer(_ call: IncomingCall, _ conversation: BlueZConversation) -> Result<[BusValue], BusError> {
        guard call.path == Self.path, call.interface == BlueZInterface.agent else {
            return .failure(
                BusError(name: "org.freedesktop.DBus.Error.UnknownObject", message: "there is no such object"))
        }
        if call.member == "Release" || call.member == "Cancel" { return .success([]) }
        if let path = call.arguments.first?.text, let port = serialPort(path, conversation) { return answer(call, of: port) }
        guard let path = call.arguments.first?.text,
            let link = conversation.links.first(where: { $0.path == path })
        else { return .failure(Self.rejection) }
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
    private func serialPort(_ path: String, _ conversation: BlueZConversation) -> PeripheralIdentifier? {
        // bluetoothd calls classic addresses public.
        guard let address = DeviceObject(conversation.objects, path: path)?.identifier?.address else { return nil }
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
