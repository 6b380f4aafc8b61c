package import Bluetooth

/// A command to the kernel's management interface.
package enum ManagementCommand: Hashable, Sendable {
    /// Which version of the interface the kernel has. Needs no privilege.
    case readVersion
    /// Which adapters there are. Needs no privilege.
    case readControllerIndexList
    /// Address, name, settings of an adapter. Needs no privilege.
    case readControllerInformation(ControllerIndex)
    /// Switches an adapter on or off. Needs CAP_NET_ADMIN.
    case setPowered(Bool, ControllerIndex)
    /// Lets an adapter speak Bluetooth Low Energy, or not; also while it is off. Needs CAP_NET_ADMIN.
    case setLowEnergy(Bool, ControllerIndex)
    /// Reports every Low Energy device that advertises, for about 10 s. Needs CAP_NET_ADMIN.
    case startDiscovery(ControllerIndex)
    /// Reports the Low Energy devices that advertise one of the services, for about 10 s. Needs CAP_NET_ADMIN.
    case startServiceDiscovery([BluetoothUUID], ControllerIndex)
    /// Ends either. Needs CAP_NET_ADMIN.
    case stopDiscovery(ControllerIndex)
    /// Connects to a Low Energy device whenever it advertises, until ``removeDevice(_:_:)``; survives that the adapter is
    /// switched off. A link on which no socket is opened is closed after 2 s. Needs CAP_NET_ADMIN.
    case addDevice(PeripheralIdentifier, ControllerIndex)
    /// Takes a device out of that list, or all (nil); their connection parameters are forgotten, too. Needs CAP_NET_ADMIN.
    case removeDevice(PeripheralIdentifier?, ControllerIndex)
    /// Closes whatever link there is to a device. Needs CAP_NET_ADMIN.
    case disconnect(PeripheralIdentifier, ControllerIndex)
    /// Which devices are connected. Needs CAP_NET_ADMIN.
    case getConnections(ControllerIndex)
    /// How strong a link is. The kernel asks the controller at most once a second for each link, and otherwise repeats
    /// the last answer. Needs CAP_NET_ADMIN.
    case getConnectionInformation(PeripheralIdentifier, ControllerIndex)
    /// Which parameters the kernel shall use for links to these devices, by identity address. Needs CAP_NET_ADMIN.
    ///
    /// The list replaces what was loaded before, by anybody; it is not added to it. At most
    /// ``maximumConnectionParameters`` entries, further ones are not sent. ``ConnectionParameterLoader`` knows when to send
    /// it.
    case loadConnectionParameters([DeviceConnectionParameters], ControllerIndex)
    /// Whether keys are exchanged when a link is secured, so that later links need no pairing. The kernel switches it off for
    /// an adapter when the first command for that comes. Needs CAP_NET_ADMIN.
    case setBondable(Bool, ControllerIndex)
    /// Pairing over BR/EDR with elliptic curves; also while the adapter is off. Needs CAP_NET_ADMIN.
    case setSecureSimplePairing(Bool, ControllerIndex)
    /// The same over Low Energy, and with longer keys over BR/EDR; also while the adapter is off. Needs CAP_NET_ADMIN.
    case setSecureConnections(Bool, ControllerIndex)
    /// What this machine can ask of a person during a pairing. Needs CAP_NET_ADMIN.
    case setIOCapability(IOCapability, ControllerIndex)
    /// Which devices of Bluetooth Classic are known without a pairing. The list replaces all keys of the adapter, also while it
    /// is off; one entry that the kernel finds invalid voids it. At most ``maximumLinkKeys`` keys, further ones are not sent.
    /// Needs CAP_NET_ADMIN.
    case loadLinkKeys([LinkKey], ControllerIndex)
    /// Which devices can be encrypted with without a pairing. The list replaces all keys of the adapter. Needs CAP_NET_ADMIN.
    ///
    /// Keys come and go together with ``loadIdentityResolvingKeys(_:_:)``; one entry that the kernel finds invalid voids the
    /// list. At most ``maximumLongTermKeys`` keys, further ones are not sent.
    case loadLongTermKeys([Bond], ControllerIndex)
    /// Whose private addresses are resolved: such devices are reported, and taken, by their identity. Needs CAP_NET_ADMIN.
    case loadIdentityResolvingKeys([Bond], ControllerIndex)
    /// Forgets all keys of a device, and closes the link to it. Needs CAP_NET_ADMIN, and an adapter that is on.
    case unpairDevice(PeripheralIdentifier, ControllerIndex)
    /// Answers PIN Code Request: with 1 ... 16 characters, or with none. Needs CAP_NET_ADMIN.
    case replyToPINCode(String?, PeripheralIdentifier, ControllerIndex)
    /// Answers User Confirmation Request. Needs CAP_NET_ADMIN.
    case replyToUserConfirmation(Bool, PeripheralIdentifier, ControllerIndex)
    /// Answers User Passkey Request: with 0 ... 999,999, or with none. Needs CAP_NET_ADMIN.
    case replyToUserPasskey(UInt32?, PeripheralIdentifier, ControllerIndex)
    /// What the kernel uses where nothing was loaded. Needs no privilege; since version 1.18.
    case readDefaultSystemConfiguration(ControllerIndex)

    /// How many entries fit in a packet: 65,535 bytes, 2 for the count, 15 for each (`load_conn_param` in the kernel).
    package static let maximumConnectionParameters = 4368

    /// How many keys fit in a packet: 65,535 bytes, 3 before them, 25 for each (Load Link Keys).
    package static let maximumLinkKeys = 2621

    /// How many keys fit in a packet: 65,535 bytes, 2 for the count, 36 for each (Load Long Term Keys).
    package static let maximumLongTermKeys = 1820

    /// The code of the command.
    package var opcode: ManagementOpcode {
        switch self {
        case .readVersion: .readVersion
        case .readControllerIndexList: .readControllerIndexList
        case .readControllerInformation: .readControllerInformation
        case .setPowered: .setPowered
        case .setLowEnergy: .setLowEnergy
        case .startDiscovery: .startDiscovery
        case .startServiceDiscovery: .startServiceDiscovery
        case .stopDiscovery: .stopDiscovery
        case .addDevice: .addDevice
        case .removeDevice: .removeDevice
        case .disconnect: .disconnect
        case .getConnections: .getConnections
        case .getConnectionInformation: .getConnectionInformation
        case .loadConnectionParameters: .loadConnectionParameters
        case .readDefaultSystemConfiguration: .readDefaultSystemConfiguration
        case .setBondable: .setBondable
        case .setSecureSimplePairing: .setSecureSimplePairing
        case .setSecureConnections: .setSecureConnections
        case .setIOCapability: .setIOCapability
        case .loadLinkKeys: .loadLinkKeys
        case .loadLongTermKeys: .loadLongTermKeys
        case .loadIdentityResolvingKeys: .loadIdentityResolvingKeys
        case .unpairDevice: .unpairDevice
        case .replyToPINCode(.some, _, _): .pinCodeReply
        case .replyToPINCode(nil, _, _): .pinCodeNegativeReply
        case .replyToUserConfirmation(true, _, _): .userConfirmationReply
        case .replyToUserConfirmation(false, _, _): .userConfirmationNegativeReply
        case .replyToUserPasskey(.some, _, _): .userPasskeyReply
        case .replyToUserPasskey(nil, _, _): .userPasskeyNegativeReply
        }
    }

    /// The adapter that the command concerns.
    package var index: ControllerIndex {
        switch self {
        case .readVersion, .readControllerIndexList: .none
        case .readControllerInformation(let index), .getConnections(let index), .disconnect(_, let index),
            .getConnectionInformation(_, let index), .loadConnectionParameters(_, let index),
            .readDefaultSystemConfiguration(let index), .setPowered(_, let index),
            .setLowEnergy(_, let index), .startDiscovery(let index), .startServiceDiscovery(_, let index),
            .stopDiscovery(let index), .addDevice(_, let index), .removeDevice(_, let index), .setBondable(_, let index),
            .setSecureSimplePairing(_, let index), .setSecureConnections(_, let index), .setIOCapability(_, let index),
            .loadLinkKeys(_, let index), .loadLongTermKeys(_, let index), .loadIdentityResolvingKeys(_, let index),
            .unpairDevice(_, let index), .replyToPINCode(_, _, let index), .replyToUserConfirmation(_, _, let index),
            .replyToUserPasskey(_, _, let index):
            index
        }
    }

    /// The packet: opcode, index, length of the parameters, parameters.
    package var encoded: [UInt8] {
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
        switch self {
        case .readVersion, .readControllerIndexList, .readControllerInformation, .getConnections,
            .readDefaultSystemConfiguration:
            break
        case .setPowered(let isOn, _), .setLowEnergy(let isOn, _), .setBondable(let isOn, _),
            .setSecureSimplePairing(let isOn, _), .setSecureConnections(let isOn, _):
            parameters.append(isOn ? 1 : 0)
        case .startDiscovery, .stopDiscovery: parameters.append(Self.lowEnergyAddresses)
        case .startServiceDiscovery(let services, _):
            parameters.append(Self.lowEnergyAddresses)
            parameters.append(Self.anyStrength)
            parameters.append(littleEndian: UInt16(clamping: services.count))
            for service in services.prefix(Int(UInt16.max)) { parameters += service.littleEndianBytes }
        case .addDevice(let identifier, _):
            parameters.append(identifier)
            parameters.append(Self.connectAutomatically)
        case .removeDevice(let identifier, _):
            // An address of zeros, of type 0, stands for all.
            parameters.append(identifier ?? PeripheralIdentifier(address: 0, type: .classic))
        case .disconnect(let identifier, _), .getConnectionInformation(let identifier, _),
            .replyToUserConfirmation(_, let identifier, _):
            parameters.append(identifier)
        case .loadConnectionParameters(let devices, _): return Self.encoded(devices)
        case .setIOCapability(let capability, _): parameters.append(capability.rawValue)
        case .loadLinkKeys(let keys, _): return Self.encodedLinkKeys(keys)
        case .loadLongTermKeys(let bonds, _): return Self.encodedLongTermKeys(of: bonds)
        case .loadIdentityResolvingKeys(let bonds, _): return Self.encodedIdentityResolvingKeys(of: bonds)
        case .unpairDevice(let identifier, _):
            parameters.append(identifier)
            parameters.append(Self.andDisconnect)
        case .replyToPINCode(let pin, let identifier, _):
            parameters.append(identifier)
            if let pin { parameters += Self.encoded(pin: pin) }
        case .replyToUserPasskey(let passkey, let identifier, _):
            parameters.append(identifier)
            if let passkey { parameters.append(littleEndian: passkey) }
        }
        return parameters
    }

    /// Public and random addresses, bits 1 and 2 (Start Discovery).
    private static let lowEnergyAddresses: UInt8 = 0b110
    /// 127 dBm: devices are reported however weak they are (Start Service Discovery).
    private static let anyStrength: UInt8 = 127
    /// Auto-connect remote device (Add Device).
    private static let connectAutomatically: UInt8 = 2
    /// The link goes with its keys (Unpair Device).
    private static let andDisconnect: UInt8 = 1

    private static func encoded(_ devices: [DeviceConnectionParameters]) -> [UInt8] {
        var parameters: [UInt8] = []
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
package struct DeviceConnectionParameters: Hashable, Sendable {
    /// The device's identity address: public, or random static. The kernel ignores classic ones.
    package var identifier: PeripheralIdentifier
    /// The parameters.
    package var parameters: ConnectionParameters

    /// Creates an entry.
    package init(identifier: PeripheralIdentifier, parameters: ConnectionParameters) {
        self.identifier = identifier
        self.parameters = parameters
    }
}
