/// Who owns the name `org.bluez`: bluetoothd, by the unique name of its connection to the bus.
///
/// Only the bus itself is believed about it, and only the owner about everything else. Match rules do not see to that: any user
/// may send a signal to this process alone, and such a signal arrives whatever was asked for. The bus writes the sender into
/// each message, so it cannot be forged.
struct BluetoothdOwner: Hashable {
    /// The unique name of the bus itself.
    private static let bus = "org.freedesktop.DBus"
    private static let wellKnownName = "org.bluez"

    /// The match rule by which the bus reports each change of the owner.
    static let matchRule = "type='signal',sender='\(bus)',member='NameOwnerChanged',arg0='\(wellKnownName)'"

    /// Such as `:1.4`; nil while nobody owns it.
    private(set) var uniqueName: String?

    /// Asks the bus.
    static func question(_ number: CallNumber) -> BusCall {
        BusCall(
            number: number, destination: bus, path: "/org/freedesktop/DBus", interface: bus, member: "GetNameOwner",
            arguments: [.string(wellKnownName)])
    }

    /// Takes the answer to the question.
    mutating func replied(_ result: Result<[BusValue], BusError>) {
        if case .success(let values) = result { uniqueName = values.first?.text }
    }

    /// Takes a signal. Returns true where it says that the name has another owner, or none.
    mutating func received(_ signal: BusSignal) -> Bool {
        guard signal.sender == Self.bus, signal.member == "NameOwnerChanged", signal.body.count == 3,
            signal.body[0].text == Self.wellKnownName
        else { return false }
        let owner = signal.body[2].text ?? ""
        uniqueName = owner.isEmpty ? nil : owner
        return true
    }

    /// bluetoothd is gone, or the bus is.
    mutating func reset() {
        uniqueName = nil
    }

    /// True where it is worth while to look into a message: the bus or bluetoothd has sent it.
    func mayBelieve(_ sender: String) -> Bool { sender == Self.bus || hasSent(sender) }

    /// True where a message is bluetoothd's own.
    func hasSent(_ sender: String) -> Bool { sender == uniqueName }
}
