import Bluetooth
import Testing

@Suite("Bluetooth UUID")
struct BluetoothUUIDTests {
    @Test("is the same in each of its forms")
    func forms() {
        let short = BluetoothUUID(UInt16(0xFE8D))
        #expect(BluetoothUUID("FE8D") == short)
        #expect(BluetoothUUID("0000fe8d") == short)
        #expect(BluetoothUUID("0000FE8D-0000-1000-8000-00805f9b34fb") == short)
        #expect(BluetoothUUID(littleEndianBytes: [0x8D, 0xFE]) == short)
        #expect(BluetoothUUID(littleEndianBytes: [0x8D, 0xFE, 0, 0]) == short)
        #expect(BluetoothUUID(littleEndianBytes: short.littleEndianBytes) == short)
        #expect(short.description == "FE8D")
        #expect(short.fullDescription == "0000fe8d-0000-1000-8000-00805f9b34fb")
    }

    @Test("does not match another one that shares its tail or its head")
    func lookAlikes() throws {
        let nordic = try #require(BluetoothUUID("6e400001-b5a3-f393-e0a9-e50e24dcca9e"))
        let other = try #require(BluetoothUUID("6e400001-b5a3-f393-e0a9-e50e24dcca9f"))
        #expect(nordic != other)
        #expect(nordic.short16 == nil)
        #expect(nordic.description == "6e400001-b5a3-f393-e0a9-e50e24dcca9e")
        #expect(BluetoothUUID("0001FE8D")?.short16 == nil)
    }

    @Test(
        "refuses text that is no UUID",
        arguments: [
            "", "FE8", "FE8DX", "GE8D", "0000FE8D-0000-1000-8000-00805F9B34F", "0000FE8D00001000800000805F9B34FB",
            "0000FE8D-0000-1000-80000-0805F9B34FB", "0000FE8D-0000-1000-8000-00805F9B34F-", "+E8D", "ﬀ8D",
        ])
    func badText(text: String) {
        #expect(BluetoothUUID(text) == nil)
    }

    @Test("refuses bytes of other lengths", arguments: [0, 1, 3, 5, 8, 15, 17, 32])
    func badLengths(count: Int) {
        #expect(BluetoothUUID(littleEndianBytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test("is ordered by its value")
    func order() {
        #expect(BluetoothUUID(UInt16(1)) < BluetoothUUID(UInt16(2)))
        #expect(BluetoothUUID(high: 0, low: .max) < BluetoothUUID(high: 1, low: 0))
    }
}

@Suite("Peripheral identifier")
struct PeripheralIdentifierTests {
    @Test(
        "is the same in text and value",
        arguments: ["00:55:DA:B0:13:24/public", "C0:55:DA:B0:13:24/random", "A4:04:C1:00:00:01/classic"])
    func text(text: String) throws {
        let identifier = try #require(PeripheralIdentifier(text))
        #expect(identifier.description == text)
        #expect(PeripheralIdentifier(text.lowercased()) == identifier)
    }

    @Test("without a type is public")
    func defaultType() {
        #expect(PeripheralIdentifier("00:55:da:b0:13:24") == PeripheralIdentifier(address: 0x0055_DAB0_1324, type: .public))
    }

    @Test(
        "refuses other text",
        arguments: [
            "", "/", "00:55:DA:B0:13", "00:55:DA:B0:13:24:", "00:55:DA:B0:13:2", "00:55:DA:B0:13:+4", "00:55:DA:B0:13:-4",
            "00:55:DA:B0:13:24/", "00:55:DA:B0:13:24/le", "00-55-DA-B0-13-24", "0055DAB01324", "00:55:DA:B0:13:ZZ",
        ])
    func badText(text: String) {
        #expect(PeripheralIdentifier(text) == nil)
    }

    @Test("tells resolvable private addresses by their two highest bits 01, and only among random ones")
    func resolvablePrivate() {
        for (top, expected) in [(0x00, false), (0x3F, false), (0x40, true), (0x7F, true), (0x80, false), (0xC0, false)] {
            let address = UInt64(top) << 40 | 0x55_DAB0_1324
            #expect(PeripheralIdentifier(address: address, type: .random).isResolvablePrivate == expected)
            #expect(!PeripheralIdentifier(address: address, type: .public).isResolvablePrivate)
            #expect(!PeripheralIdentifier(address: address, type: .classic).isResolvablePrivate)
        }
    }

    @Test("drops bits above the 48th")
    func excessBits() {
        let identifier = PeripheralIdentifier(address: .max, type: .random)
        #expect(identifier.address == 0xFFFF_FFFF_FFFF)
        #expect(!identifier.isResolvablePrivate)
    }
}
