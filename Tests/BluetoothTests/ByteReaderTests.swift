import Bluetooth
import Testing

@Suite("Byte reader")
struct ByteReaderTests {
    private enum Short: Error {
        case truncated
    }

    private static func reader(_ bytes: [UInt8], from: Int = 0, to: Int = .max) -> ByteReader<Short> {
        ByteReader(bytes, from: from, to: to, truncated: .truncated)
    }

    @Test("takes integers of either byte order and sign, and leaves the rest")
    func fields() throws {
        var reader = Self.reader([0x34, 0x12, 0x12, 0x34, 0xFE, 0xFF, 0xFF, 0xFF, 1, 2, 3])
        #expect(try reader.integer(UInt16.self) == 0x1234)
        #expect(try reader.integer(bigEndian: UInt16.self) == 0x1234)
        #expect(try reader.integer(Int32.self) == -2)
        #expect(try Array(reader.slice(1)) == [1])
        #expect(reader.position == 9 && reader.remaining == 2)
        #expect(reader.rest() == [2, 3])
        #expect(reader.rest() == [])
    }

    @Test("throws where a field reaches beyond the end, and then has taken nothing", arguments: 0..<8)
    func short(count: Int) {
        var reader = Self.reader([UInt8](repeating: 7, count: count))
        #expect(throws: Short.truncated) { try reader.integer(UInt64.self) }
        #expect(throws: Short.truncated) { try reader.integer(bigEndian: Int64.self) }
        #expect(throws: Short.truncated) { try reader.slice(count + 1) }
        #expect(throws: Short.truncated) { try reader.bytes(.max) }
        #expect(throws: Short.truncated) { try reader.slice(-1) }
        #expect(reader.remaining == count)
    }

    @Test("takes bounds that lie as the bytes' own", arguments: [(-5, 2), (0, -1), (9, 3), (2, 1), (.max, .max), (.min, .min)])
    func bounds(from: Int, to: Int) {
        var reader = Self.reader([1, 2, 3], from: from, to: to)
        #expect((0...3).contains(reader.remaining))
        let count = reader.remaining
        #expect(reader.rest().count == count)
        #expect(throws: Short.truncated) { try reader.integer(UInt8.self) }
    }

    @Test("takes bytes at an offset, however few there are")
    func offsets() {
        let bytes: [UInt8] = [0x34, 0x12, 0xFF]
        #expect([0, 1, 2, 3, 9].map { bytes.uint16(littleEndianAt: $0) } == [0x1234, 0xFF12, 0x00FF, 0, 0])
        #expect(bytes[...].bigEndianInteger == 0x3412FF && bytes[1...].littleEndianInteger == 0xFF12)
        #expect([UInt8]()[...].bigEndianInteger == 0)
        #expect([UInt8](repeating: 0xFF, count: 40)[...].littleEndianInteger == .max)
    }

    @Test("reads what was written")
    func written() throws {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Int64.min)
        bytes.append(bigEndian: UInt32(0xA1B2_C3D4))
        bytes.append(bigEndianInt24: -2)
        #expect(bytes == [0, 0, 0, 0, 0, 0, 0, 0x80, 0xA1, 0xB2, 0xC3, 0xD4, 0xFF, 0xFF, 0xFE])
        #expect([UInt8](littleEndian: UInt16(0x1234)) == [0x34, 0x12])
        var reader = Self.reader(bytes)
        #expect(try reader.integer(Int64.self) == .min)
        #expect(try reader.integer(bigEndian: UInt32.self) == 0xA1B2_C3D4)
    }
}
