import Bluetooth
import Foundation
import Glibc
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
        // As bytes, and as text in Base64.
        func holdsSecret(_ name: String) throws -> Bool {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: directory.path(name)))
            return [Data(secret), Data(Data(secret).base64EncodedString().utf8)].contains { bytes.range(of: $0) != nil }
        }
        #expect(try !holdsSecret("copy.sqlite"))
        #expect(try !holdsSecret("e.sqlite"))
        // The search bites.
        #expect(try holdsSecret("e.sqlite-keys"))
    }

    @Test("under an address that no headset has are passed over")
    func damaged() throws {
        try store.setBond(try bond(headset, types: [2]), with: headset)
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
        let wrong = text.replacing(headset.addressDescription, with: "C0:55")
        #expect(wrong != text)
        let keys = try #require(PairingKeys(Data(wrong.utf8)))
        #expect(keys.bonds.isEmpty)
    }

    private var file: String { directory.path("e.sqlite-keys") }
    private func newBond() throws -> Bond { try bond(headset, types: [2]) }

    @Test("stand in a file of their owner's, which is closed again where somebody has opened it")
    func mode() throws {
        try store.setBond(try newBond(), with: headset)
        func mode() throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        }
        #expect(try mode() == 0o600)
        chmod(file, 0o644)
        #expect(try PairingKeyFile(database: directory.path("e.sqlite")).keys().bonds == [try newBond()])
        #expect(try mode() == 0o600)
    }

    @Test("in half a file are none, and the file is kept for a person")
    func cut() throws {
        try store.setBond(try newBond(), with: headset)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: file))
        #expect(try PairingKeyFile(database: directory.path("e.sqlite")).keys().bonds.isEmpty)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file + "-damaged")) == bytes.prefix(bytes.count / 2))
    }

    @Test("of a newer version are neither read nor overwritten")
    func newerVersion() throws {
        try Data(#"{"format": "eegsync pairing keys", "version": 2, "secrets": []}"#.utf8)
            .write(to: URL(fileURLWithPath: file))
        let keys = PairingKeyFile(database: directory.path("e.sqlite"))
        #expect(throws: StorageError.cannotOpen(path: file, reason: "a newer version of eegsync has written it")) {
            try keys.change { $0.bonds = [] }
        }
        try store.close()
        #expect(throws: StorageError.self) {
            let next = try AcquisitionStore(path: directory.path("e.sqlite"), hostBoot: Fixture.secondBoot)
            defer { try? next.close() }
            try next.setBond(try newBond(), with: headset)
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("secrets"))
    }

    @Test("are not read, nor written, through a link, neither is the file that they are first written into")
    func links() throws {
        let victim = directory.path("victim")
        try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
        try FileManager.default.createSymbolicLink(atPath: file + ".new", withDestinationPath: victim)
        try store.setBond(try newBond(), with: headset)
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: victim)
        #expect(throws: StorageError.self) { try PairingKeyFile(database: directory.path("e.sqlite")).keys() }
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
    }
}
