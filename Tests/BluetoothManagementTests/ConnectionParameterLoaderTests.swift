import Bluetooth
import BluetoothManagement
import Testing

@Suite struct ConnectionParameterLoaderTests {
    private let hci0 = ControllerIndex(rawValue: 0)
    private let hci1 = ControllerIndex(rawValue: 1)
    private let fast = ConnectionParameters(packetPeriod: .milliseconds(5), silenceLimit: .seconds(1))
    private let slow = ConnectionParameters(packetPeriod: .milliseconds(40), silenceLimit: .seconds(2))

    private func identifier(_ number: UInt64) -> PeripheralIdentifier { PeripheralIdentifier(address: number, type: .random) }

    private func reply(_ status: UInt8, index: UInt16 = 0) throws -> ManagementEvent {
        try ManagementEvent(packet: PacketBytes.event(0x0002, index: index, [0x35, 0x00, status]))
    }

    @Test func withoutDevicesNothingIsLoadedSoThatNobodysListIsCleared() {
        #expect(ConnectionParameterLoader().command(beforeConnectingOn: hci0) == nil)
    }

    @Test func theWholeListIsSentBeforeEveryConnection() throws {
        var loader = ConnectionParameterLoader()
        loader.setParameters(slow, for: identifier(1))
        loader.setParameters(fast, for: identifier(2))
        loader.setParameters(fast, for: identifier(1))
        let expected = ManagementCommand.loadConnectionParameters(
            [
                DeviceConnectionParameters(identifier: identifier(1), parameters: fast),
                DeviceConnectionParameters(identifier: identifier(2), parameters: fast),
            ], hci0)
        #expect(loader.command(beforeConnectingOn: hci0) == expected)
        loader.handle(try reply(0))
        #expect(loader.state(of: hci0) == .loaded)
        // bluetoothd may have loaded its own list since.
        #expect(loader.command(beforeConnectingOn: hci0) == expected)
        #expect(loader.state(of: hci1) == .unknown)
    }

    @Test func aProcessThatMayNotDoesNotTryAgainUntilItHasANewSocket() throws {
        var loader = ConnectionParameterLoader()
        loader.setParameters(slow, for: identifier(1))
        loader.handle(try reply(0x14))
        #expect(loader.state(of: hci0) == .refused(.permissionDenied))
        #expect(loader.command(beforeConnectingOn: hci0) == nil)
        #expect(loader.command(beforeConnectingOn: hci1) != nil)
        loader.reset()
        #expect(loader.command(beforeConnectingOn: hci0) != nil)
    }

    @Test func anAdapterThatComesBackIsTriedAgain() throws {
        var loader = ConnectionParameterLoader()
        loader.setParameters(slow, for: identifier(1))
        loader.handle(try reply(0x0C))
        #expect(loader.command(beforeConnectingOn: hci0) == nil)
        loader.handle(.indexRemoved(hci0))
        loader.handle(.indexAdded(hci0))
        #expect(loader.command(beforeConnectingOn: hci0) != nil)
        // The number of an adapter that has just gone: nothing lasting.
        loader.handle(try reply(0x11))
        #expect(loader.command(beforeConnectingOn: hci0) != nil)
    }

    @Test func classicAddressesHaveNoneAndTheOldestOfTooManyGoes() {
        var loader = ConnectionParameterLoader()
        loader.setParameters(slow, for: PeripheralIdentifier(address: 9, type: .classic))
        #expect(loader.devices.isEmpty)
        for number in 0...UInt64(ConnectionParameterLoader.maximumDevices) {
            loader.setParameters(slow, for: identifier(number))
        }
        #expect(loader.devices.count == ConnectionParameterLoader.maximumDevices)
        #expect(loader.devices.first?.identifier == identifier(1))
    }
}
