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
    /// After how many seconds the adapter let nobody pair any more, before; nil where it was left as it was.
    private var formerTimeout: UInt32?

    /// After how many seconds an adapter that is open only for this lets nobody pair any more by itself: so long a person is
    /// given, also where the process that would close it is killed.
    static let timeoutSeconds: UInt32 = 120

    /// What to call so that it is as it is wanted, in order.
    ///
    /// - Parameter adapter: the adapter in use.
    mutating func reconcile(_ adapter: AdapterObject) -> [BusCall] {
        guard isOpen != isWanted else { return [] }
        isOpen = isWanted
        let agent = BusValue.objectPath(Self.agentPath)
        if isOpen {
            let calls = [
                Self.call("RegisterAgent", [agent, .string("DisplayOnly")]),
                // Otherwise the agent of a desktop, or of `eegsync run`, is asked.
                Self.call("RequestDefaultAgent", [agent]),
            ]
            return calls + openAdapter(adapter)
        }
        return [Self.call("UnregisterAgent", [agent])] + closeAdapter(adapter)
    }

    /// Lets devices pair with an adapter that let none. What one that lets them anyway was set to is somebody else's wish.
    private mutating func openAdapter(_ adapter: AdapterObject) -> [BusCall] {
        // After a restart of bluetoothd it may still be as it was set here.
        endsPairable = endsPairable || adapter.properties["Pairable"]?.flag == false
        guard endsPairable else { return [] }
        var calls: [BusCall] = []
        if let timeout = adapter.properties["PairableTimeout"]?.number.flatMap({ UInt32(exactly: $0) }) {
            formerTimeout = formerTimeout ?? timeout
            calls.append(Self.set("PairableTimeout", .uint32(Self.timeoutSeconds), adapter.path))
        }
        return calls + [Self.set("Pairable", .boolean(true), adapter.path)]
    }

    private mutating func closeAdapter(_ adapter: AdapterObject) -> [BusCall] {
        defer { (endsPairable, formerTimeout) = (false, nil) }
        guard endsPairable else { return [] }
        return [Self.set("Pairable", .boolean(false), adapter.path)]
            + (formerTimeout.map { [Self.set("PairableTimeout", .uint32($0), adapter.path)] } ?? [])
    }

    private static func call(_ member: String, _ arguments: [BusValue]) -> BusCall {
        BusCall(
            number: CallNumber(rawValue: 0), path: "/org/bluez", interface: BlueZInterface.agentManager, member: member,
            arguments: arguments)
    }

    private static func set(_ property: String, _ value: BusValue, _ path: String) -> BusCall {
        BusCall(
            number: CallNumber(rawValue: 0), path: path, interface: BlueZInterface.properties, member: "Set",
            arguments: [.string(BlueZInterface.adapter), .string(property), .variant(value)])
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
