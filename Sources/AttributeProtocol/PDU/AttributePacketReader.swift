/// Takes little-endian fields from the front of one packet, whose lengths may lie.
struct AttributePacketReader {
    private let bytes: [UInt8]
    private let opcode: AttributeOpcode
    private var position = 1

    /// Reads what follows the opcode.
    init(_ bytes: [UInt8], _ opcode: AttributeOpcode) {
        self.bytes = bytes
        self.opcode = opcode
    }

    var remaining: Int { bytes.count - position }

    mutating func byte() throws(AttributePDUError) -> UInt8 {
        guard remaining >= 1 else { throw .wrongLength(opcode) }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func integer() throws(AttributePDUError) -> UInt16 {
        guard remaining >= 2 else { throw .wrongLength(opcode) }
        defer { position += 2 }
        return UInt16(bytes[position]) | UInt16(bytes[position + 1]) << 8
    }

    mutating func handle() throws(AttributePDUError) -> AttributeHandle {
        AttributeHandle(rawValue: try integer())
    }

    mutating func range() throws(AttributePDUError) -> HandleRange {
        HandleRange(try handle(), try handle())
    }

    mutating func slice(_ count: Int) throws(AttributePDUError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= remaining else { throw .wrongLength(opcode) }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func value(_ count: Int) throws(AttributePDUError) -> [UInt8] {
        Array(try slice(count))
    }

    /// All bytes that are left.
    mutating func rest() -> [UInt8] {
        defer { position = bytes.count }
        return Array(bytes[position...])
    }

    /// A type that takes all that is left.
    mutating func type() throws(AttributePDUError) -> AttributeType {
        guard let type = AttributeType(try slice(remaining)) else { throw .wrongLength(opcode) }
        return type
    }

    /// At least `minimum` handles that take all that is left.
    mutating func handles(atLeast minimum: Int) throws(AttributePDUError) -> [AttributeHandle] {
        var handles: [AttributeHandle] = []
        handles.reserveCapacity(remaining / 2)
        while remaining > 0 { handles.append(try handle()) }
        guard handles.count >= minimum else { throw .wrongLength(opcode) }
        return handles
    }

    /// Says whether a list of entries of one length can take all that is left.
    func expectEntries(of length: Int, atLeast shortest: Int) throws(AttributePDUError) {
        guard length >= shortest, remaining >= length, remaining % length == 0 else { throw .wrongLength(opcode) }
    }

    /// Ends the packet: nothing may be left.
    func finish() throws(AttributePDUError) {
        guard remaining == 0 else { throw .wrongLength(opcode) }
    }
}
