import Bluetooth
import Foundation
import GRDB
import Testing

@testable import Storage

@Suite("Bonds")
struct BondStorageTests {
    let directory: TemporaryDirectory
    let store: AcquisitionStore
    let headset = PeripheralIdentifier(address: 0xC055_DAB0_1324, type: .random)
    let other = PeripheralIdentifier(address: 0x0055_DAB0_1325, type: .public)
    /// Bytes that occur in no database by chance.
    let secret = (0..<16).map { UInt8(truncatingIfNeeded: 0xA7 &* ($0 + 3)) }

    init() throws {
        directory = try TemporaryDirectory()
        store = try AcquisitionStore(path: directory.path("e.sqlite"), hostBoot: Fixture.boot)
    }

    func bond(_ identity: PeripheralIdentifier, types: [UInt8], resolving: Bool = true) throws -> Bond {
        let value = try #require(SecretKey(secret))
        let keys = types.enumerated().map { place, type in
            LongTermKey(
                type: type, isForCentral: place == 1, encryptionSize: 16, encryptedDiversifier: 0xFFFF,
                randomNumber: .max - UInt64(place), value: value)
        }
        return Bond(identity: identity, longTermKeys: keys, identityResolvingKey: resolving ? value : nil)
    }

    @Test("are found by the next process, the latest with each headset")
    func kept() throws {
        #expect(try store.bonds().isEmpty)
        let older = try bond(other, types: [0, 0], resolving: false)
        try store.setBond(try bond(headset, types: [1, 1]), with: headset)
        try store.setBond(older, with: other)
        let newer = try bond(headset, types: [2])
        try store.setBond(newer, with: headset)
        try store.close()
        let next = try AcquisitionStore(path: directory.path("e.sqlite"), hostBoot: Fixture.secondBoot)
        #expect(Set(try next.bonds()) == [newer, older])
        try next.setBond(nil, with: headset)
        #expect(try next.bonds() == [older])
    }

    func linkKey(_ address: UInt64, type: UInt8 = 0) throws -> LinkKey {
        LinkKey(
            peripheral: PeripheralIdentifier(address: address, type: .classic), type: type, pinLength: 4,
            value: try #require(SecretKey(secret)))
    }

    @Test("of Bluetooth Classic are found by the next process, the latest of each headset")
    func linkKeysKept() throws {
        #expect(try store.linkKeys().isEmpty)
        let (first, second) = (try linkKey(0x2068_9D00_0001), try linkKey(0x2068_9D00_0002))
        let newer = try linkKey(0x2068_9D00_0001, type: 6)
        for key in [first, second, newer] { try store.setLinkKey(key, of: key.peripheral) }
        try store.close()
        let next = try AcquisitionStore(path: directory.path("e.sqlite"), hostBoot: Fixture.secondBoot)
        #expect(Set(try next.linkKeys()) == [newer, second])
        try next.setLinkKey(nil, of: newer.peripheral)
        #expect(try next.linkKeys() == [second])
        try next.database.write { db in try db.execute(sql: "UPDATE link_key SET address = '20:68'") }
        #expect(try next.linkKeys().isEmpty)
    }

    @Test("are no part of an export, of none of its bytes")
    func exported() throws {
        let recording = try Fixture.record(into: store)
        try store.setBond(try bond(headset, types: [2]), with: headset)
        let key = try linkKey(0x2068_9D00_0001)
        try store.setLinkKey(key, of: key.peripheral)
        try store.reader(of: recording).copy(to: directory.path("copy.sqlite"))
        let copy = try AcquisitionStore(path: directory.path("copy.sqlite"), hostBoot: Fixture.boot)
        #expect(try copy.bonds().isEmpty && copy.linkKeys().isEmpty)
        try store.close()
        func holdsSecret(_ name: String) throws -> Bool {
            try Data(contentsOf: URL(fileURLWithPath: directory.path(name))).range(of: Data(secret)) != nil
        }
        #expect(try !holdsSecret("copy.sqlite"))
        // The search bites.
        #expect(try holdsSecret("e.sqlite"))
    }

    @Test("under an address that no headset has are passed over")
    func damaged() throws {
        try store.setBond(try bond(headset, types: [2]), with: headset)
        try store.database.write { db in
            for table in ["long_term_key", "identity_resolving_key"] {
                try db.execute(sql: "UPDATE \(table) SET address = 'C0:55'")
            }
        }
        #expect(try store.bonds().isEmpty)
    }
}
