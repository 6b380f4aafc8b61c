/// CRC-32C (Castagnoli): reflected polynomial 0x82F63B78, initial value and final XOR 0xFFFFFFFF (RFC 3720, appendix B.4).
package enum CRC32C {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1 }
    }

    /// The checksum of the first `count` bytes.
    ///
    /// - Parameter count: 0 ... `bytes.count`; more counts as `bytes.count`.
    package static func checksum(of bytes: [UInt8], count: Int = .max) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            bytes.withUnsafeBufferPointer { bytes in
                var value: UInt32 = 0xFFFF_FFFF
                for byte in bytes.prefix(count) {
                    value = value >> 8 ^ table[Int(truncatingIfNeeded: value & 0xFF) ^ Int(byte)]
                }
                return ~value
            }
        }
    }
}
