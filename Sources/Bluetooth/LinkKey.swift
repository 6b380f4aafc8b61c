/// What a machine keeps of a pairing over Bluetooth Classic: the key by which both know each other again (Core Specification,
/// Vol 2, Part H, 3). What a ``Bond`` is for Bluetooth Low Energy.
public struct LinkKey: Hashable, Sendable {
    /// The highest ``type`` there is.
    public static let maximumType: UInt8 = 8

    /// The other device; its address is one of Bluetooth Classic.
    public var peripheral: PeripheralIdentifier
    /// How it was made, as the kernel numbers it (BlueZ, `doc/mgmt-protocol`, New Link Key), 0 ... ``maximumType``: 0 out of
    /// a PIN, 4 and 5 by Secure Simple Pairing, 7 and 8 by Secure Connections.
    public var type: UInt8
    /// How many digits the PIN had that it was made of, 0 ... 16; 0 for none.
    public var pinLength: UInt8
    /// The key itself.
    public var value: SecretKey

    /// Creates a key.
    public init(peripheral: PeripheralIdentifier, type: UInt8, pinLength: UInt8, value: SecretKey) {
        self.peripheral = peripheral
        self.type = type
        self.pinLength = pinLength
        self.value = value
    }
}
