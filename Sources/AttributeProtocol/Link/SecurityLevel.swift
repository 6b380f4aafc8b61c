package import Bluetooth

/// How well a link is secured: the levels of LE security mode 1 (Core Specification, Vol 3, Part C, 10.2.1), numbered as the
/// kernel's socket option BT_SECURITY does.
package enum SecurityLevel: UInt8, Hashable, Comparable, Sendable, CaseIterable {
    /// No security: what links begin with.
    case low = 1
    /// Encrypted; the pairing proved nothing about who the other end is.
    case medium = 2
    /// Encrypted, with a pairing that a person or a key confirmed.
    case high = 3
    /// The same with Secure Connections.
    case fips = 4

    package static func < (left: SecurityLevel, right: SecurityLevel) -> Bool { left.rawValue < right.rawValue }

    /// The level to try after a server refused a request at this one; nil where no higher level would help.
    ///
    /// A refusal for want of encryption asks for encryption only; one for want of authentication is first tried with a pairing
    /// that needs no person, which satisfies many a headset (Vol 3, Part C, 10.3.1).
    package func raised(after error: ATTError) -> SecurityLevel? {
        switch error {
        case .insufficientEncryption: self < .medium ? .medium : nil
        case .insufficientAuthentication: SecurityLevel(rawValue: rawValue + 1)
        default: nil
        }
    }
}
