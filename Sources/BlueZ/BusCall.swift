/// A method call that the conversation wants to be sent.
struct BusCall: Hashable, Sendable {
    /// Brought back by the reply.
    var number: CallNumber
    /// The bus name of the callee.
    var destination = "org.bluez"
    /// The object.
    var path: String
    /// The interface of the method.
    var interface: String
    /// The method.
    var member: String
    /// The arguments.
    var arguments: [BusValue] = []
}

/// The number of a call within one conversation.
struct CallNumber: Hashable, Comparable, Sendable {
    let rawValue: UInt64

    static func < (left: CallNumber, right: CallNumber) -> Bool { left.rawValue < right.rawValue }
}

/// A signal that was received.
struct BusSignal: Hashable, Sendable {
    /// The unique name of the sender, as the bus says it.
    var sender: String
    /// The object that sent it.
    var path: String
    /// The interface of the signal.
    var interface: String
    /// The signal.
    var member: String
    /// Its values.
    var body: [BusValue]
}

/// A method call that somebody made to us: bluetoothd, to the pairing agent.
struct IncomingCall: Hashable, Sendable {
    /// The unique name of the caller, as the bus says it.
    var sender: String
    /// The object that is called.
    var path: String
    /// The interface of the method.
    var interface: String
    /// The method.
    var member: String
    /// The arguments.
    var arguments: [BusValue]
}
