import Bluetooth
import Glibc
import Testing

@testable import KernelBluetooth

/// Headsets of Bluetooth Classic that want to be paired. Events: 0x09 New Link Key, 0x0E PIN Code Request, 0x0F User
/// Confirmation Request, 0x10 User Passkey Request, 0x11 Authentication Failed; commands: 0x16 and 0x17 PIN Code Reply and its
/// negative, 0x1B Unpair Device, 0x1C and 0x1D User Confirmation Reply and its negative.
@Suite struct ClassicPairingTests {
    private let headset = ClassicRoom.headset
    private let other = PeripheralIdentifier(address: 0x2068_9D00_0002, type: .classic)
    private let key = (0..<16).map { UInt8($0) }
    private static let address: [UInt8] = [0x01, 0x00, 0x00, 0x9D, 0x68, 0x20, 0x00]
    private static let zeros: [UInt8] = [4, 0x30, 0x30, 0x30, 0x30] + [UInt8](repeating: 0, count: 12)

    /// Remembers what it is given to keep.
    private final class Notebook {
        var changes: [KeyChange<LinkKey>] = []

        func store(_ keys: [LinkKey] = [], forgetsLostKeys: Bool = true) -> LinkKeyStore {
            LinkKeyStore(keys, forgetsLostKeys: forgetsLostKeys) { self.changes.append($1) }
        }
    }

    private func linkKey(_ peripheral: PeripheralIdentifier = ClassicRoom.headset, type: UInt8 = 0) throws -> LinkKey {
        LinkKey(peripheral: peripheral, type: type, pinLength: 4, value: try #require(SecretKey(key)))
    }

    /// A room in which the headset is being paged.
    private func paging(_ keys: LinkKeyStore?, passkeys: [Passkey] = []) -> ClassicRoom {
        let room = ClassicRoom(linkKeys: keys, passkeys: passkeys)
        room.turn()
        room.connect()
        _ = room.commands()
        return room
    }

    @Test func aPINIsGivenToAHeadsetThatIsBeingConnectedToAndToNobodyElse() {
        let room = paging(Notebook().store())
        room.sendPairing(0x0E, after: [0])
        #expect(room.commands() == [[0x16] + Self.address + Self.zeros])
        #expect(room.emitted.last == .didBeginPairing(headset), "who waits for it has to wait for longer")
        room.sendPairing(0x0E, other, after: [0])
        #expect(!room.emitted.contains(.didBeginPairing(other)))
        #expect(room.commands().map(\.first) == [0x17])
        // Sixteen digits.
        room.sendPairing(0x0E, after: [1])
        #expect(room.commands().map(\.first) == [0x17])
        room.central.request(.cancelPeripheralConnection(headset, attempt: room.nextAttempt()))
        room.turn()
        _ = room.commands()
        room.sendPairing(0x0E, after: [0])
        #expect(room.commands().map(\.first) == [0x17])
    }

    @Test func aHeadsetThatWaitsForItsTurnIsGivenNoPIN() {
        let room = paging(Notebook().store())
        room.fail(EHOSTDOWN)
        room.sendPairing(0x0E, after: [0])
        #expect(room.commands().map(\.first) == [0x17])
    }

    @Test func thePINIsThePasskeyOfTheConfiguration() {
        let room = paging(Notebook().store(), passkeys: [Passkey(value: 42, identifiers: [headset])])
        room.sendPairing(0x0E, after: [0])
        #expect(room.commands().first?.dropFirst(8).prefix(5) == [4, 0x30, 0x30, 0x34, 0x32])
    }

    @Test func otherQuestionsAreAnsweredForTheSameHeadsetsOnly() {
        let room = paging(Notebook().store(), passkeys: [Passkey(value: 1, identifiers: [headset])])
        let stranger = PeripheralIdentifier(address: headset.address, type: .public)
        for (peripheral, answers) in [(headset, [0x1C, 0x1E]), (other, [0x1D, 0x1F]), (stranger, [])]
            as [(PeripheralIdentifier, [UInt8])]
        {
            room.sendPairing(0x0F, peripheral, after: [1, 0, 0, 0, 0])
            room.sendPairing(0x10, peripheral)
            #expect(room.commands().map(\.first) == answers)
        }
    }

    @Test func bluetoothdPairsWhereItRuns() {
        let without = paging(nil)
        without.sendPairing(0x0E, after: [0])
        #expect(without.commands().isEmpty)
        let notebook = Notebook()
        let beside = paging(notebook.store())
        beside.isBluetoothdRunning = true
        beside.sendPairing(0x0E, after: [0])
        beside.sendPairing(0x09, before: [1], after: [0] + key + [4])
        #expect(beside.commands().isEmpty && notebook.changes.isEmpty)
    }

    @Test(arguments: [UInt8(0), 1]) func aNewKeyIsKeptWhereBothEndsKeepIt(hint: UInt8) throws {
        let notebook = Notebook()
        let room = paging(notebook.store())
        room.sendPairing(0x09, before: [hint], after: [0] + key + [4])
        #expect(notebook.changes == (hint == 1 ? [.paired(try linkKey())] : []))
    }

    @Test func aHeadsetThatAsksForItsPINAgainHasLostItsKey() throws {
        let notebook = Notebook()
        let room = paging(notebook.store([try linkKey()]))
        room.sendPairing(0x0E, after: [0])
        #expect(notebook.changes == [.lost])
        room.sendPairing(0x09, before: [1], after: [0] + key + [4])
        #expect(notebook.changes == [.lost, .paired(try linkKey())])
    }

    @Test func aKeyThatTheHeadsetDoesNotAcceptIsForgottenOnceForEachAttempt() throws {
        let notebook = Notebook()
        let room = paging(notebook.store([try linkKey()]))
        room.fail(EACCES)
        #expect(notebook.changes == [.lost])
        #expect(room.commands() == [[0x1B] + Self.address + [1]])
        #expect(room.emitted.count == 1, "the attempt goes on")
        room.turn(after: .milliseconds(100))
        #expect(room.openings.count == 2)
        // Another is made, and not accepted either.
        room.sendPairing(0x09, before: [1], after: [0] + key + [4])
        room.fail(EACCES)
        #expect(room.openings.count == 2)
        expectRefusal(room)
    }

    private func expectRefusal(_ room: ClassicRoom, _ location: SourceLocation = #_sourceLocation) {
        guard case .didFailToConnect(headset, error: .pairingRefused, _) = room.emitted.last else {
            Issue.record("emitted was \(String(describing: room.emitted.last))", sourceLocation: location)
            return
        }
    }

    @Test(arguments: [EACCES, EBADE, ELOOP]) func aPINThatTheHeadsetDoesNotAcceptIsAPersonsTurn(code: Int32) {
        let room = paging(Notebook().store())
        room.sendPairing(0x0E, after: [0])
        room.fail(code)
        expectRefusal(room)
        #expect(room.openings.count == 1)
    }

    @Test(arguments: [ECONNREFUSED, ECONNRESET]) func aHeadsetThatClosesTheConnectionOverItsPINHasRefusedIt(code: Int32) {
        let room = paging(Notebook().store())
        room.sendPairing(0x0E, after: [0])
        room.fail(code)
        expectRefusal(room)
        // One that goes away meanwhile has not.
        let away = paging(Notebook().store())
        away.sendPairing(0x0E, after: [0])
        away.fail(ETIMEDOUT)
        #expect(!away.emitted.contains { if case .didFailToConnect(_, .pairingRefused, _) = $0 { true } else { false } })
        // Nor has one that has made its key.
        let paired = paging(Notebook().store())
        paired.sendPairing(0x0E, after: [0])
        paired.sendPairing(0x09, before: [1], after: [0] + key + [4])
        paired.fail(code)
        #expect(!paired.emitted.contains { if case .didFailToConnect(_, .pairingRefused, _) = $0 { true } else { false } })
    }

    @Test func aPairingThatTheKernelCallsFailedIsNotTakenForAHeadsetThatIsAway() {
        let room = paging(Notebook().store())
        room.sendPairing(0x11, after: [5])
        room.fail(ECONNREFUSED)
        expectRefusal(room)
        // Nor where the headset says nothing more.
        let silent = paging(Notebook().store())
        silent.answerPage()
        silent.sendPairing(0x11, after: [5])
        silent.turn(after: .seconds(3))
        expectRefusal(silent)
    }

    @Test func whoWaitsForAHeadsetThatHasRefusedMayGoOnOnceItIsConnectedForAnother() {
        let room = paging(Notebook().store())
        room.fail(EACCES)
        expectRefusal(room)
        room.turn(after: .seconds(1))
        let attempt = room.link().attempt
        #expect(room.emitted.suffix(2) == [.didUnblock(headset), .didConnect(headset, attempt: attempt)])
        #expect(room.turn(after: .seconds(60)).isEmpty, "once")
    }

    @Test func aPairingMayTakeLongerThanAPage() {
        let room = paging(Notebook().store())
        room.turn(after: .seconds(7))
        room.sendPairing(0x0E, after: [0])
        #expect(room.central.deadline == room.now + .seconds(30))
        room.turn(after: .seconds(29))
        #expect(room.openings[0].hear().map { !$0.isEmpty } == true, "the page goes on")
        room.sendPairing(0x09, before: [1], after: [0] + key + [4])
        #expect(room.central.deadline == room.now + .seconds(5))
        room.answerPage()
        room.answerSearch(channel: 1)
        room.answerPort()
        guard case .didConnect(headset, _) = room.emitted.last else {
            Issue.record("emitted was \(String(describing: room.emitted.last))")
            return
        }
    }

    @Test func aLinkThatEndsBecauseOfItsKeyHasLostIt() throws {
        let notebook = Notebook()
        let room = ClassicRoom(linkKeys: notebook.store([try linkKey()]))
        let attempt = room.link().attempt
        room.central.ended(headset, SocketError(code: EACCES))
        #expect(room.turn() == [.didDisconnect(headset, error: KernelKeys.lostKeys, attempt: attempt)])
        #expect(notebook.changes == [.lost])
        let unpaired = ClassicRoom(linkKeys: notebook.store())
        let second = unpaired.link().attempt
        unpaired.central.ended(headset, SocketError(code: EACCES))
        #expect(unpaired.turn() == [.didDisconnect(headset, error: .linkLost, attempt: second)])
    }

    @Test func aKeyIsKeptWhereNobodyMayBePairedAnew() throws {
        let notebook = Notebook()
        let room = paging(notebook.store([try linkKey()], forgetsLostKeys: false))
        room.sendPairing(0x0E, after: [0])
        // PIN Code Negative Reply.
        #expect(room.commands().map(\.first) == [0x17] && notebook.changes.isEmpty)
    }

    @Test func keysThatWouldVoidTheOthersAreNotKeptAndTheOldestGoesFirst() throws {
        let notebook = Notebook()
        let store = notebook.store([
            try linkKey(type: 9), try linkKey(PeripheralIdentifier(address: 1, type: .random)), try linkKey(other),
        ])
        #expect(store.keys == [try linkKey(other)])
        store.keep(try linkKey(type: 9))
        #expect(notebook.changes.isEmpty)
        for number in 0..<LinkKeyStore.limit {
            store.keep(try linkKey(PeripheralIdentifier(address: UInt64(number), type: .classic)))
        }
        #expect(store.keys.count == LinkKeyStore.limit && !store.knows(other))
        #expect(notebook.changes.last == .displaced)
    }
}
