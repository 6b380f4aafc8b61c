package import Bluetooth
import Glibc

/// Why the management channel cannot be used.
package enum ManagementError: Error, Hashable, Sendable {
    /// The socket cannot be opened or bound; the system's error number.
    case cannotOpen(code: Int32)
    /// A command cannot be sent; the system's error number.
    case cannotSend(code: Int32)
    /// Nothing more can be received; the system's error number.
    case cannotReceive(code: Int32)
    /// The kernel sent what this version cannot read.
    case malformed(ManagementPacketError)

    /// What the error asks for. Bluetooth works without the channel, so none of them stops anything.
    package var disposition: Disposition {
        switch self {
        case .cannotOpen(EAFNOSUPPORT), .cannotOpen(EPERM), .cannotOpen(EACCES): .waitForOperator
        case .cannotOpen, .cannotSend, .cannotReceive, .malformed: .retry
        }
    }
}

extension ManagementError: CustomStringConvertible {
    /// What failed and why.
    package var description: String {
        switch self {
        case .cannotOpen(EAFNOSUPPORT):
            "the kernel has no Bluetooth, or the service manager keeps it from this process (RestrictAddressFamilies)"
        case .cannotOpen(let code): "the kernel's Bluetooth management channel cannot be opened: \(Self.text(code))"
        case .cannotSend(let code): "a Bluetooth management command cannot be sent: \(Self.text(code))"
        case .cannotReceive(let code): "the kernel's Bluetooth management channel broke: \(Self.text(code))"
        case .malformed(let error): "the kernel sent a Bluetooth management packet that cannot be read: \(error)"
        }
    }

    private static func text(_ code: Int32) -> String {
        // strerror answers every number with a text.
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
