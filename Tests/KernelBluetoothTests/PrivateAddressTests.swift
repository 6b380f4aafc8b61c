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
        room.turn()
        room.central.scanForPeripherals(matching: ScanFilter(serviceUUIDs: [LowEnergyRoom.service]))
        room.turn()
        room.tellFound(headset, service: 0xFE8D)
        room.central.stopScan()
        room.turn()
        return room
    }

    @Test func areTheRandomOnesThatAreNotStatic() {
        for (address, type, isPrivate) in [
            (0x7ADC_1BCF_20DC, PeripheralIdentifier.AddressType.random, true), (0x3ADC_1BCF_20DC, .random, true),
            (0xC055_DAB0_1324, .random, false), (0x7ADC_1BCF_20DC, .public, false),
        ] as [(UInt64, PeripheralIdentifier.AddressType, Bool)] {
            #expect(PeripheralIdentifier(address: address, type: type).isPrivate == isPrivate)
        }
    }

    @Test func areConnectedToBySocketWhileTheyAdvertise() {
        let room = roomWithHeadset()
        let attempt = room.connect(headset)
        #expect(!room.commands.contains(.addDevice))
        #expect(room.channels.map(\.peripheral) == [headset])
        #expect(room.told.last == .didConnect(headset, attempt: attempt))
        room.tellConnected(headset)
        #expect(room.channels.count == 1)
        room.tellDisconnected(headset, reason: 1)
        #expect(room.told.last == .didDisconnect(headset, error: .linkLost, attempt: attempt))
    }

    @Test func areNotWaitedForOnceTheyAreSilent() {
        let room = roomWithHeadset()
        room.turn(after: .seconds(5))
        let attempt = room.connect(headset)
        #expect(room.told.last == .didFailToConnect(headset, error: .unknownPeripheral, attempt: attempt))
        #expect(room.channels.isEmpty && !room.commands.contains(.addDevice))
    }

    @Test func areGivenUpWhereTheSocketDoesNotConnect() {
        let room = roomWithHeadset()
        room.refusal = SocketError(code: 110)
        let attempt = room.connect(headset)
        #expect(room.told.last == .didFailToConnect(headset, error: .connectionTimedOut, attempt: attempt))
        #expect(room.central.deadline == nil, "nobody waits")
    }
}
