package import Bluetooth

/// The kernel's answer to a command: a Command Complete or a Command Status event.
package struct ManagementReply: Hashable, Sendable {
    /// The command that is answered.
    package var opcode: ManagementOpcode
    /// The adapter that the command concerned.
    package var index: ControllerIndex
    /// What it returned, or why it failed.
    package var result: Result<Contents, ManagementStatus>

    /// The return parameters of a command.
    package enum Contents: Hashable, Sendable {
        /// The command returns nothing that this version reads.
        case none
        /// Of Read Management Version Information.
        case version(ManagementVersion)
        /// Of Read Controller Index List.
        case controllerIndexes([ControllerIndex])
        /// Of Read Controller Information.
        case controllerInformation(ControllerInformation)
        /// Of the commands that set something, such as Set Powered: what is switched on now. The socket that has sent the
        /// command learns it from this reply alone, all others by a New Settings event.
        case settings(ControllerSettings)
        /// Of Get Connections.
        case connections([PeripheralIdentifier])
        /// Of Get Connection Information: nil where the controller does not say how strong the link is.
        case connectionInformation(PeripheralIdentifier, LinkQuality?)
        /// Of Read Default System Configuration: what the kernel uses for a device of which it knows nothing; nil where it
        /// does not say, or says what no link may have.
        case defaultConnectionParameters(ConnectionParameters?)
        /// Of a command that this version does not send.
        case other([UInt8])
    }

    /// Reads the parameters of a Command Complete event.
    init(complete reader: inout ManagementPacketReader, index: ControllerIndex) throws(ManagementPacketError) {
        opcode = ManagementOpcode(rawValue: try reader.integer())
        self.index = index
        let status = ManagementStatus(rawValue: try reader.integer())
        result = status == .success ? .success(try Self.contents(of: opcode, &reader)) : .failure(status)
    }

    /// Reads the parameters of a Command Status event.
    init(status reader: inout ManagementPacketReader, index: ControllerIndex) throws(ManagementPacketError) {
        opcode = ManagementOpcode(rawValue: try reader.integer())
        self.index = index
        let status = ManagementStatus(rawValue: try reader.integer())
        result = status == .success ? .success(.none) : .failure(status)
    }

    private static func contents(
        of opcode: ManagementOpcode, _ reader: inout ManagementPacketReader
    ) throws(ManagementPacketError) -> Contents {
        switch opcode {
        case .readVersion: return .version(ManagementVersion(major: try reader.integer(), revision: try reader.integer()))
        case .readControllerIndexList:
            var indexes: [ControllerIndex] = []
            for _ in 0..<(try reader.integer(UInt16.self)) { indexes.append(try reader.controllerIndex()) }
            return .controllerIndexes(indexes)
        case .readControllerInformation: return .controllerInformation(try ControllerInformation(&reader))
        case .getConnections:
            var devices: [PeripheralIdentifier] = []
            for _ in 0..<(try reader.integer(UInt16.self)) { devices.append(try reader.identifier()) }
            return .connections(devices)
        case .getConnectionInformation: return try connectionInformation(&reader)
        case .readDefaultSystemConfiguration: return .defaultConnectionParameters(try defaultConnectionParameters(&reader))
        case .setPowered, .setLowEnergy, .setBondable, .setSecureSimplePairing, .setSecureConnections:
            return .settings(ControllerSettings(rawValue: try reader.integer()))
        case .loadConnectionParameters: return .none
        default: return .other(reader.rest())
        }
    }

    /// Strength and powers are signed; 127 stands for unknown.
    private static func connectionInformation(
        _ reader: inout ManagementPacketReader
    ) throws(ManagementPacketError) -> Contents {
        let identifier = try reader.identifier()
        let rssi = Int8(bitPattern: try reader.integer())
        let power = Int8(bitPattern: try reader.integer())
        _ = try reader.integer(UInt8.self)
        let quality = LinkQuality(rssi: rssi, transmitPower: power == 127 ? nil : power)
        return .connectionInformation(identifier, rssi == 127 ? nil : quality)
    }

    /// Entries of type (2 bytes), length (1 byte), value; those of other types, and of new lengths, are skipped.
    private static func defaultConnectionParameters(
        _ reader: inout ManagementPacketReader
    ) throws(ManagementPacketError) -> ConnectionParameters? {
        var minimum: UInt16?
        var maximum: UInt16?
        var latency: UInt16?
        var timeout: UInt16?
        while reader.remaining > 0 {
            let type = try reader.integer(UInt16.self)
            let length = Int(try reader.integer(UInt8.self))
            guard length == 2 else {
                _ = try reader.slice(length)
                continue
            }
            let value = try reader.integer(UInt16.self)
            switch type {
            case 0x0017: minimum = value
            case 0x0018: maximum = value
            case 0x0019: latency = value
            case 0x001A: timeout = value
            default: break
            }
        }
        guard let minimum, let maximum, let latency, let timeout else { return nil }
        return ConnectionParameters(
            minimumInterval: minimum, maximumInterval: maximum, latency: latency, supervisionTimeout: timeout)
    }
}

/// The version of the management interface, such as 1.22 (Linux 6.1).
package struct ManagementVersion: Hashable, Comparable, Sendable {
    /// The number before the point.
    package var major: UInt8
    /// The number after the point.
    package var revision: UInt16

    /// Creates a version.
    package init(major: UInt8, revision: UInt16) {
        self.major = major
        self.revision = revision
    }

    /// From here on Load Connection Parameters with a single, known device also changes the link that is up, and keeps the
    /// other devices' entries.
    package static let updatesLiveLinks = ManagementVersion(major: 1, revision: 23)

    package static func < (left: ManagementVersion, right: ManagementVersion) -> Bool {
        (left.major, left.revision) < (right.major, right.revision)
    }
}

extension ManagementVersion: CustomStringConvertible {
    /// Such as `1.22`.
    package var description: String { "\(major).\(revision)" }
}
