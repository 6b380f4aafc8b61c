import Bluetooth
import BluetoothManagement
import Testing

/// Keys on their way into the kernel and out of it. What stands in one direction stands in the other.
@Suite struct ManagementKeyTests {
    private let hci0 = ControllerIndex(rawValue: 0)
    private let headset = PeripheralIdentifier(address: 0xF0F1_F2F3_F4F5, type: .random)

    private func bond() throws -> Bond {
        let value = try #require(SecretKey(PacketBytes.key))
        let key = LongTermKey(
            type: 1, isForCentral: true, encryptionSize: 16, encryptedDiversifier: 0x1234,
            randomNumber: 0x8877_6655_4433_2211, value: value)
        return Bond(identity: headset, longTermKeys: [key], identityResolvingKey: value)
    }

    /// The same key as it is sent and told: type, role, size, diversifier, random number, value.
    private let longTermKey: [UInt8] =
        PacketBytes.headset + [1, 1, 16, 0x34, 0x12, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88] + PacketBytes.key

    @Test func keysAreLoadedByteForByte() throws {
        let bond = try bond()
        #expect(
            ManagementCommand.loadLongTermKeys([bond, bond], hci0).encoded
                == [0x13, 0, 0, 0, 74, 0, 2, 0] + longTermKey + longTermKey)
        #expect(
            ManagementCommand.loadIdentityResolvingKeys([bond], hci0).encoded
                == [0x30, 0, 0, 0, 25, 0, 1, 0] + PacketBytes.headset + PacketBytes.key)
        // A list without keys is sent, too: it is what forgets those of others.
        #expect(ManagementCommand.loadLongTermKeys([Bond(identity: headset)], hci0).encoded == [0x13, 0, 0, 0, 2, 0, 0, 0])
        #expect(
            ManagementCommand.loadIdentityResolvingKeys([Bond(identity: headset)], hci0).encoded
                == [0x30, 0, 0, 0, 2, 0, 0, 0])
    }

    /// `20:68:9D:00:00:01`, BR/EDR, as it is sent and told.
    private let classicAddress: [UInt8] = [0x01, 0x00, 0x00, 0x9D, 0x68, 0x20, 0x00]
    private let classic = PeripheralIdentifier(address: 0x2068_9D00_0001, type: .classic)

    @Test func linkKeysAreLoadedByteForByteAndReadAsTheyAreLoaded() throws {
        let key = LinkKey(peripheral: classic, type: 0, pinLength: 4, value: try #require(SecretKey(PacketBytes.key)))
        // Type (a combination key), value, length of the PIN.
        let bytes = classicAddress + [0] + PacketBytes.key + [4]
        #expect(
            ManagementCommand.loadLinkKeys([key, key], hci0).encoded == [0x12, 0, 0, 0, 53, 0, 0, 2, 0] + bytes + bytes)
        #expect(ManagementCommand.loadLinkKeys([], hci0).encoded == [0x12, 0, 0, 0, 3, 0, 0, 0, 0])
        for hint: UInt8 in [0, 1] {
            #expect(
                try ManagementEvent(packet: PacketBytes.event(0x0009, [hint] + bytes))
                    == .newLinkKey(key, isToBeStored: hint == 1, hci0))
        }
        #expect(throws: ManagementPacketError.truncated) {
            try ManagementEvent(packet: PacketBytes.event(0x0009, [1] + bytes.dropLast()))
        }
        let packet = ManagementCommand.loadLinkKeys(
            Array(repeating: key, count: ManagementCommand.maximumLinkKeys + 1), hci0
        ).encoded
        #expect(packet.count == 6 + 3 + 25 * ManagementCommand.maximumLinkKeys)
        #expect(packet.count - 6 <= Int(UInt16.max) && packet.count - 6 + 25 > Int(UInt16.max))
    }

    @Test func aPINIsAskedForAndGivenOrRefused() throws {
        for isLong: UInt8 in [0, 1] {
            #expect(
                try ManagementEvent(packet: PacketBytes.event(0x000E, classicAddress + [isLong]))
                    == .pinCodeRequest(classic, isLong: isLong == 1, hci0))
        }
        // "0000", and twelve bytes that do not count.
        let zeros = [UInt8](repeating: 0x30, count: 4) + [UInt8](repeating: 0, count: 12)
        #expect(
            ManagementCommand.replyToPINCode("0000", classic, hci0).encoded
                == [0x16, 0, 0, 0, 24, 0] + classicAddress + [4] + zeros)
        #expect(ManagementCommand.replyToPINCode(nil, classic, hci0).encoded == [0x17, 0, 0, 0, 7, 0] + classicAddress)
        let long = ManagementCommand.replyToPINCode(String(repeating: "7", count: 20), classic, hci0).encoded
        #expect(long.count == 6 + 7 + 17 && long[13] == 16)
    }

    @Test func noMoreKeysAreLoadedThanFitInAPacket() throws {
        let bonds = Array(repeating: try bond(), count: ManagementCommand.maximumLongTermKeys + 1)
        let packet = ManagementCommand.loadLongTermKeys(bonds, hci0).encoded
        #expect(packet.count == 6 + 2 + 36 * ManagementCommand.maximumLongTermKeys)
        #expect(packet.count - 6 <= Int(UInt16.max) && packet.count - 6 + 36 > Int(UInt16.max))
    }

    @Test func newKeysAreRead() throws {
        let bond = try bond()
        #expect(
            try ManagementEvent(packet: PacketBytes.event(0x000A, [1] + longTermKey))
                == .newLongTermKey(headset, bond.longTermKeys[0], isToBeStored: true, hci0))
        let key = try #require(bond.identityResolvingKey)
        let tail = PacketBytes.headset + PacketBytes.key
        #expect(
            try ManagementEvent(packet: PacketBytes.event(0x0018, [0, 0, 0, 0, 0, 0, 0] + tail))
                == .newIdentityResolvingKey(headset, key, resolved: nil, isToBeStored: false, hci0))
        #expect(
            try ManagementEvent(packet: PacketBytes.event(0x0018, [1, 6, 5, 4, 3, 2, 0x41] + tail))
                == .newIdentityResolvingKey(
                    headset, key, resolved: PeripheralIdentifier("41:02:03:04:05:06/random"), isToBeStored: true, hci0))
        #expect(throws: ManagementPacketError.truncated) {
            try ManagementEvent(packet: PacketBytes.event(0x000A, [1] + longTermKey.dropLast()))
        }
    }

    @Test func questionsDuringAPairingAreReadAndAnswered() throws {
        #expect(
            try ManagementEvent(packet: PacketBytes.event(0x000F, PacketBytes.headset + [1, 0, 0, 0, 0]))
                == .userConfirmationRequest(headset, hci0))
        #expect(
            try ManagementEvent(packet: PacketBytes.event(0x0010, PacketBytes.headset)) == .userPasskeyRequest(headset, hci0))
        #expect(
            try ManagementEvent(packet: PacketBytes.event(0x0011, PacketBytes.headset + [5]))
                == .authenticationFailed(headset, ManagementStatus(rawValue: 5), hci0))
        func header(_ code: UInt8, _ length: UInt8) -> [UInt8] { [code, 0, 0, 0, length, 0] + PacketBytes.headset }
        #expect(ManagementCommand.replyToUserConfirmation(true, headset, hci0).encoded == header(0x1C, 7))
        #expect(ManagementCommand.replyToUserConfirmation(false, headset, hci0).encoded == header(0x1D, 7))
        #expect(
            ManagementCommand.replyToUserPasskey(123_456, headset, hci0).encoded == header(0x1E, 11) + [0x40, 0xE2, 0x01, 0])
        #expect(ManagementCommand.replyToUserPasskey(nil, headset, hci0).encoded == header(0x1F, 7))
        #expect(ManagementCommand.unpairDevice(headset, hci0).encoded == header(0x1B, 8) + [1])
    }

    @Test func whatAPairingNeedsIsSwitchedOn() {
        #expect(ManagementCommand.setBondable(true, hci0).encoded == [0x09, 0, 0, 0, 1, 0, 1])
        #expect(ManagementCommand.setSecureSimplePairing(true, hci0).encoded == [0x0B, 0, 0, 0, 1, 0, 1])
        #expect(ManagementCommand.setSecureConnections(true, hci0).encoded == [0x2D, 0, 0, 0, 1, 0, 1])
        #expect(ManagementCommand.setIOCapability(.keyboardOnly, hci0).encoded == [0x18, 0, 0, 0, 1, 0, 2])
    }
}
