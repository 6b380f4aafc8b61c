/// Packets as they were seen on the management channel of Linux 6.1 with bluetoothd 5.66, annotated.
enum PacketBytes {
    /// A Command Complete event: header, opcode, status, return parameters.
    static func complete(opcode: UInt16, index: UInt16 = 0, status: UInt8 = 0, _ parameters: [UInt8] = []) -> [UInt8] {
        event(0x0001, index: index, [UInt8(opcode & 0xFF), UInt8(opcode >> 8), status] + parameters)
    }

    /// Any event: code, index, length, parameters.
    static func event(_ code: UInt16, index: UInt16 = 0, _ parameters: [UInt8]) -> [UInt8] {
        [code, index, UInt16(parameters.count)].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } + parameters
    }

    /// The bytes of a hexadecimal text; blanks and line ends are for the reader.
    static func hexadecimal(_ text: String) -> [UInt8] {
        let digits = text.filter { !$0.isWhitespace }
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { offset in
            let start = digits.index(digits.startIndex, offsetBy: offset)
            return UInt8(digits[start...digits.index(after: start)], radix: 16)
        }
    }

    /// `F0:F1:F2:F3:F4:F5`, LE random.
    static let headset: [UInt8] = [0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 0x02]

    /// Return parameters of Read Controller Information.
    static let controllerInformation =
        // address 00:AA:01:00:00:42, version 9 (5.0), manufacturer 0xFFFF
        hexadecimal("42000001aa00 09 ffff")
        // supported settings, current settings (powered, secure connections off, LE), class of device
        + hexadecimal("1bbe0100 010a0000 000000")
        // "BlueZ 5.66" in 249 bytes, no short name in 11
        + hexadecimal("426c75655a20352e3636") + [UInt8](repeating: 0, count: 239 + 11)

    /// A key that no device has: 00 01 ... 0f.
    static let key = (0..<16).map { UInt8($0) }

    /// Return parameters of Read Default System Configuration: type, length 2, value; 0x001A is the supervision timeout.
    static let defaultSystemConfiguration = hexadecimal(
        """
        0000020000 0100020008 0200021200 0300020000 0400020000 0500020000 0600020000 0700020000 0800025000 0900022003
        0a00020008 0b00020008 0c00020200 0d00026000 0e00023000 0f00020004 1000021200 1100021200 1200021200 1300026000
        1400023000 1500026000 1600026000 1700021800 1800022800 1900020000 1a00022a00 1b0002a00f 1d00022c01 1e0002f401
        1f000100
        """)

    /// A small generator with a seed, so that a failure can be repeated (SplitMix64).
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }
}
