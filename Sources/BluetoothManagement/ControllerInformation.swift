package import Bluetooth

/// What the kernel knows of an adapter (Read Controller Information).
package struct ControllerInformation: Hashable, Sendable {
    /// The adapter's own address; all zeros where it has none.
    package var address: PeripheralIdentifier
    /// The Bluetooth version that the adapter implements (Assigned Numbers, 2.1): 9 for 5.0.
    package var bluetoothVersion: UInt8
    /// The manufacturer (Assigned Numbers, 7.1).
    package var manufacturer: UInt16
    /// What the adapter can do.
    package var supportedSettings: ControllerSettings
    /// What is switched on.
    package var currentSettings: ControllerSettings
    /// The name under which it is visible.
    package var name: String

    /// Reads the return parameters of Read Controller Information.
    init(_ reader: inout ManagementPacketReader) throws(ManagementPacketError) {
        address = PeripheralIdentifier(address: try reader.address(), type: .public)
        bluetoothVersion = try reader.integer()
        manufacturer = try reader.integer()
        supportedSettings = ControllerSettings(rawValue: try reader.integer())
        currentSettings = ControllerSettings(rawValue: try reader.integer())
        // Class of device.
        _ = try reader.bytes(3)
        // The widths of the interface: 248 and 10 bytes of UTF-8, each with a zero byte after it.
        name = try reader.text(width: 249)
        _ = try reader.bytes(11)
    }
}

/// What an adapter can do or does (BlueZ, `doc/mgmt-protocol`, Read Controller Information).
package struct ControllerSettings: OptionSet, Hashable, Sendable {
    /// The bits as they stand in a packet.
    package var rawValue: UInt32

    /// Creates settings from a packet's.
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The adapter is on.
    package static let powered = ControllerSettings(rawValue: 1 << 0)
    /// Other devices may connect.
    package static let connectable = ControllerSettings(rawValue: 1 << 1)
    /// Pairing is accepted.
    package static let bondable = ControllerSettings(rawValue: 1 << 4)
    /// Secure Simple Pairing, of BR/EDR.
    package static let secureSimplePairing = ControllerSettings(rawValue: 1 << 6)
    /// BR/EDR.
    package static let classic = ControllerSettings(rawValue: 1 << 7)
    /// Bluetooth Low Energy.
    package static let lowEnergy = ControllerSettings(rawValue: 1 << 9)
    /// The adapter advertises.
    package static let advertising = ControllerSettings(rawValue: 1 << 10)
    /// Secure Connections: pairing with elliptic curves.
    package static let secureConnections = ControllerSettings(rawValue: 1 << 11)
    /// The adapter uses private addresses.
    package static let privacy = ControllerSettings(rawValue: 1 << 13)
}
