import Bluetooth
import BluetoothManagement
import Testing

@testable import KernelBluetooth

/// Pending connections that a caller gives up, and may come back to.
@Suite struct GivenUpTests {
    private let headset = LowEnergyRoom.headset

    /// A room that knows the headset's handles, and in which a pending connection to it was given up.
    private func roomThatGaveUp() -> LowEnergyRoom {
        let room = LowEnergyRoom()
        _ = room.link()
        room.sendDisconnected(reason: 1)
        room.connect()
        let attempt = room.nextAttempt()
        room.central.request(.cancelPeripheralConnection(headset, attempt: attempt))
        #expect(room.turn() == [.didDisconnect(headset, error: nil, attempt: attempt)])
        return room
    }

    private func removals(_ room: LowEnergyRoom) -> Int { room.commands.filter { $0 == .removeDevice }.count }

    @Test func theKernelGoesOnWaitingForAWhile() {
        let room = roomThatGaveUp()
        #expect(room.commands.last == .addDevice, "Remove Device would block the kernel if the headset came back now")
        let before = removals(room)
        room.turn(after: .seconds(29))
        #expect(removals(room) == before)
        room.turn(after: .seconds(1))
        #expect(removals(room) == before + 1)
        #expect(room.central.deadline == nil)
    }

    @Test func whoComesBackMeanwhileIsDiscoveredAndConnectedToAtOnce() {
        let room = roomThatGaveUp()
        room.central.request(.scanForPeripherals(matching: ScanFilter(serviceUUIDs: [LowEnergyRoom.service])))
        room.turn()
        let channels = room.channels.count
        room.sendConnected()
        let isDiscovered = room.emitted.contains { if case .didDiscover(headset, _, _) = $0 { true } else { false } }
        #expect(isDiscovered)
        #expect(room.commands.last == .removeDevice, "the kernel has connected, so this blocks nothing")
        let attempt = room.connect()
        #expect(room.emitted.last == .didConnect(headset, attempt: attempt))
        #expect(room.channels.count == channels + 1)
    }

    @Test func whoWasOnlyEverSeenIsDiscoveredWithWhatItAdvertised() {
        let room = LowEnergyRoom()
        room.turn()
        room.central.request(.scanForPeripherals(matching: ScanFilter(serviceUUIDs: [LowEnergyRoom.service])))
        room.turn()
        room.sendFound(headset, service: 0xFE8D)
        room.connect()
        room.central.request(.cancelPeripheralConnection(headset, attempt: room.nextAttempt()))
        room.turn()
        let before = room.emitted.count
        room.sendConnected()
        let found = room.emitted.dropFirst(before).compactMap { event in
            if case .didDiscover(headset, let advertisement, _) = event { advertisement.serviceUUIDs } else { nil }
        }
        #expect(found == [[LowEnergyRoom.service]])
    }

    @Test func whoeverIsWantedAgainIsNotForgottenLater() {
        let room = roomThatGaveUp()
        let attempt = room.connect()
        let before = removals(room)
        room.turn(after: .seconds(60))
        #expect(removals(room) == before)
        room.sendConnected()
        #expect(room.emitted.last == .didConnect(headset, attempt: attempt))
    }
}
