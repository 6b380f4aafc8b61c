package import Bluetooth

/// What the kernel reports on the management channel.
///
/// A socket without CAP_NET_ADMIN hears only of adapters and their settings, not of devices.
package enum ManagementEvent: Hashable, Sendable {
    /// The answer to a command.
    case reply(ManagementReply)
    /// An adapter appeared.
    case indexAdded(ControllerIndex)
    /// An adapter is gone.
    case indexRemoved(ControllerIndex)
    /// An adapter was switched on or off, or another setting changed. A radio that is blocked reports the same as one that is
    /// switched off.
    case newSettings(ControllerSettings, ControllerIndex)
    /// A link is up; `advertisement` is what the device had advertised.
    case deviceConnected(PeripheralIdentifier, advertisement: Advertisement, ControllerIndex)
    /// A link is down.
    case deviceDisconnected(PeripheralIdentifier, DisconnectionReason, ControllerIndex)
    /// A connection attempt ended without a link.
    case connectFailed(PeripheralIdentifier, ManagementStatus, ControllerIndex)
    /// A device advertised during a discovery; `rssi` in dBm, 127 where the adapter does not say.
    case deviceFound(PeripheralIdentifier, rssi: Int8, advertisement: Advertisement, ControllerIndex)
    /// A discovery began or ended.
    case discovering(Bool, ControllerIndex)
    /// The peripheral asked for other connection parameters and got them. `isToBeStored`: the kernel has replaced those
    /// that were loaded by them.
    case newConnectionParameters(DeviceConnectionParameters, isToBeStored: Bool, ControllerIndex)
    /// A pairing over Bluetooth Classic has made a key for later links. `isToBeStored`: both ends have agreed to keep it.
    case newLinkKey(LinkKey, isToBeStored: Bool, ControllerIndex)
    /// A pairing has made a key for later links. `isToBeStored`: both ends have agreed to keep theirs. It comes after the
    /// device's ``newIdentityResolvingKey(_:_:resolved:isToBeStored:_:)``, if it has one.
    case newLongTermKey(PeripheralIdentifier, LongTermKey, isToBeStored: Bool, ControllerIndex)
    /// A pairing has shown whose private addresses can be recognised from now on. `resolved`: the private address of the link,
    /// which from now on goes by the identity in all events and commands; nil where it had the identity's.
    case newIdentityResolvingKey(
        PeripheralIdentifier, SecretKey, resolved: PeripheralIdentifier?, isToBeStored: Bool, ControllerIndex)
    /// During a pairing with a device that is older than Secure Simple Pairing: which PIN has it? `isLong`: it must have all 16
    /// digits.
    case pinCodeRequest(PeripheralIdentifier, isLong: Bool, ControllerIndex)
    /// During a pairing: may it go on? Asked for where the device began it, or is paired already.
    case userConfirmationRequest(PeripheralIdentifier, ControllerIndex)
    /// During a pairing: which six digits does the device show?
    case userPasskeyRequest(PeripheralIdentifier, ControllerIndex)
    /// A pairing failed.
    case authenticationFailed(PeripheralIdentifier, ManagementStatus, ControllerIndex)
    /// An event that this version does not read.
    case other(code: UInt16, ControllerIndex, parameters: [UInt8])

    /// The adapter that is spoken of.
    package var index: ControllerIndex {
        switch self {
        case .reply(let reply): reply.index
        case .indexAdded(let index), .indexRemoved(let index), .newSettings(_, let index), .deviceConnected(_, _, let index),
            .deviceDisconnected(_, _, let index), .connectFailed(_, _, let index), .deviceFound(_, _, _, let index),
            .discovering(_, let index), .newConnectionParameters(_, _, let index), .newLinkKey(_, _, let index),
            .newLongTermKey(_, _, _, let index), .newIdentityResolvingKey(_, _, _, _, let index),
            .pinCodeRequest(_, _, let index), .userConfirmationRequest(_, let index), .userPasskeyRequest(_, let index),
            .authenticationFailed(_, _, let index), .other(_, let index, _):
            index
        }
    }

    /// Reads one packet: event code, index, length of the parameters, parameters.
    ///
    /// - Throws: ``ManagementPacketError``. No byte sequence does worse.
    package init(packet: some Sequence<UInt8>) throws(ManagementPacketError) {
        var reader = ManagementPacketReader(packet)
        let code: UInt16 = try reader.integer()
        let index = try reader.controllerIndex()
        let length = Int(try reader.integer(UInt16.self))
        guard length == reader.remaining else { throw .wrongLength(announced: length, actual: reader.remaining) }
        switch code {
        case 0x0001: self = .reply(try ManagementReply(complete: &reader, index: index))
        case 0x0002: self = .reply(try ManagementReply(status: &reader, index: index))
        case 0x0004: self = .indexAdded(index)
        case 0x0005: self = .indexRemoved(index)
        case 0x0006: self = .newSettings(ControllerSettings(rawValue: try reader.integer()), index)
        case 0x0009:
            let isToBeStored = try reader.integer(UInt8.self) != 0
            self = .newLinkKey(try reader.linkKey(), isToBeStored: isToBeStored, index)
        case 0x000A: self = try Self.newLongTermKey(&reader, index)
        case 0x000B: self = try Self.deviceConnected(&reader, index)
        case 0x000C: self = try Self.deviceDisconnected(&reader, index)
        case 0x000D:
            self = .connectFailed(try reader.identifier(), ManagementStatus(rawValue: try reader.integer()), index)
        case 0x000E:
            self = .pinCodeRequest(try reader.identifier(), isLong: try reader.integer(UInt8.self) != 0, index)
        case 0x000F: self = .userConfirmationRequest(try reader.identifier(), index)
        case 0x0010: self = .userPasskeyRequest(try reader.identifier(), index)
        case 0x0011:
            self = .authenticationFailed(try reader.identifier(), ManagementStatus(rawValue: try reader.integer()), index)
        case 0x0012: self = try Self.deviceFound(&reader, index)
        case 0x0013:
            // Which kinds of addresses.
            _ = try reader.integer(UInt8.self)
            self = .discovering(try reader.integer(UInt8.self) != 0, index)
        case 0x0018: self = try Self.newIdentityResolvingKey(&reader, index)
        case 0x001C: self = try Self.newConnectionParameters(&reader, index)
        default: self = .other(code: code, index, parameters: reader.rest())
        }
        // What a newer kernel appends to a known event is not ours to refuse.
    }

    private static func deviceConnected(
        _ reader: inout ManagementPacketReader, _ index: ControllerIndex
    ) throws(ManagementPacketError) -> ManagementEvent {
        let identifier = try reader.identifier()
        // Flags: how the device was found and connected.
        _ = try reader.integer(UInt32.self)
        let advertisement = try reader.bytes(Int(try reader.integer(UInt16.self)))
        return .deviceConnected(identifier, advertisement: Advertisement(structures: advertisement), index)
    }

    private static func deviceFound(
        _ reader: inout ManagementPacketReader, _ index: ControllerIndex
    ) throws(ManagementPacketError) -> ManagementEvent {
        let identifier = try reader.identifier()
        let rssi = Int8(bitPattern: try reader.integer())
        // Flags: whether it may be connected to, and the like.
        _ = try reader.integer(UInt32.self)
        let advertisement = try reader.bytes(Int(try reader.integer(UInt16.self)))
        return .deviceFound(identifier, rssi: rssi, advertisement: Advertisement(structures: advertisement), index)
    }

    private static func deviceDisconnected(
        _ reader: inout ManagementPacketReader, _ index: ControllerIndex
    ) throws(ManagementPacketError) -> ManagementEvent {
        let identifier = try reader.identifier()
        // A reason that a newer kernel knows is unspecified for this version.
        let reason = DisconnectionReason(rawValue: try reader.integer()) ?? .unspecified
        return .deviceDisconnected(identifier, reason, index)
    }

    private static func newLongTermKey(
        _ reader: inout ManagementPacketReader, _ index: ControllerIndex
    ) throws(ManagementPacketError) -> ManagementEvent {
        let isToBeStored = try reader.integer(UInt8.self) != 0
        let (identity, key) = try reader.longTermKey()
        return .newLongTermKey(identity, key, isToBeStored: isToBeStored, index)
    }

    private static func newIdentityResolvingKey(
        _ reader: inout ManagementPacketReader, _ index: ControllerIndex
    ) throws(ManagementPacketError) -> ManagementEvent {
        let isToBeStored = try reader.integer(UInt8.self) != 0
        let random = try reader.address()
        let identity = try reader.identifier()
        return .newIdentityResolvingKey(
            identity, try reader.secretKey(),
            resolved: random == 0 ? nil : PeripheralIdentifier(address: random, type: .random), isToBeStored: isToBeStored,
            index)
    }

    private static func newConnectionParameters(
        _ reader: inout ManagementPacketReader, _ index: ControllerIndex
    ) throws(ManagementPacketError) -> ManagementEvent {
        let isToBeStored = try reader.integer(UInt8.self) != 0
        let identifier = try reader.identifier()
        let parameters = ConnectionParameters(
            minimumInterval: try reader.integer(), maximumInterval: try reader.integer(), latency: try reader.integer(),
            supervisionTimeout: try reader.integer())
        guard let parameters else { throw .invalidField("connection parameters") }
        return .newConnectionParameters(
            DeviceConnectionParameters(identifier: identifier, parameters: parameters), isToBeStored: isToBeStored, index)
    }
}

extension DisconnectionReason {
    /// The same in the words of a central.
    package var error: CentralError {
        switch self {
        case .unspecified, .connectionTimeout: .linkLost
        case .localHost: .disconnectedByOperator
        case .remoteHost: .peripheralDisconnected
        case .authenticationFailure: .connectionFailed(reason: "the link could not be authenticated or encrypted")
        case .localHostForSuspend: .adapterUnavailable(.resetting)
        }
    }
}
