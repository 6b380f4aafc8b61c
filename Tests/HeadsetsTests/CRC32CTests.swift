import Headsets
import Testing

@Suite("CRC-32C")
struct CRC32CTests {
    @Test("has the check value of the Castagnoli polynomial")
    func checkValue() {
        #expect(CRC32C.checksum(of: Array("123456789".utf8)) == 0xE306_9283)
    }

    @Test("agrees with the examples of RFC 3720, B.4")
    func standardExamples() {
        #expect(CRC32C.checksum(of: [UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
        #expect(CRC32C.checksum(of: [UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
        #expect(CRC32C.checksum(of: Array(0..<32)) == 0x46DD_794E)
    }

    @Test("of a prefix ignores the rest, and of nothing is 0")
    func prefixes() {
        #expect(CRC32C.checksum(of: Array("123456789 and more".utf8), count: 9) == 0xE306_9283)
        #expect(CRC32C.checksum(of: []) == 0)
    }
}
