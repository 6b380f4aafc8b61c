import Bluetooth
import Testing

@testable import AttributeProtocol

/// A server that says more than any has.
@Suite("A map of a senseless server") struct HandleMapBoundTests {
    private static func handle(_ number: Int) -> AttributeHandle { AttributeHandle(rawValue: UInt16(number)) }

    private static func bytes(_ number: Int) -> [UInt8] { [UInt8(number & 0xFF), UInt8(number >> 8)] }

    @Test("has no more entries than there are declarations, however services overlap")
    func overlapping() {
        var draft = HandleMapDraft()
        #expect(draft.addServices([AttributeGroup(.all, [0x8D, 0xFE])], from: .first) != nil)
        for number in 2...2049 {
            // Each of them reaches to the last handle.
            let include = AttributeValue(Self.handle(number), Self.bytes(number + 10_000) + [0xFF, 0xFF] + [0x0F, 0x18])
            #expect(draft.addIncludes([include], from: Self.handle(number)) != nil)
        }
        for number in 0..<2048 {
            let handle = 20_000 + 2 * number
            let value = [0x10] + Self.bytes(handle + 1) + [0x37, 0x2A]
            #expect(draft.addCharacteristics([AttributeValue(Self.handle(handle), value)], from: Self.handle(handle)) != nil)
        }
        let map = draft.map
        #expect(map.services.count == 2049)
        #expect(map.services.reduce(0) { $0 + $1.characteristics.count } == 2048)
        #expect(map.database.characteristics.count == 2048)
        #expect(draft.count == 2049 + 2048 + 2048, "what is included counts, too")
    }

    @Test("gives each characteristic to the innermost service")
    func innermost() {
        var draft = HandleMapDraft()
        _ = draft.addServices([AttributeGroup(.all, [0x8D, 0xFE])], from: .first)
        _ = draft.addIncludes([AttributeValue(Self.handle(2), [0x20, 0, 0x2F, 0, 0x0F, 0x18])], from: .first)
        for handle in [0x10, 0x21, 0x40] {
            let value = [0x10] + Self.bytes(handle + 1) + [0x37, 0x2A]
            _ = draft.addCharacteristics([AttributeValue(Self.handle(handle), value)], from: Self.handle(handle))
        }
        #expect(draft.map.services.map { $0.characteristics.map(\.declaration.rawValue) } == [[0x10, 0x40], [0x21]])
    }

    @Test("counts descriptors, so that a discovery of them ends")
    func descriptors() {
        var draft = HandleMapDraft()
        _ = draft.addServices([AttributeGroup(.all, [0x8D, 0xFE])], from: .first)
        _ = draft.addCharacteristics([AttributeValue(Self.handle(2), [0x10, 3, 0, 0x37, 0x2A])], from: .first)
        let entries = (4..<5000).map { AttributeInformation(Self.handle($0), .clientCharacteristicConfiguration) }
        _ = draft.addDescriptors(entries, in: HandleRange(Self.handle(4), .last))
        #expect(draft.count == 4998)
    }
}
