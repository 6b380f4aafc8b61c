/// Why bytes are no packet of the Attribute Protocol.
package enum AttributePDUError: Error, Hashable, Sendable {
    /// There are no bytes.
    case empty
    /// The protocol defines no packet that begins so.
    case unknownOpcode(UInt8)
    /// The packet has too few or too many bytes, or a list that does not divide into its entries.
    case wrongLength(AttributeOpcode)
    /// A field has a value that the protocol does not define.
    case undefinedField(AttributeOpcode)
}

extension AttributePDUError: CustomStringConvertible {
    /// What is wrong with the packet.
    package var description: String {
        switch self {
        case .empty: "the packet is empty"
        case .unknownOpcode(let opcode): "no packet has the opcode 0x\(String(opcode, radix: 16))"
        case .wrongLength(let opcode): "the packet \(opcode) has a wrong length"
        case .undefinedField(let opcode): "the packet \(opcode) has a field with an undefined value"
        }
    }
}
