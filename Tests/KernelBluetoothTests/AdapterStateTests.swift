import Bluetooth
import BluetoothManagement
import Glibc
import Testing

@testable import KernelBluetooth

/// What the management channel says of the adapter where it says nothing.
@Suite struct AdapterStateTests {
    @Test(
        arguments: [
            (EAFNOSUPPORT, .unreachable), (EPERM, .unauthorized), (EMFILE, .absent),
        ] as [(Int32, AdapterState)])
    func aManagementChannelThatCannotBeOpenedTellsWhy(code: Int32, state: AdapterState) {
        let room = LowEnergyRoom()
        room.managementError = .cannotOpen(code: code)
        #expect(room.turn() == [.didUpdateState(state)])
        room.managementError = nil
        #expect(room.turn(after: .seconds(2)).last == .didUpdateState(.poweredOn))
    }

    @Test func whileTheManagementChannelIsBrokenTheStateIsUnknown() {
        let room = LowEnergyRoom()
        room.turn()
        room.breakChannel { #expect(room.told.last == .didUpdateState(.unknown), "resetting is bluetoothd") }
        #expect(room.central.state == .poweredOn)
    }
}
