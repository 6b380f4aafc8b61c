import AttributeProtocol
import Bluetooth
import BluetoothManagement
import Glibc
import Testing

@testable import KernelBluetooth

/// What becomes of keys. Events: 0x0A New Long Term Key, 0x0F User Confirmation Request, 0x10 User Passkey Request, 0x11
/// Authentication Failed, 0x18 New Identity Resolving Key.
@Suite struct PairingTests {
    private let headset = LowEnergyRoom.headset
    private let eeg = LowEnergyRoom.eeg
    private let key = (0..<16).map { UInt8($0) }

    /// Remembers what it is given to keep.
    private final class Notebook {
        var bonds: [Bond]
        var displaced: [PeripheralIdentifier] = []

        init(_ bonds: [Bond] = []) {
            self.bonds = bonds
        }

        var store: BondStore { store() }

        func store(forgetsLostKeys: Bool = true) -> BondStore {
            BondStore(
                load: { self.bonds },
                save: { change, identity in
                    self.bonds.removeAll { $0.identity == identity }
                    if let bond = change.key { self.bonds.append(bond) }
                    if change == .displaced { self.displaced.append(identity) }
                }, forgetsLostKeys: forgetsLostKeys)
        }
    }

    private func bond(_ identity: PeripheralIdentifier, type: UInt8 = 2) throws -> Bond {
        let value = try #require(SecretKey(key))
        let key = LongTermKey(
            type: type, isForCentral: false, encryptionSize: 16, encryptedDiversifier: 0, randomNumber: 0, value: value)
        return Bond(identity: identity, longTermKeys: [key], identityResolvingKey: value)
    }

    /// Type, role, size, diversifier, random number, value.
    private func longTermKey(type: UInt8 = 2, isForCentral: UInt8 = 0) -> [UInt8] {
        [type, isForCentral, 16] + [UInt8](repeating: 0, count: 10) + key
    }

    /// A link on which a request waits for encryption.
    private func pairing(_ notebook: Notebook, passkeys: [Passkey] = []) -> LowEnergyRoom {
        let room = LowEnergyRoom(bonds: notebook.store, passkeys: passkeys)
        _ = room.link()
        room.central.request(.readValue(of: eeg, on: headset, attempt: room.nextAttempt()))
        room.turn()
        return room
    }

    @Test func keptKeysAreLoadedBeforeAnyConnect() throws {
        let room = LowEnergyRoom(bonds: Notebook([try bond(headset)]).store)
        room.turn()
        room.connect()
        #expect(
            room.commands == [
                .setBondable, .setIOCapability, .setSecureConnections, .loadLongTermKeys, .loadIdentityResolvingKeys,
                .getConnections, .addDevice,
            ])
        #expect(room.parameters[.loadLongTermKeys]?.count == 2 + 36)
        #expect(room.parameters[.loadIdentityResolvingKeys]?.count == 2 + 23)
        #expect(room.parameters[.setIOCapability] == [3])
    }

    @Test func keysOfBluetoothClassicAreLoadedWithTheOthersAndAskedForByTheOtherCentral() throws {
        let classic = PeripheralIdentifier(address: 1, type: .classic)
        let value = try #require(SecretKey(key))
        let linkKeys = LinkKeyStore([LinkKey(peripheral: classic, type: 0, pinLength: 4, value: value)]) { _, _ in }
        let store = BondStore(load: { [] }, save: { _, _ in }, linkKeys: linkKeys)
        let room = LowEnergyRoom(bonds: store)
        room.isDualMode = true
        room.turn()
        #expect(room.parameters[.loadLinkKeys] == [0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0] + key + [4])
        room.sendPairing(0x0F, classic, after: [1, 0, 0, 0, 0])
        room.sendPairing(0x10, classic)
        #expect(!room.commands.contains { [.userConfirmationNegativeReply, .userPasskeyNegativeReply].contains($0) })
    }

    @Test func bluetoothdsKeysAreLeftAloneUntilItIsGone() throws {
        let room = LowEnergyRoom(bonds: Notebook([try bond(headset)]).store)
        room.isBluetoothdRunning = true
        room.turn()
        #expect(room.commands == [.getConnections])
        room.isBluetoothdRunning = false
        for _ in 1...2 {
            room.connect()
            room.central.request(.cancelPeripheralConnection(headset, attempt: room.nextAttempt()))
        }
        #expect(room.commands.filter { $0 == .loadLongTermKeys }.count == 1)
        #expect(room.commands.firstIndex(of: .loadLongTermKeys) ?? .max < room.commands.firstIndex(of: .addDevice) ?? 0)
    }

    @Test func aKeyOfAnAddressThatWillChangeVoidsNotTheOthers() throws {
        let changing = PeripheralIdentifier(address: 0x4055_DAB0_1324, type: .random)
        let room = LowEnergyRoom(bonds: Notebook([try bond(changing), try bond(headset)]).store)
        room.turn()
        #expect(room.parameters[.loadLongTermKeys]?.prefix(2) == [1, 0])
    }

    @Test func withoutAStoreTheAdaptersKeysAreLeftAlone() {
        let room = LowEnergyRoom()
        _ = room.link()
        room.sendPairing(0x0F, after: [1, 0, 0, 0, 0])
        let touched: [ManagementOpcode] = [
            .setBondable, .setIOCapability, .loadLongTermKeys, .loadIdentityResolvingKeys, .userConfirmationReply,
            .userConfirmationNegativeReply,
        ]
        #expect(!room.commands.contains { touched.contains($0) })
    }

    @Test func theKeysOfAPairingAreKeptAlsoWhereOnlyOneOfThemIsHintedAt() throws {
        let notebook = Notebook()
        let room = pairing(notebook)
        // The kernel hints at keeping the first only where the headset used a private address.
        room.sendPairing(0x18, before: [0, 0, 0, 0, 0, 0, 0], after: key)
        #expect(notebook.bonds.isEmpty)
        room.sendPairing(0x0A, before: [1], after: longTermKey())
        #expect(notebook.bonds == [try bond(headset)])
    }

    @Test func keysThatAreNotToBeStoredAreNot() {
        let notebook = Notebook()
        let room = pairing(notebook)
        room.sendPairing(0x0A, before: [0], after: longTermKey())
        #expect(notebook.bonds.isEmpty)
    }

    @Test func anOlderHeadsetsTwoKeysAreKeptAndANewPairingReplacesThem() {
        let notebook = Notebook()
        let room = pairing(notebook)
        for role: UInt8 in [0, 1] { room.sendPairing(0x0A, before: [1], after: longTermKey(type: 0, isForCentral: role)) }
        #expect(notebook.bonds.first?.longTermKeys.map(\.isForCentral) == [false, true])
        room.sendPairing(0x0A, before: [1], after: longTermKey())
        #expect(notebook.bonds.map { $0.longTermKeys.map(\.type) } == [[2]])
    }

    @Test func aLinkToABondedHeadsetIsEncryptedBeforeAnythingIsRefused() throws {
        let room = LowEnergyRoom(bonds: Notebook([try bond(headset)]).store)
        room.turn()
        room.connect()
        #expect(room.wantedSecurity == nil)
        room.sendConnected()
        #expect(room.wantedSecurity == .medium)
        let stranger = LowEnergyRoom(bonds: Notebook([try bond(LowEnergyRoom.other)]).store)
        _ = stranger.link()
        #expect(stranger.wantedSecurity == nil)
    }

    @Test func aSocketThatTakesPacketsAgainShowsThatItsLinkIsEncrypted() throws {
        let room = LowEnergyRoom(bonds: Notebook().store)
        room.securesAtOnce = true
        _ = room.link()
        room.central.request(.readValue(of: eeg, on: headset, attempt: room.nextAttempt()))
        // Not a moment later.
        guard case .didReadValue(eeg, headset, .success, _)? = room.turn().last else {
            Issue.record("\(room.emitted)")
            return
        }
    }

    @Test func aLinkThatIsSecureEnoughAlreadyIsTakenForIt() throws {
        let room = LowEnergyRoom(bonds: Notebook().store)
        room.refusesSecurity = true
        _ = room.link()
        room.central.request(.readValue(of: eeg, on: headset, attempt: room.nextAttempt()))
        room.security = .medium
        room.turn()
        guard case .didReadValue(eeg, headset, .success, _)? = room.emitted.last else {
            Issue.record("\(room.emitted)")
            return
        }
    }

    @Test func bondsAreBoundedAndTheOldestGoesFirst() throws {
        let older = try (0..<BondTable.limit).map {
            try bond(PeripheralIdentifier(address: 0xC000_0000_0000 + UInt64($0), type: .random))
        }
        let notebook = Notebook(older)
        let room = pairing(notebook)
        room.sendPairing(0x0A, before: [1], after: longTermKey())
        #expect(notebook.bonds.count == BondTable.limit)
        #expect(notebook.bonds.last?.identity == headset)
        #expect(!notebook.bonds.contains(older[0]))
        #expect(notebook.displaced == [older[0].identity], "it has not lost its keys")
    }

    @Test func questionsAreAnsweredForHeadsetsThatAreBeingPairedAndForNobodyElse() {
        let room = pairing(Notebook(), passkeys: [Passkey(value: 123_456, identifiers: [headset])])
        #expect(room.parameters[.setIOCapability] == [2])
        room.sendPairing(0x0F, after: [1, 0, 0, 0, 0])
        #expect(room.commands.last == .userConfirmationReply)
        room.sendPairing(0x10)
        #expect(room.parameters[.userPasskeyReply]?.suffix(4) == [0x40, 0xE2, 0x01, 0])
        room.sendPairing(0x0F, LowEnergyRoom.other, after: [1, 0, 0, 0, 0])
        #expect(room.commands.last == .userConfirmationNegativeReply)
        room.sendPairing(0x10, LowEnergyRoom.other)
        #expect(room.commands.last == .userPasskeyNegativeReply)
    }

    @Test func aPairingThatFailsFailsTheRequestAtOnce() {
        let room = pairing(Notebook())
        #expect(room.emitted.contains(.didBeginPairing(headset)), "who waits for it has to wait for longer")
        room.sendPairing(0x11, after: [5])
        guard case .didReadValue(eeg, headset, .failure(.att(.insufficientEncryption)), _)? = room.emitted.last else {
            Issue.record("\(room.emitted)")
            return
        }
    }

    @Test func keysThatAHeadsetHasLostAreForgottenAndTheReasonIsReported() throws {
        let notebook = Notebook([try bond(headset)])
        let room = pairing(notebook)
        // Authentication failure: PIN or Key Missing.
        room.sendDisconnected(reason: 4)
        #expect(notebook.bonds.isEmpty)
        #expect(room.commands.contains(.unpairDevice))
        guard case .didDisconnect(headset, KernelKeys.lostKeys, _)? = room.emitted.last else {
            Issue.record("\(room.emitted)")
            return
        }
    }

    @Test func keysAreKeptWhereNobodyMayBePairedAnew() throws {
        let notebook = Notebook([try bond(headset)])
        let room = LowEnergyRoom(bonds: notebook.store(forgetsLostKeys: false))
        _ = room.link()
        room.sendDisconnected(reason: 4)
        #expect(notebook.bonds.count == 1 && !room.commands.contains(.unpairDevice))
    }

    @Test func keysThatDoNotFitAreForgottenTheSecondTime() throws {
        let notebook = Notebook([try bond(headset)])
        let room = LowEnergyRoom(bonds: notebook.store)
        for time in 1...2 {
            #expect(notebook.bonds.count == 1)
            room.security = .low
            let channel = try #require(room.link().channel)
            // The socket has ended, and the kernel calls it secure, as it does with those.
            shutdown(channel.socket, Int32(SHUT_RDWR))
            room.security = .medium
            room.sendDisconnected(reason: 0)
            #expect(notebook.bonds.count == 2 - time)
        }
    }

    @Test(arguments: [UInt8(1), 2, 3]) func aLinkThatEndsForAnotherReasonCostsNoKeys(reason: UInt8) throws {
        let notebook = Notebook([try bond(headset)])
        let room = pairing(notebook)
        room.sendDisconnected(reason: reason)
        #expect(notebook.bonds.count == 1)
        // Nor does one that ends for no stated reason once it is encrypted.
        let quiet = LowEnergyRoom(bonds: notebook.store)
        quiet.security = .medium
        for _ in 1...3 {
            _ = quiet.link()
            quiet.sendDisconnected(reason: 0)
        }
        #expect(notebook.bonds.count == 1)
    }
}
