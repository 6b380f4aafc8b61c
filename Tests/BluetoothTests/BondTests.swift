import Bluetooth
import Testing

@Suite struct BondTests {
    @Test func aKeyShowsInNoDescription() throws {
        let key = try #require(SecretKey([UInt8](repeating: 0xAB, count: 16)))
        let bond = Bond(
            identity: PeripheralIdentifier(address: 1, type: .public),
            longTermKeys: [
                LongTermKey(
                    type: 2, isForCentral: false, encryptionSize: 16, encryptedDiversifier: 0, randomNumber: 0, value: key)
            ], identityResolvingKey: key)
        var dumped = ""
        dump(bond, to: &dumped)
        for text in ["\(bond)", String(reflecting: bond), dumped, "\(key)", String(reflecting: key)] {
            #expect(!text.contains("171") && !text.lowercased().contains("ab, ") && !text.contains("bytes"))
        }
        // The comparison bites.
        #expect("\(key.bytes)".contains("171"))
    }

    @Test func aKeyHasSixteenBytes() {
        for count in [0, 15, 17] { #expect(SecretKey([UInt8](repeating: 1, count: count)) == nil) }
    }

    @Test func thePasskeyOfAHeadsetIsThatOfItsAddressElseTheOnlyOneWithoutAddresses() {
        let left = PeripheralIdentifier(address: 1, type: .public)
        let right = PeripheralIdentifier(address: 2, type: .public)
        let named = Passkey(value: 1, identifiers: [left])
        let general = Passkey(value: 2, identifiers: [])
        #expect([named, general].value(for: left) == 1)
        #expect([named, general].value(for: right) == 2)
        #expect([named].value(for: right) == nil)
        #expect([general, Passkey(value: 3, identifiers: [])].value(for: right) == nil)
    }
    @Test func thePINOfAHeadsetIsItsPasskeyWithFourDigitsAtLeastElseTheUsualOne() {
        let left = PeripheralIdentifier(address: 1, type: .classic)
        let right = PeripheralIdentifier(address: 2, type: .classic)
        for (value, pin) in [(0, "0000"), (42, "0042"), (1234, "1234"), (123_456, "123456")] as [(UInt32, String)] {
            let passkeys = [Passkey(value: value, identifiers: [left])]
            #expect(passkeys.pin(for: left) == pin)
            #expect(passkeys.pin(for: right) == "0000")
        }
    }

    @Test func aLinkKeyShowsInNoDescription() throws {
        let value = try #require(SecretKey([UInt8](repeating: 0xAB, count: 16)))
        let key = LinkKey(
            peripheral: PeripheralIdentifier(address: 1, type: .classic), type: 0, pinLength: 4, value: value)
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] { #expect(!text.contains("171")) }
    }
}
