import Bluetooth
import BluetoothManagement
import Testing

@testable import KernelBluetooth

/// Headsets under a private address, for which *Add Device* is refused.
@Suite struct PrivateAddressTests {
    private let headset = PeripheralIdentifier(address: 0x7ADC_1BCF_20DC, type: .random)

    /// A room in which the headset has just been found by a scan that has ended.
    private func roomWithHeadset() -> LowEnergyRoom {
        let room = LowEnergyRoom()
        find(in: room)
        return room
    }

    private func find(in room: LowEnergyRoom) {
        room.turn()
        room.central.request(.scanForPeripherals(matching: ScanFilter(serviceUUIDs: [LowEnergyRoom.service])))
        room.turn()
        room.sendFound(headset, service: 0xFE8D)
        room.central.request(.stopScan)
        room.turn()
    }

    @Test func areTheRandomOnesThatAreNotStatic() {
        for (address, type, isPrivate) in [
            (0x7ADC_1BCF_20DC, PeripheralIdentifier.AddressType.random, true), (0x3ADC_1BCF_20DC, .random, true),
            (0xC055_DAB0_1324, .random, false), (0x7ADC_1BCF_20DC, .public, false),
        ] as [(UInt64, PeripheralIdentifier.AddressType, Bool)] {
            #expect(PeripheralIdentifier(address: address, type: type).isPrivate == isPrivate)
        }
    }

    @Test func goByTheIdentityOnceAPairingHasRevealedIt() throws {
        let identity = LowEnergyRoom.headset
        var texts: [PeripheralIdentifier: String] = [:]
        let room = LowEnergyRoom(
            maps: .inMemory([:]) { texts[$0] = $1 }, bonds: BondStore(load: { [] }, save: { _, _ in }))
        find(in: room)
        let attempt = room.connect(headset)
        room.sendConnected(headset)
        room.central.request(.discoverServices(on: headset, attempt: room.nextAttempt()))
        room.turn()
        #expect(Array(texts.keys) == [headset])
        // New Identity Resolving Key: hint, private address, identity, key.
        room.sendPairing(
            0x18, before: [1, 0xDC, 0x20, 0xCF, 0x1B, 0xDC, 0x7A], identity, after: [UInt8](repeating: 7, count: 16))
        // What was discovered is found on the next link, which is one to the identity.
        #expect(Array(texts.keys) == [identity])
        room.sendDisconnected(identity, reason: 1)
        #expect(room.emitted.last == .didDisconnect(headset, error: .linkLost, attempt: attempt))
        // The address is nobody's any more: not that of a device that is connected.
        room.turn(after: .seconds(10))
        let again = room.connect(headset)
        #expect(room.emitted.last == .didFailToConnect(headset, error: .unknownPeripheral, attempt: again))
        _ = room.connect(identity)
        #expect(room.commands.last == .addDevice)
    }

    @Test func areConnectedToBySocketWhileTheyAdvertise() {
        let room = roomWithHeadset()
        let attempt = room.connect(headset)
        #expect(!room.commands.contains(.addDevice))
        #expect(room.channels.map(\.peripheral) == [headset])
        #expect(room.emitted.last == .didConnect(headset, attempt: attempt))
        room.sendConnected(headset)
        #expect(room.channels.count == 1)
        room.sendDisconnected(headset, reason: 1)
        #expect(room.emitted.last == .didDisconnect(headset, error: .linkLost, attempt: attempt))
    }

    @Test func areNotWaitedForOnceTheyAreSilent() {
        let room = roomWithHeadset()
        room.turn(after: .seconds(5))
        let attempt = room.connect(headset)
        #expect(room.emitted.last == .didFailToConnect(headset, error: .unknownPeripheral, attempt: attempt))
        #expect(room.channels.isEmpty && !room.commands.contains(.addDevice))
    }

    @Test func areGivenUpWhereTheSocketDoesNotConnect() {
        let room = roomWithHeadset()
        room.refusal = SocketError(code: 110)
        let attempt = room.connect(headset)
        #expect(room.emitted.last == .didFailToConnect(headset, error: .connectionTimedOut, attempt: attempt))
        #expect(room.central.deadline == nil, "nobody waits")
    }
}
