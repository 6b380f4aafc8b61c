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
