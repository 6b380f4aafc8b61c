/// The code of a command of the kernel's management interface (BlueZ, `doc/mgmt-protocol`).
public struct ManagementOpcode: RawRepresentable, Hashable, Sendable {
    /// The code as it stands in a packet.
    public var rawValue: UInt16

    /// Creates an opcode from a packet's.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Read Management Version Information.
    public static let readVersion = ManagementOpcode(rawValue: 0x0001)
    /// Read Controller Index List.
    public static let readControllerIndexList = ManagementOpcode(rawValue: 0x0003)
    /// Read Controller Information.
    public static let readControllerInformation = ManagementOpcode(rawValue: 0x0004)
    /// Set Powered.
    public static let setPowered = ManagementOpcode(rawValue: 0x0005)
    /// Set Bondable.
    public static let setBondable = ManagementOpcode(rawValue: 0x0009)
    /// Set Secure Simple Pairing.
    public static let setSecureSimplePairing = ManagementOpcode(rawValue: 0x000B)
    /// Set Low Energy.
    public static let setLowEnergy = ManagementOpcode(rawValue: 0x000D)
    /// Load Link Keys.
    public static let loadLinkKeys = ManagementOpcode(rawValue: 0x0012)
    /// Load Long Term Keys.
    public static let loadLongTermKeys = ManagementOpcode(rawValue: 0x0013)
    /// Disconnect.
    public static let disconnect = ManagementOpcode(rawValue: 0x0014)
    /// Get Connections.
    public static let getConnections = ManagementOpcode(rawValue: 0x0015)
    /// PIN Code Reply.
    public static let pinCodeReply = ManagementOpcode(rawValue: 0x0016)
    /// PIN Code Negative Reply.
    public static let pinCodeNegativeReply = ManagementOpcode(rawValue: 0x0017)
    /// Set IO Capability.
    public static let setIOCapability = ManagementOpcode(rawValue: 0x0018)
    /// Unpair Device.
    public static let unpairDevice = ManagementOpcode(rawValue: 0x001B)
    /// User Confirmation Reply.
    public static let userConfirmationReply = ManagementOpcode(rawValue: 0x001C)
    /// User Confirmation Negative Reply.
    public static let userConfirmationNegativeReply = ManagementOpcode(rawValue: 0x001D)
    /// User Passkey Reply.
    public static let userPasskeyReply = ManagementOpcode(rawValue: 0x001E)
    /// User Passkey Negative Reply.
    public static let userPasskeyNegativeReply = ManagementOpcode(rawValue: 0x001F)
    /// Start Discovery.
    public static let startDiscovery = ManagementOpcode(rawValue: 0x0023)
    /// Stop Discovery.
    public static let stopDiscovery = ManagementOpcode(rawValue: 0x0024)
    /// Set Secure Connections.
    public static let setSecureConnections = ManagementOpcode(rawValue: 0x002D)
    /// Load Identity Resolving Keys.
    public static let loadIdentityResolvingKeys = ManagementOpcode(rawValue: 0x0030)
    /// Get Connection Information.
    public static let getConnectionInformation = ManagementOpcode(rawValue: 0x0031)
    /// Add Device.
    public static let addDevice = ManagementOpcode(rawValue: 0x0033)
    /// Remove Device.
    public static let removeDevice = ManagementOpcode(rawValue: 0x0034)
    /// Start Service Discovery.
    public static let startServiceDiscovery = ManagementOpcode(rawValue: 0x003A)
    /// Load Connection Parameters.
    public static let loadConnectionParameters = ManagementOpcode(rawValue: 0x0035)
    /// Read Default System Configuration.
    public static let readDefaultSystemConfiguration = ManagementOpcode(rawValue: 0x004B)
}

extension ManagementOpcode: CustomStringConvertible {
    /// The specification's name, or the number.
    public var description: String {
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
public struct ControllerIndex: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number as it stands in a packet.
    public var rawValue: UInt16

    /// Creates an index from a packet's.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Reads `hci0`, as the kernel and the object paths of bluetoothd name adapters; nil for anything else.
    public init?(name: String) {
        guard name.hasPrefix("hci"), let number = UInt16(name.dropFirst(3)), number != Self.none.rawValue else { return nil }
        self.init(rawValue: number)
    }

    /// No adapter: the command or event concerns the interface itself.
    public static let none = ControllerIndex(rawValue: 0xFFFF)

    public static func < (left: ControllerIndex, right: ControllerIndex) -> Bool { left.rawValue < right.rawValue }
}

extension ControllerIndex: CustomStringConvertible {
    /// Such as `hci0`.
    public var description: String { self == .none ? "no controller" : "hci\(rawValue)" }
}
