/// How a command of the management interface ended (BlueZ, `doc/mgmt-protocol`, Error Codes).
package struct ManagementStatus: RawRepresentable, Error, Hashable, Sendable {
    /// The code as it stands in a packet.
    package var rawValue: UInt8

    /// Creates a status from a packet's.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The command was executed.
    package static let success = ManagementStatus(rawValue: 0x00)
    /// The kernel is older than the command.
    package static let unknownCommand = ManagementStatus(rawValue: 0x01)
    /// No link to the device.
    package static let notConnected = ManagementStatus(rawValue: 0x02)
    /// Failed, for a reason that the kernel does not name.
    package static let failed = ManagementStatus(rawValue: 0x03)
    /// The connection attempt failed.
    package static let connectFailed = ManagementStatus(rawValue: 0x04)
    /// The adapter works on something else.
    package static let busy = ManagementStatus(rawValue: 0x0A)
    /// The adapter cannot do it.
    package static let notSupported = ManagementStatus(rawValue: 0x0C)
    /// A parameter is wrong.
    package static let invalidParameters = ManagementStatus(rawValue: 0x0D)
    /// The adapter is off.
    package static let notPowered = ManagementStatus(rawValue: 0x0F)
    /// There is no such adapter.
    package static let invalidIndex = ManagementStatus(rawValue: 0x11)
    /// The radio is blocked.
    package static let blocked = ManagementStatus(rawValue: 0x12)
    /// The process lacks CAP_NET_ADMIN; the kernel decides that when the socket is bound.
    package static let permissionDenied = ManagementStatus(rawValue: 0x14)
}

extension ManagementStatus: CustomStringConvertible {
    /// In words, complete with the number where the kernel may say more than this list knows.
    package var description: String {
        switch self {
        case .success: "success"
        case .unknownCommand: "the kernel does not know the command"
        case .notConnected: "not connected"
        case .failed: "failed"
        case .connectFailed: "the connection failed"
        case .busy: "the adapter is busy"
        case .notSupported: "the adapter does not support it"
        case .invalidParameters: "invalid parameters"
        case .notPowered: "the adapter is off"
        case .invalidIndex: "there is no such adapter"
        case .blocked: "the radio is blocked (rfkill)"
        case .permissionDenied: "this process lacks CAP_NET_ADMIN"
        default: "status \(rawValue) of the kernel's Bluetooth management interface"
        }
    }
}

/// Why a link ended, as the kernel reports it (Device Disconnected).
package enum DisconnectionReason: UInt8, Hashable, Sendable, CaseIterable {
    /// The kernel does not know.
    case unspecified = 0
    /// The supervision timeout passed.
    case connectionTimeout = 1
    /// This host closed the link.
    case localHost = 2
    /// The peripheral closed the link.
    case remoteHost = 3
    /// Pairing or encryption failed.
    case authenticationFailure = 4
    /// This host closed the link because it goes to sleep.
    case localHostForSuspend = 5
}
