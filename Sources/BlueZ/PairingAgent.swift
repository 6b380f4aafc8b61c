import Bluetooth

/// Answers bluetoothd's questions while a headset is paired (`org.bluez.Agent1`): with the passkey from the configuration, and
/// "just works" where none is asked for. Only for headsets that this process connects to; every other pairing is refused.
struct PairingAgent {
    /// The agent's own object.
    static let path = "/org/eegsync/agent"

    private let passkeys: [BlueZOptions.Passkey]
    private var isRegistered = false

    init(passkeys: [BlueZOptions.Passkey]) {
        self.passkeys = passkeys
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
        guard let path = call.arguments.first?.text,
            let link = conversation.links.first(where: { $0.path == path })
        else { return .failure(Self.rejection) }
        switch call.member {
        case "RequestAuthorization", "RequestConfirmation", "AuthorizeService", "DisplayPasskey", "DisplayPinCode":
            return .success([])
        case "RequestPasskey": return passkey(for: link.identifier).map { .success([.uint32($0)]) } ?? .failure(Self.rejection)
        case "RequestPinCode":
            return passkey(for: link.identifier).map { .success([.string("\($0)")]) } ?? .failure(Self.rejection)
        default: return .failure(Self.rejection)
        }
    }

    private static let rejection = BusError(
        name: "org.bluez.Error.Rejected", message: "eegsync does not pair with this device")

    /// The passkey that is named for the headset, else the only one that is for any.
    private func passkey(for identifier: PeripheralIdentifier) -> UInt32? {
        if let named = passkeys.first(where: { $0.identifiers.contains(identifier) }) { return named.value }
        let general = passkeys.filter(\.identifiers.isEmpty)
        return general.count == 1 ? general.first?.value : nil
    }
}
