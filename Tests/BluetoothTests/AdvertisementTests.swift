import Bluetooth
import Testing

@Suite("Advertisement")
struct AdvertisementTests {
    /// A Muse: flags, 16-bit service FE8D, complete name.
    private static let muse: [UInt8] = [2, 0x01, 0x06, 3, 0x03, 0x8D, 0xFE, 5, 0x09, 0x4D, 0x75, 0x73, 0x65]

    @Test("is parsed from AD structures")
    func structures() {
        let advertisement = Advertisement(structures: Self.muse)
        #expect(advertisement.flags == 6)
        #expect(advertisement.serviceUUIDs == [BluetoothUUID(UInt16(0xFE8D))])
        #expect(advertisement.localName == "Muse")
        #expect(!advertisement.isTruncated)
    }

    @Test("reads services of every width, service data, manufacturer data, power and appearance")
    func everyType() throws {
        let long: [UInt8] = Array(1...16)
        let structures: [[UInt8]] = [
            [9, 0x05, 1, 0, 0, 0, 2, 0, 0, 0], [17, 0x07] + long, [5, 0x16, 0x0F, 0x18, 87, 99], [5, 0xFF, 0x4C, 0x00, 1, 2],
            [2, 0x0A, 0xF4], [3, 0x19, 0x41, 0x03], [3, 0x2F, 1, 2],
        ]
        let advertisement = Advertisement(structures: structures.flatMap { $0 })
        let whole = try #require(BluetoothUUID(littleEndianBytes: long))
        #expect(advertisement.serviceUUIDs == [BluetoothUUID(UInt32(1)), BluetoothUUID(UInt32(2)), whole])
        #expect(advertisement.serviceData.map(\.data) == [[87, 99]])
        #expect(advertisement.manufacturerData == [.init(company: 0x004C, data: [1, 2])])
        #expect(advertisement.transmitPower == -12)
        #expect(advertisement.appearance == 0x0341)
    }

    @Test("keeps what stands before a structure that claims more bytes than there are", arguments: 1..<13)
    func truncation(count: Int) {
        let advertisement = Advertisement(structures: Self.muse.prefix(count))
        let ends = [3, 7]
        #expect(advertisement.isTruncated == !ends.contains(count))
        #expect(advertisement.flags == (count >= 3 ? 6 : nil))
        #expect(advertisement.serviceUUIDs.isEmpty == (count < 7))
        #expect(advertisement.localName == nil)
    }

    @Test("ends at a length of 0, as padding does")
    func padding() {
        let advertisement = Advertisement(structures: Self.muse + [0, 0xFF, 0xFF])
        #expect(advertisement.localName == "Muse")
        #expect(!advertisement.isTruncated)
    }

    @Test("ignores values that are too short for their type")
    func shortValues() {
        let advertisement = Advertisement(structures: [
            1, 0x01, 1, 0x0A, 2, 0xFF, 1, 2, 0x03, 1, 2, 0x19, 1, 2, 0x16, 1, 1, 0x09,
        ])
        #expect(advertisement.flags == nil)
        #expect(advertisement.transmitPower == nil)
        #expect(advertisement.manufacturerData.isEmpty)
        #expect(advertisement.serviceUUIDs.isEmpty)
        #expect(advertisement.serviceData.isEmpty)
        #expect(advertisement.appearance == nil)
        #expect(advertisement.localName?.isEmpty == true)
    }

    @Test("prefers the complete name to the shortened one, in either order")
    func names() {
        let short: [UInt8] = [3, 0x08, 0x4D, 0x75]
        let complete: [UInt8] = [5, 0x09, 0x4D, 0x75, 0x73, 0x65]
        #expect(Advertisement(structures: short + complete).localName == "Muse")
        #expect(Advertisement(structures: complete + short).localName == "Muse")
    }

    @Test("accepts any bytes")
    func anyBytes() {
        var state: UInt32 = 1
        for _ in 0..<5000 {
            let bytes: [UInt8] = (0..<31).map { _ in
                state = state &* 1_664_525 &+ 1_013_904_223
                return UInt8(state >> 24)
            }
            let advertisement = Advertisement(structures: bytes)
            #expect(advertisement.serviceUUIDs.count <= 14)
        }
    }
}

@Suite("Scan filter")
struct ScanFilterTests {
    @Test("reports an advertisement that meets any rule")
    func anyRule() {
        let filter = ScanFilter(serviceUUIDs: [.deviceInformation], namePrefixes: ["Hermes"], companies: [0x1234])
        #expect(filter.matches(Advertisement(serviceUUIDs: [.deviceInformation])))
        #expect(filter.matches(Advertisement(localName: "Hermes V1")))
        #expect(filter.matches(Advertisement(manufacturerData: [.init(company: 0x1234, data: [])])))
        #expect(!filter.matches(Advertisement(localName: "A Hermes")))
    }

    @Test("joins with another in any order, each rule once")
    func union() {
        let left = ScanFilter(serviceUUIDs: [.deviceInformation], namePrefixes: ["b", "a", "b"])
        let right = ScanFilter(serviceUUIDs: [.deviceInformation, .genericAttribute], companies: [2, 1])
        #expect(left.union(right) == right.union(left))
        #expect(left.union(right).serviceUUIDs == [.genericAttribute, .deviceInformation])
        #expect(left.union(right).namePrefixes == ["a", "b"])
        #expect(ScanFilter().isEmpty)
        #expect(!ScanFilter().matches(Advertisement(localName: "anything")))
    }

    @Test("reports everything where nothing is filtered, also joined with another")
    func unfiltered() {
        let filter = ScanFilter.unfiltered.union(ScanFilter(namePrefixes: ["a"]))
        #expect(filter == .unfiltered && filter == ScanFilter(companies: [1]).union(.unfiltered))
        #expect(!filter.isEmpty)
        #expect(filter.matches(Advertisement()))
    }
}
