import Bluetooth

/// Takes the fields of one packet; its error names the packet's opcode.
typealias AttributePacketReader = ByteReader<AttributePDUError>

extension ByteReader<AttributePDUError> {
    /// Reads what follows the opcode.
    init(_ bytes: [UInt8], _ opcode: AttributeOpcode) { self.init(bytes, from: 1, truncated: .wrongLength(opcode)) }

    mutating func byte() throws(AttributePDUError) -> UInt8 { try integer() }

    mutating func handle() throws(AttributePDUError) -> AttributeHandle {
        AttributeHandle(rawValue: try integer())
    }

    mutating func range() throws(AttributePDUError) -> HandleRange {
        HandleRange(try handle(), try handle())
    }

    /// A type that takes all that is left.
    mutating func type() throws(AttributePDUError) -> AttributeType {
        guard let type = AttributeType(try slice(remaining)) else { throw truncated }
        return type
    }

    /// At least `minimum` handles that take all that is left.
    mutating func handles(atLeast minimum: Int) throws(AttributePDUError) -> [AttributeHandle] {
        var handles: [AttributeHandle] = []
        handles.reserveCapacity(remaining / 2)
        while remaining > 0 { handles.append(try handle()) }
        guard handles.count >= minimum else { throw truncated }
        return handles
    }

    /// Says whether a list of entries of one length can take all that is left.
    func expectEntries(of length: Int, atLeast shortest: Int) throws(AttributePDUError) {
        guard length >= shortest, remaining >= length, remaining % length == 0 else { throw truncated }
    }

    /// Ends the packet: nothing may be left.
    func finish() throws(AttributePDUError) {
        guard remaining == 0 else { throw truncated }
    }
}
