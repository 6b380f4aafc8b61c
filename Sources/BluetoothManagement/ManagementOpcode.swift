/// The code of a command of the kernel's management interface (BlueZ, `doc/mgmt-protocol`).
package struct ManagementOpcode: RawRepresentable, Hashable, Sendable {
    /// The code as it stands in a packet.
    package var rawValue: UInt16

    /// Creates an opcode from a packet's.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Read Management Version Information.
    package static let readVersion = ManagementOpcode(rawValue: 0x0001)
    /// Read Controller Index List.
    package static let readControllerIndexList = ManagementOpcode(rawValue: 0x0003)
    /// Read Controller Information.
    package static let readControllerInformation = ManagementOpcode(rawValue: 0x0004)
    /// Set Powered.
    package static let setPowered = ManagementOpcode(rawValue: 0x0005)
    /// Set Bondable.
    package static let setBondable = ManagementOpcode(rawValue: 0x0009)
    /// Set Secure Simple Pairing.
    package static let setSecureSimplePairing = ManagementOpcode(rawValue: 0x000B)
    /// Set Low Energy.
    package static let setLowEnergy = ManagementOpcode(rawValue: 0x000D)
    /// Load Link Keys.
    package static let loadLinkKeys = ManagementOpcode(rawValue: 0x0012)
    /// Load Long Term Keys.
    package static let loadLongTermKeys = ManagementOpcode(rawValue: 0x0013)
    /// Disconnect.
    package static let disconnect = ManagementOpcode(rawValue: 0x0014)
    /// Get Connections.
    package static let getConnections = ManagementOpcode(rawValue: 0x0015)
    /// PIN Code Reply.
    package static let pinCodeReply = ManagementOpcode(rawValue: 0x0016)
    /// PIN Code Negative Reply.
    package static let pinCodeNegativeReply = ManagementOpcode(rawValue: 0x0017)
    /// Set IO Capability.
    package static let setIOCapability = ManagementOpcode(rawValue: 0x0018)
    /// Unpair Device.
    package static let unpairDevice = ManagementOpcode(rawValue: 0x001B)
    /// User Confirmation Reply.
    package static let userConfirmationReply = ManagementOpcode(rawValue: 0x001C)
    /// User Confirmation Negative Reply.
    package static let userConfirmationNegativeReply = ManagementOpcode(rawValue: 0x001D)
    /// User Passkey Reply.
    package static let userPasskeyReply = ManagementOpcode(rawValue: 0x001E)
    /// User Passkey Negative Reply.
    package static let userPasskeyNegativeReply = ManagementOpcode(rawValue: 0x001F)
    /// Start Discovery.
    package static let startDiscovery = ManagementOpcode(rawValue: 0x0023)
    /// Stop Discovery.
    package static let stopDiscovery = ManagementOpcode(rawValue: 0x0024)
    /// Set Secure Connections.
    package static let setSecureConnections = ManagementOpcode(rawValue: 0x002D)
    /// Load Identity Resolving Keys.
    package static let loadIdentityResolvingKeys = ManagementOpcode(rawValue: 0x0030)
    /// Get Connection Information.
    package static let getConnectionInformation = ManagementOpcode(rawValue: 0x0031)
    /// Add Device.
    package static let addDevice = ManagementOpcode(rawValue: 0x0033)
    /// Remove Device.
    package static let removeDevice = ManagementOpcode(rawValue: 0x0034)
    /// Start Service Discovery.
    package static let startServiceDiscovery = ManagementOpcode(rawValue: 0x003A)
    /// Load Connection Parameters.
    package static let loadConnectionParameters = ManagementOpcode(rawValue: 0x0035)
    /// Read Default System Configuration.
    package static let readDefaultSystemConfiguration = ManagementOpcode(rawValue: 0x004B)
}

extension ManagementOpcode: CustomStringConvertible {
    /// The specification's name, or the number.
    package var description: String {
        switch self {
        case .readVersion: "Read Management Version Information"
        case .readControllerIndexList: "Read Controller Index List"
        case .readControllerInformation: "Read Controller Information"
        case .setPowered: "Set Powered"
        case .setBondable: "Set Bondable"
        case .setSecureSimplePairing: "Set Secure Simple Pairing"
        case .setLowEnergy: "Set Low Energy"
        case .loadLinkKeys: "Load Link Keys"
        case .loadLongTermKeys: "Load Long Term Keys"
        case .disconnect: "Disconnect"
        case .getConnections: "Get Connections"
        case .pinCodeReply: "PIN Code Reply"
        case .pinCodeNegativeReply: "PIN Code Negative Reply"
        case .setIOCapability: "Set IO Capability"
        case .unpairDevice: "Unpair Device"
        case .userConfirmationReply: "User Confirmation Reply"
        case .userConfirmationNegativeReply: "User Confirmation Negative Reply"
        case .userPasskeyReply: "User Passkey Reply"
        case .userPasskeyNegativeReply: "User Passkey Negative Reply"
        case .startDiscovery: "Start Discovery"
        case .stopDiscovery: "Stop Discovery"
        case .setSecureConnections: "Set Secure Connections"
        case .loadIdentityResolvingKeys: "Load Identity Resolving Keys"
        case .getConnectionInformation: "Get Connection Information"
        case .addDevice: "Add Device"
        case .removeDevice: "Remove Device"
        case .startServiceDiscovery: "Start Service Discovery"
        case .loadConnectionParameters: "Load Connection Parameters"
        case .readDefaultSystemConfiguration: "Read Default System Configuration"
        default: "command \(rawValue)"
        }
    }
}

/// The number of an adapter: 0 for `hci0`.
package struct ControllerIndex: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number as it stands in a packet.
    package var rawValue: UInt16

    /// Creates an index from a packet's.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Reads `hci0`, as the kernel and the object paths of bluetoothd name adapters; nil for anything else.
    package init?(name: String) {
        guard name.hasPrefix("hci"), let number = UInt16(name.dropFirst(3)), number != Self.none.rawValue else { return nil }
        self.init(rawValue: number)
    }

    /// No adapter: the command or event concerns the interface itself.
    package static let none = ControllerIndex(rawValue: 0xFFFF)

    package static func < (left: ControllerIndex, right: ControllerIndex) -> Bool { left.rawValue < right.rawValue }
}

extension ControllerIndex: CustomStringConvertible {
    /// Such as `hci0`.
    package var description: String { self == .none ? "no controller" : "hci\(rawValue)" }
}
