import Bluetooth
import BluetoothManagement
import Testing

@Suite struct ManagementCommandTests {
    private let adapter = ControllerIndex(rawValue: 1)

    @Test func commandsWithoutParametersAreAHeaderAlone() {
        #expect(ManagementCommand.readVersion.encoded == [0x01, 0x00, 0xFF, 0xFF, 0x00, 0x00])
        #expect(ManagementCommand.readControllerIndexList.encoded == [0x03, 0x00, 0xFF, 0xFF, 0x00, 0x00])
        #expect(ManagementCommand.readControllerInformation(adapter).encoded == [0x04, 0x00, 0x01, 0x00, 0x00, 0x00])
        #expect(ManagementCommand.getConnections(adapter).encoded == [0x15, 0x00, 0x01, 0x00, 0x00, 0x00])
        #expect(ManagementCommand.readDefaultSystemConfiguration(adapter).encoded == [0x4B, 0x00, 0x01, 0x00, 0x00, 0x00])
    }

    @Test func theStrengthOfALinkIsAskedForByAddressAndType() throws {
        let device = try #require(PeripheralIdentifier("F0:F1:F2:F3:F4:F5/random"))
        #expect(
            ManagementCommand.getConnectionInformation(device, adapter).encoded
                == [0x31, 0x00, 0x01, 0x00, 0x07, 0x00] + PacketBytes.headset)
    }

    @Test func connectionParametersAreEncodedByteForByte() throws {
        let parameters = try #require(
            ConnectionParameters(minimumInterval: 12, maximumInterval: 24, latency: 0, supervisionTimeout: 400))
        let random = try #require(PeripheralIdentifier("F0:F1:F2:F3:F4:F5/random"))
        let known = try #require(PeripheralIdentifier("00:55:DA:B0:13:24"))
        let command = ManagementCommand.loadConnectionParameters(
            [
                DeviceConnectionParameters(identifier: random, parameters: parameters),
                DeviceConnectionParameters(identifier: known, parameters: parameters),
            ], adapter)
        #expect(
            command.encoded == [
                // Load Connection Parameters, hci1, 32 bytes of parameters
                0x35, 0x00, 0x01, 0x00, 0x20, 0x00,
                // two devices
                0x02, 0x00,
                // address, LE random, 15 ms, 30 ms, latency 0, 4 s
                0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 0x02, 0x0C, 0x00, 0x18, 0x00, 0x00, 0x00, 0x90, 0x01,
                // the same for an LE public address
                0x24, 0x13, 0xB0, 0xDA, 0x55, 0x00, 0x01, 0x0C, 0x00, 0x18, 0x00, 0x00, 0x00, 0x90, 0x01,
            ])
    }

    @Test func aDisconnectNamesTheDevice() throws {
        let headset = try #require(PeripheralIdentifier("20:68:9D:00:00:01/classic"))
        #expect(
            ManagementCommand.disconnect(headset, adapter).encoded == [
                0x14, 0x00, 0x01, 0x00, 0x07, 0x00, 0x01, 0x00, 0x00, 0x9D, 0x68, 0x20, 0x00,
            ])
    }

    @Test func discoveriesConcernLowEnergyDevicesHoweverWeak() {
        #expect(ManagementCommand.startDiscovery(adapter).encoded == [0x23, 0x00, 0x01, 0x00, 0x01, 0x00, 0x06])
        #expect(ManagementCommand.stopDiscovery(adapter).encoded == [0x24, 0x00, 0x01, 0x00, 0x01, 0x00, 0x06])
        #expect(
            ManagementCommand.startServiceDiscovery([BluetoothUUID(UInt16(0xFE8D))], adapter).encoded == [
                0x3A, 0x00, 0x01, 0x00, 0x14, 0x00,
                // LE public and random, any strength, one service
                0x06, 0x7F, 0x01, 0x00,
                0xFB, 0x34, 0x9B, 0x5F, 0x80, 0x00, 0x00, 0x80, 0x00, 0x10, 0x00, 0x00, 0x8D, 0xFE, 0x00, 0x00,
            ])
    }

    @Test func devicesAreAddedToBeConnectedAndRemoved() throws {
        let headset = try #require(PeripheralIdentifier("C0:55:DA:B0:13:24/random"))
        let address: [UInt8] = [0x24, 0x13, 0xB0, 0xDA, 0x55, 0xC0, 0x02]
        #expect(ManagementCommand.addDevice(headset, adapter).encoded == [0x33, 0, 1, 0, 8, 0] + address + [0x02])
        #expect(ManagementCommand.removeDevice(headset, adapter).encoded == [0x34, 0, 1, 0, 7, 0] + address)
        #expect(
            ManagementCommand.removeDevice(nil, adapter).encoded == [0x34, 0, 1, 0, 7, 0] + [UInt8](repeating: 0, count: 7))
    }

    @Test func adaptersAreSwitchedOnAndOff() {
        #expect(ManagementCommand.setPowered(true, adapter).encoded == [0x05, 0, 1, 0, 1, 0, 1])
        #expect(ManagementCommand.setPowered(false, adapter).encoded == [0x05, 0, 1, 0, 1, 0, 0])
        #expect(ManagementCommand.setLowEnergy(true, adapter).encoded == [0x0D, 0, 1, 0, 1, 0, 1])
    }

    @Test func aListThatFitsNoPacketIsCutAtTheLimit() {
        let device = DeviceConnectionParameters(
            identifier: PeripheralIdentifier(address: 1, type: .public),
            parameters: ConnectionParameters(packetPeriod: .milliseconds(10), silenceLimit: .seconds(2)))
        let command = ManagementCommand.loadConnectionParameters(Array(repeating: device, count: 5000), adapter)
        #expect(command.encoded.count == 6 + 2 + ManagementCommand.maximumConnectionParameters * 15)
        #expect(command.encoded[6...7] == [0x10, 0x11])
    }

    @Test func adaptersAreNamedAsTheKernelNamesThem() {
        #expect(ControllerIndex(name: "hci0") == ControllerIndex(rawValue: 0))
        #expect(ControllerIndex(name: "hci12")?.description == "hci12")
        for wrong in ["", "hci", "hci-1", "hci65535", "hci65536", "eth0", "hci0 "] {
            #expect(ControllerIndex(name: wrong) == nil, "\(wrong)")
        }
    }
}
