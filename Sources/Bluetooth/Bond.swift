/// What two devices that have paired keep of each other: keys with which later links are encrypted, and the one by which
/// private addresses are recognised (Core Specification, Vol 3, Part H, 2.4).
public struct Bond: Hashable, Sendable {
    /// The other device's identity address: public, or random static.
    public var identity: PeripheralIdentifier
    /// Its Long Term Keys: one of Secure Connections; up to two of older devices, one for each role.
    public var longTermKeys: [LongTermKey]
    /// Recognises its private addresses; nil where it has none.
    public var identityResolvingKey: SecretKey?

    /// Creates a bond.
    public init(
        identity: PeripheralIdentifier, longTermKeys: [LongTermKey] = [], identityResolvingKey: SecretKey? = nil
    ) {
        self.identity = identity
        self.longTermKeys = longTermKeys
        self.identityResolvingKey = identityResolvingKey
    }
}

/// A key that encrypts links, with what it is looked up by.
public struct LongTermKey: Hashable, Sendable {
    /// How it was made, as the kernel numbers it (BlueZ, `doc/mgmt-protocol`, New Long Term Key): 0 and 1 by the pairing of
    /// older devices, without and with a confirmation by a person or passkey; 2 and 3 the same by Secure Connections; 4 by a
    /// debugger's.
    public var type: UInt8
    /// True for one that encrypts while this machine is the central. Keys of Secure Connections are for both roles, and say
    /// false.
    public var isForCentral: Bool
    /// Its length in bytes, 7 ... 16.
    public var encryptionSize: UInt8
    /// The Encrypted Diversifier, by which an older peripheral finds it; 0 for Secure Connections.
    public var encryptedDiversifier: UInt16
    /// The Random Number, for the same; 0 for Secure Connections.
    public var randomNumber: UInt64
    /// The key itself.
    public var value: SecretKey

    /// Creates a key.
    public init(
        type: UInt8, isForCentral: Bool, encryptionSize: UInt8, encryptedDiversifier: UInt16, randomNumber: UInt64,
        value: SecretKey
    ) {
        self.type = type
        self.isForCentral = isForCentral
        self.encryptionSize = encryptionSize
        self.encryptedDiversifier = encryptedDiversifier
        self.randomNumber = randomNumber
        self.value = value
    }
}

/// 128 bits that nobody else may know. They show in no log line, no error and no test report.
public struct SecretKey: Hashable, Sendable {
    /// How many bytes it has.
    public static let byteCount = 16

    /// The bytes, the least significant first, as packets hold them.
    public let bytes: [UInt8]

    /// Creates a key; nil where there are not ``byteCount`` bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }
}

extension SecretKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Not the key.
    public var description: String { "secret" }
    /// Not the key either.
    public var debugDescription: String { description }
    /// Without the bytes: `dump` and the like print what they find here.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
