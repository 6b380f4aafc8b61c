/// What this machine is asked for as a peripheral; the names are those of Core Bluetooth's methods.
public enum PeripheralRequest: Hashable, Sendable {
    /// Publishes characteristics with their services, instead of those before. They stay published over restarts of the system
    /// and of the adapter until the process ends. Answered by ``PeripheralEvent/didPublish(error:)``.
    case publish([PublishedCharacteristic])

    /// Advertises, or changes what is advertised, for as long as the process lives. Answered by
    /// ``PeripheralEvent/didStartAdvertising(error:)``, each time that the system takes it.
    case startAdvertising(Advertisement)

    /// Advertises no more.
    case stopAdvertising

    /// Notifies a value to whoever has subscribed. What nobody has subscribed, or what does not fit into the system's buffers,
    /// is dropped, as it would be in the air.
    case updateValue([UInt8], of: BluetoothUUID)

    /// Answers a read or a write. A read takes the whole value, whatever part was asked for; what a write takes is ignored.
    case respond(RequestNumber, Result<[UInt8], ATTError>)

    /// Lets centrals pair with this machine by entering a passkey that it shows, until ``closePairing``. Who proves less is
    /// refused.
    case openPairing

    /// Lets nobody pair any more.
    case closePairing

    /// Disconnects a central.
    case disconnect(PeripheralIdentifier)
}

/// A characteristic that this machine publishes.
public struct PublishedCharacteristic: Hashable, Sendable {
    /// What a link must be for reads, writes and notifications (Core Specification, Vol 3, Part C, 10.2).
    public enum Security: Hashable, Sendable {
        /// Whatever it is.
        case open
        /// Encrypted with the keys of a pairing in which a person compared or entered something.
        case authenticated
    }

    /// The characteristic, with its service.
    public var characteristic: Characteristic
    /// What a link must be.
    public var security: Security
    /// True where its notifications keep their order among those of all others of which this is true. They then have 20 bytes
    /// at most, which every link can carry: nobody says what this one can.
    public var keepsOrder: Bool

    /// Creates one.
    public init(_ characteristic: Characteristic, security: Security = .open, keepsOrder: Bool = false) {
        self.characteristic = characteristic
        self.security = security
        self.keepsOrder = keepsOrder
    }
}

/// Names a read or a write that waits for its answer.
public struct RequestNumber: Hashable, Sendable {
    /// A number that no other request of the process has.
    public let rawValue: UInt64

    /// Creates a number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}
