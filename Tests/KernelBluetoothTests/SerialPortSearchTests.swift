import Bluetooth
import Testing

@testable import KernelBluetooth

@Suite struct SerialPortSearchTests {
    /// The record of a serial port as headsets send it: handle, class, protocols, name; inside a sequence of records.
    static func lists(channel: UInt8) -> [UInt8] {
        [
            // A sequence of 37 bytes: one record of 35.
            0x35, 0x25, 0x35, 0x23,
            // ServiceRecordHandle: 0x00010001.
            0x09, 0x00, 0x00, 0x0A, 0x00, 0x01, 0x00, 0x01,
            // ServiceClassIDList: 0x1101.
            0x09, 0x00, 0x01, 0x35, 0x03, 0x19, 0x11, 0x01,
            // ProtocolDescriptorList: L2CAP; RFCOMM, channel.
            0x09, 0x00, 0x04, 0x35, 0x0C, 0x35, 0x03, 0x19, 0x01, 0x00, 0x35, 0x05, 0x19, 0x00, 0x03, 0x08, channel,
            // A value that belongs to no identifier.
            0x08, 0x00,
        ]
    }

    /// A Service Search Attribute Response.
    static func response(_ lists: [UInt8], transaction: UInt16 = 1, continuation: [UInt8] = []) -> [UInt8] {
        let body = [UInt8(lists.count >> 8), UInt8(lists.count & 0xFF)] + lists + [UInt8(continuation.count)] + continuation
        let header: [UInt8] = [
            0x07, UInt8(transaction >> 8), UInt8(transaction & 0xFF), UInt8(body.count >> 8), UInt8(body.count & 0xFF),
        ]
        return header + body
    }

    private func channel(_ lists: [UInt8]) throws -> UInt8? {
        var search = SerialPortSearch()
        _ = search.begin()
        guard case .found(let channel) = try search.received(Self.response(lists)) else { return nil }
        return channel
    }

    @Test func theQuestionIsEncodedByteForByte() {
        var search = SerialPortSearch()
        #expect(
            search.begin() == [
                0x06, 0x00, 0x01, 0x00, 0x0D, 0x35, 0x03, 0x19, 0x11, 0x01, 0x04, 0x00, 0x35, 0x03, 0x09, 0x00, 0x04, 0x00,
            ])
    }

    @Test func theChannelIsFoundInARecord() throws {
        #expect(try channel(Self.lists(channel: 7)) == 7)
    }

    @Test func thePartsOfAnAnswerAreAskedForOneByOne() throws {
        let lists = Self.lists(channel: 3)
        var search = SerialPortSearch()
        _ = search.begin()
        let first = try search.received(Self.response(Array(lists[..<10]), transaction: 1, continuation: [0xAA, 0xBB]))
        guard case .send(let question) = first else {
            Issue.record("the second part was not asked for")
            return
        }
        #expect(question[1...4] == [0x00, 0x02, 0x00, 0x0F])
        #expect(question.suffix(3) == [0x02, 0xAA, 0xBB])
        let rest = Self.response(Array(lists[10...]), transaction: 2)
        #expect(try search.received(rest) == .found(channel: 3))
    }

    @Test func aServiceThatIsNotThereIsReported() {
        // An empty sequence; and a record without protocols.
        for lists: [UInt8] in [[0x35, 0x00], [0x35, 0x07, 0x35, 0x05, 0x09, 0x00, 0x00, 0x08, 0x01]] {
            #expect(throws: ServiceDiscoveryError.noSuchService) { try channel(lists) }
        }
    }

    @Test func channelsThatRFCOMMDoesNotHaveAreNotTaken() {
        for wrong: UInt8 in [0, 31, 255] {
            #expect(throws: ServiceDiscoveryError.noSuchService) { try channel(Self.lists(channel: wrong)) }
        }
    }

    @Test func protocolsMayBeAnAlternativeAndUUIDsLong() throws {
        let rfcomm: [UInt8] = [
            0x1C, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0x80, 0x5F, 0x9B, 0x34, 0xFB,
        ]
        let descriptor = [0x35, UInt8(rfcomm.count + 2)] + rfcomm + [0x08, 0x05]
        let stack = [0x35, UInt8(descriptor.count)] + descriptor
        // In front of it a stack without RFCOMM.
        let alternative = [0x3D, UInt8(stack.count + 7), 0x35, 0x05, 0x35, 0x03, 0x19, 0x01, 0x00] + stack
        let record = [0x35, UInt8(alternative.count + 3), 0x09, 0x00, 0x04] + alternative
        #expect(try channel([0x35, UInt8(record.count)] + record) == 5)
    }

    @Test func aRefusalCarriesItsCode() {
        var search = SerialPortSearch()
        _ = search.begin()
        #expect(throws: ServiceDiscoveryError.refused(code: 3)) {
            try search.received([0x01, 0x00, 0x01, 0x00, 0x02, 0x00, 0x03])
        }
    }

    @Test func anAnswerToSomethingElseIsRefused() {
        var search = SerialPortSearch()
        _ = search.begin()
        let late = Self.response(Self.lists(channel: 1), transaction: 9)
        #expect(throws: ServiceDiscoveryError.wrongTransaction) { try search.received(late) }
    }

    @Test func anAnswerWithoutEndIsGivenUp() {
        var search = SerialPortSearch()
        _ = search.begin()
        #expect(throws: ServiceDiscoveryError.endless) {
            for transaction in UInt16(1)...100 {
                _ = try search.received(Self.response([0], transaction: transaction, continuation: [1]))
            }
        }
    }

    @Test func nestingHasAnEnd() {
        var bytes: [UInt8] = []
        for _ in 0..<100 { bytes = [0x35, UInt8(bytes.count)] + bytes }
        #expect(throws: ServiceDiscoveryError.nestedTooDeeply) { try DataElement(bytes) }
    }

    @Test func everyTypeOfElementIsRead() throws {
        #expect(try DataElement([0x00]) == .null)
        #expect(try DataElement([0x0B, 1, 2, 3, 4, 5, 6, 7, 8]) == .unsignedInteger(0x0102_0304_0506_0708))
        #expect(try DataElement([0x10, 0xFE]) == .signedInteger(-2))
        #expect(try DataElement([0x13, 0xFF, 0, 0, 0, 0, 0, 0, 0]) == .signedInteger(-1 << 56))
        #expect(try DataElement([0x0C] + Array(repeating: 7, count: 16)) == .wideInteger(Array(repeating: 7, count: 16)))
        #expect(try DataElement([0x1A, 0, 0, 0x11, 0x01]) == .uuid(.serialPort))
        #expect(try DataElement([0x25, 2, 0x41, 0x42]) == .text([0x41, 0x42]))
        #expect(try DataElement([0x28, 1]) == .boolean(true))
        #expect(try DataElement([0x46, 0, 1, 0x2F]) == .url([0x2F]))
        #expect(try DataElement([0x37, 0, 0, 0, 1, 0x00]) == .sequence([.null]))
    }

    @Test func randomBytesNeverStopTheProcess() {
        var generator = SplitMix(state: 11)
        let good = Self.response(Self.lists(channel: 1))
        for round in 0..<100_000 {
            var bytes = good
            if round % 2 == 0 {
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
                }
                bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
            } else {
                let random = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                bytes = Self.response(random)
            }
            var search = SerialPortSearch()
            _ = search.begin()
            _ = try? search.received(bytes)
        }
    }
}

/// A small generator with a seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
