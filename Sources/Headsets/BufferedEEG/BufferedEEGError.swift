/// Why bytes are no valid command or message of the Buffered EEG service.
package enum BufferedEEGError: Error, Hashable, Sendable {
    /// There are no bytes.
    case empty
    /// The first byte is no known opcode.
    case unknownOpcode(UInt8)
    /// The bytes are fewer than their contents claim.
    case truncated
    /// The bytes are more than their contents claim.
    case trailingBytes(count: Int)
    /// A field holds a value that the specification excludes.
    case invalidField(String)
    /// The CRC-32C does not match: bits were damaged.
    case checksumMismatch
    /// The status header is of another version of the protocol.
    case unsupportedVersion(UInt8)
}

extension BufferedEEGError: CustomStringConvertible {
    /// What is wrong, in words for a person.
    package var description: String {
        switch self {
        case .empty: "the message is empty"
        case .unknownOpcode(let opcode): "opcode 0x\(String(opcode, radix: 16)) is unknown"
        case .truncated: "the message is shorter than it claims"
        case .trailingBytes(let count): "the message is \(count) bytes longer than it claims"
        case .invalidField(let name): "the field \(name) holds an excluded value"
        case .checksumMismatch: "the CRC-32C does not match"
        case .unsupportedVersion(let version): "version \(version) of the Buffered EEG service is not supported"
        }
    }
}
