import Bluetooth
import BluetoothManagement
import Testing

@testable import KernelBluetooth

/// The kernel central's scans, and what other programs have to do with them.
@Suite struct KernelScanTests {
    private let headset = LowEnergyRoom.headset
    private let other = LowEnergyRoom.other

    @Test func aScanGoesOnUntilItIsStoppedAndReportsWhatMatches() {
        let room = LowEnergyRoom()
        room.turn()
        room.central.request(.scanForPeripherals(matching: ScanFilter(serviceUUIDs: [LowEnergyRoom.service])))
        room.turn()
        room.sendDiscovering(true)
        room.sendFound(headset, service: 0xFE8D)
        room.sendFound(other, service: 0x180F)
        room.sendDiscovering(false)
        room.sendDiscovering(true)
        #expect(room.commands.filter { $0 == .startServiceDiscovery }.count == 2)
        let found = room.emitted.compactMap { event in
            if case .didDiscover(let identifier, _, let rssi) = event { "\(identifier) \(rssi)" } else { nil }
        }
        #expect(found == ["\(headset) -60"])
        room.central.request(.stopScan)
        room.turn()
        #expect(room.commands.last == .stopDiscovery)
        let emittedCount = room.emitted.count
        room.sendFound(headset, service: 0xFE8D)
        #expect(room.emitted.count == emittedCount)
        #expect(room.commands.last == .stopDiscovery, "it is not begun again")
    }

    @Test func whatAKilledProcessHasLeftIsClearedAwayWhenItShows() {
        let room = LowEnergyRoom()
        room.turn()
        #expect(room.commands == [.getConnections], "a connect of the kernel that is under way would block its commands")
        room.sendConnected(other)
        #expect(room.commands.last == .removeDevice)
        room.hasForeignDiscovery = true
        room.central.request(.scanForPeripherals(matching: .unfiltered))
        room.turn()
        #expect(room.commands.suffix(3) == [.startDiscovery, .stopDiscovery, .startDiscovery])
        #expect(!room.emitted.contains { if case .didFailToScan = $0 { true } else { false } })
    }

    @Test func beforeACommandThatLooksOnTheDaemonKeepsItsDevicesAndItsDiscovery() {
        let room = LowEnergyRoom(isAlone: false)
        room.turn()
        room.sendConnected(other)
        room.hasForeignDiscovery = true
        room.central.request(
            .scanForPeripherals(matching: ScanFilter(serviceUUIDs: [LowEnergyRoom.service], namePrefixes: ["x"])))
        room.turn()
        #expect(room.commands == [.getConnections, .startDiscovery])
        // It hears what the daemon's discovery finds.
        room.sendFound(headset, service: 0xFE8D)
        #expect(room.emitted.contains { if case .didDiscover = $0 { true } else { false } })
    }

    @Test func aConnectEndsADiscoveryThatWouldHideTheHeadset() {
        let room = LowEnergyRoom()
        room.turn()
        // Another program's.
        room.sendDiscovering(true)
        room.connect()
        #expect(room.commands.suffix(2) == [.stopDiscovery, .addDevice])
        // This one's, which goes on for the sake of another headset.
        room.central.request(.scanForPeripherals(matching: ScanFilter(serviceUUIDs: [LowEnergyRoom.service])))
        room.turn()
        room.sendDiscovering(true)
        room.connect(other)
        #expect(room.commands.suffix(3) == [.stopDiscovery, .addDevice, .startServiceDiscovery])
    }

    @Test func aDiscoveryThatHasNotQuiteBegunIsEndedOnceItHas() {
        let room = LowEnergyRoom()
        room.turn()
        room.central.request(.scanForPeripherals(matching: ScanFilter(serviceUUIDs: [LowEnergyRoom.service])))
        room.turn()
        // The kernel is beginning it, and refuses to end it.
        room.refusesStop = true
        room.connect()
        #expect(room.commands.suffix(2) == [.stopDiscovery, .addDevice])
        room.refusesStop = false
        room.sendDiscovering(true)
        #expect(room.commands.suffix(2) == [.stopDiscovery, .startServiceDiscovery])
        // One that is refused while the discovery goes on is asked for again by whoever needs it next.
        room.sendDiscovering(true)
        room.refusesStop = true
        room.connect(other)
        room.refusesStop = false
        let third = PeripheralIdentifier(address: 0x0055_DAB0_1326, type: .public)
        room.connect(third)
        #expect(room.commands.suffix(3) == [.stopDiscovery, .addDevice, .startServiceDiscovery])
    }

    @Test func aDiscoveryOfWhichNothingIsHeardAnyMoreBeginsAnew() {
        let room = LowEnergyRoom()
        room.turn()
        let filter = ScanFilter(serviceUUIDs: [LowEnergyRoom.service])
        room.central.request(.scanForPeripherals(matching: filter))
        room.turn()
        room.sendDiscovering(true)
        // The kernel's word that it has ended is lost.
        #expect(room.central.deadline == room.now + .seconds(20))
        room.turn(after: .seconds(19))
        #expect(room.commands.filter { $0 == .startServiceDiscovery }.count == 1)
        room.turn(after: .seconds(1))
        #expect(room.commands.filter { $0 == .startServiceDiscovery }.count == 2)
        // It is lost also of one that is to end.
        room.sendDiscovering(true)
        room.refusesStop = true
        room.central.request(.stopScan)
        room.turn(after: .seconds(20))
        #expect(room.commands.last == .stopDiscovery && room.central.deadline == nil)
        room.central.request(.scanForPeripherals(matching: filter))
        room.turn()
        #expect(room.commands.last == .startServiceDiscovery)
    }

    @Test func whatIsConnectedForBluetoothdIsLeftToIt() {
        let room = LowEnergyRoom()
        room.turn()
        room.isBluetoothdRunning = true
        room.sendConnected(other)
        #expect(room.commands == [.getConnections])
    }

    @Test func aScanForNamesIsFilteredHereAndAChangeOfFilterBeginsAnother() {
        let room = LowEnergyRoom()
        room.turn()
        room.central.request(.scanForPeripherals(matching: ScanFilter(serviceUUIDs: [LowEnergyRoom.service])))
        room.turn()
        room.central.request(.scanForPeripherals(matching: ScanFilter(namePrefixes: ["Hermes"])))
        room.turn()
        #expect(room.commands.suffix(3) == [.startServiceDiscovery, .stopDiscovery, .startDiscovery])
    }
}
