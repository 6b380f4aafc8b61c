public import Bluetooth

/// A command to the kernel's management interface.
public enum ManagementCommand: Hashable, Sendable {
    /// Which version of the interface the kernel has. Needs no privilege.
    case readVersion
    /// Which adapters there are. Needs no privilege.
    case readControllerIndexList
    /// Address, name, settings of an adapter. Needs no privilege.
    case readControllerInformation(ControllerIndex)
    /// Closes whatever link there is to a device. Needs CAP_NET_ADMIN.
    case disconnect(PeripheralIdentifier, ControllerIndex)
    /// Which devices are connected. Needs CAP_NET_ADMIN.
    case getConnections(ControllerIndex)
    /// Which parameters the kernel shall use for links to these devices, by identity address. Needs CAP_NET_ADMIN.
    ///
    /// The list replaces what was loaded before, by anybody; it is not added to it. At most
    /// ``maximumConnectionParameters`` entries, further ones are not sent. ``ConnectionParameterLoader`` knows when to send it.
    case loadConnectionParameters([DeviceConnectionParameters], ControllerIndex)
    /// What the kernel uses where nothing was loaded. Needs no privilege; since version 1.18.
    case readDefaultSystemConfiguration(ControllerIndex)

    /// How many entries fit in a packet: 65,535 bytes, 2 for the count, 15 for each (`load_conn_param` in the kernel).
    public static let maximumConnectionParameters = 4368

    /// The code of the command.
    public var opcode: ManagementOpcode {
        switch self {
        case .readVersion: .readVersion
        case .readControllerIndexList: .readControllerIndexList
        case .readControllerInformation: .readControllerInformation
        case .disconnect: .disconnect
        case .getConnections: .getConnections
        case .loadConnectionParameters: .loadConnectionParameters
        case .readDefaultSystemConfiguration: .readDefaultSystemConfiguration
        }
    }

    /// The adapter that the command concerns.
    public var index: ControllerIndex {
        switch self {
        case .readVersion, .readControllerIndexList: .none
        case .readControllerInformation(let index), .getConnections(let index), .disconnect(_, let index),
            .loadConnectionParameters(_, let index), .readDefaultSystemConfiguration(let index):
            index
        }
    }

    /// The packet: opcode, index, length of the parameters, parameters.
    public var encoded: [UInt8] {
        let parameters = encodedParameters
        var packet: [UInt8] = []
        packet.reserveCapacity(6 + parameters.count)
        packet.append(littleEndian: opcode.rawValue)
        packet.append(littleEndian: index.rawValue)
        packet.append(littleEndian: UInt16(parameters.count))
        return packet + parameters
    }

    private var encodedParameters: [UInt8] {
        var parameters: [UInt8] = []
        if case .disconnect(let identifier, _) = self { parameters.append(identifier) }
        guard case .loadConnectionParameters(let devices, _) = self else { return parameters }
        let sent = devices.prefix(Self.maximumConnectionParameters)
        parameters.append(littleEndian: UInt16(sent.count))
        for device in sent {
            parameters.append(device.identifier)
            parameters.append(littleEndian: device.parameters.minimumInterval)
            parameters.append(littleEndian: device.parameters.maximumInterval)
            parameters.append(littleEndian: device.parameters.latency)
            parameters.append(littleEndian: device.parameters.supervisionTimeout)
        }
        return parameters
    }
}

/// The connection parameters for one device.
public struct DeviceConnectionParameters: Hashable, Sendable {
    /// The device's identity address: public, or random static. The kernel ignores classic ones.
    public var identifier: PeripheralIdentifier
    /// The parameters.
    public var parameters: ConnectionParameters

    /// Creates an entry.
    public init(identifier: PeripheralIdentifier, parameters: ConnectionParameters) {
        self.identifier = identifier
        self.parameters = parameters
    }
}
