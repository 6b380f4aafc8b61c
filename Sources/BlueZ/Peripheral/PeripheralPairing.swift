import Bluetooth

/// The pairing of this machine as a peripheral, open for as long as a person wants: the agent that shows a passkey, which
/// whoever pairs has to enter (`org.bluez.Agent1`). Everything that proves less is refused.
struct PeripheralPairing {
    /// The agent's own object.
    static let agentPath = PublishedObjects.root + "/agent"

    /// True where a person wants it open.
    var isWanted = false
    /// True where bluetoothd knows the agent.
    private(set) var isOpen = false
    /// True where the adapter let nobody pair before.
    private var endsPairable = false

    /// What to call so that it is as it is wanted, in order.
    ///
    /// - Parameter adapter: the adapter in use.
    mutating func reconcile(_ adapter: AdapterObject) -> [BusCall] {
        guard isOpen != isWanted else { return [] }
        isOpen = isWanted
        let agent = BusValue.objectPath(Self.agentPath)
        if isOpen {
            endsPairable = adapter.properties["Pairable"]?.flag == false
            return [
                Self.call("RegisterAgent", [agent, .string("DisplayOnly")]),
                // Otherwise the agent of a desktop, or of `eegsync run`, is asked.
                Self.call("RequestDefaultAgent", [agent]),
            ] + (endsPairable ? [Self.setPairable(true, adapter.path)] : [])
        }
        return [Self.call("UnregisterAgent", [agent])] + (endsPairable ? [Self.setPairable(false, adapter.path)] : [])
    }

    private static func call(_ member: String, _ arguments: [BusValue]) -> BusCall {
        BusCall(
            number: CallNumber(rawValue: 0), path: "/org/bluez", interface: BlueZInterface.agentManager, member: member,
            arguments: arguments)
    }

    private static func setPairable(_ isPairable: Bool, _ path: String) -> BusCall {
        BusCall(
            number: CallNumber(rawValue: 0), path: path, interface: BlueZInterface.properties, member: "Set",
            arguments: [.string(BlueZInterface.adapter), .string("Pairable"), .variant(.boolean(isPairable))])
    }

    /// bluetoothd is gone, and its agents with it.
    mutating func reset() { isOpen = false }

    /// Answers a question of bluetoothd. Returns the passkey that is to be shown, if any.
    func answer(_ member: String, _ arguments: [BusValue]) -> (result: Result<[BusValue], BusError>, passkey: UInt32?) {
        switch member {
        case "Release", "Cancel": return (.success([]), nil)
        case "DisplayPasskey" where isWanted:
            let passkey = arguments.count > 1 ? arguments[1].number.flatMap { UInt32(exactly: $0) } : nil
            return (.success([]), passkey)
        default: return (.failure(Self.rejection), nil)
        }
    }

    private static let rejection = BusError(
        name: "org.bluez.Error.Rejected", message: "eegsync pairs only with who enters the passkey that it shows")
}
