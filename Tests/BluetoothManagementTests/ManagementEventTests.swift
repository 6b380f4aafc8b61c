import Bluetooth
import BluetoothManagement
import Testing

@Suite struct ManagementEventTests {
    private let hci0 = ControllerIndex(rawValue: 0)
    private let headset = PeripheralIdentifier(address: 0xF0F1_F2F3_F4F5, type: .random)

    private func contents(_ packet: [UInt8]) throws -> ManagementReply.Contents? {
        guard case .reply(let reply) = try ManagementEvent(packet: packet) else { return nil }
        return try reply.result.get()
    }

    @Test func repliesAreRead() throws {
        #expect(
            try contents(PacketBytes.complete(opcode: 0x0001, index: 0xFFFF, [0x01, 0x16, 0x00]))
                == .version(ManagementVersion(major: 1, revision: 22)))
        #expect(
            try contents(PacketBytes.complete(opcode: 0x0003, index: 0xFFFF, [0x02, 0x00, 0x00, 0x00, 0x03, 0x00]))
                == .controllerIndexes([hci0, ControllerIndex(rawValue: 3)]))
        #expect(
            try contents(PacketBytes.complete(opcode: 0x0015, [0x01, 0x00] + PacketBytes.headset)) == .connections([headset]))
        #expect(
            try contents(PacketBytes.complete(opcode: 0x0005, [0x01, 0x02, 0x00, 0x00])) == .settings([.powered, .lowEnergy]))
        #expect(try contents(PacketBytes.complete(opcode: 0x0035)) == ManagementReply.Contents.none)
        #expect(try contents(PacketBytes.complete(opcode: 0x0777, [1, 2])) == .other([1, 2]))
    }

    @Test func informationOfTheAdapterIsRead() throws {
        let packet = PacketBytes.complete(opcode: 0x0004, PacketBytes.controllerInformation)
        #expect(packet.count == 6 + 3 + 280)
        guard case .controllerInformation(let information) = try contents(packet) else {
            Issue.record("no controller information")
            return
        }
        #expect(information.address.addressDescription == "00:AA:01:00:00:42")
        #expect(information.bluetoothVersion == 9)
        #expect(information.manufacturer == 0xFFFF)
        #expect(information.supportedSettings.isSuperset(of: [.powered, .lowEnergy, .secureConnections, .privacy]))
        #expect(!information.supportedSettings.contains(.classic))
        #expect(information.currentSettings == [.powered, .lowEnergy, .secureConnections])
        #expect(information.name == "BlueZ 5.66")
    }

    @Test func defaultConnectionParametersAreRead() throws {
        let expected = ConnectionParameters(minimumInterval: 24, maximumInterval: 40, latency: 0, supervisionTimeout: 42)
        #expect(expected != nil)
        #expect(
            try contents(PacketBytes.complete(opcode: 0x004B, PacketBytes.defaultSystemConfiguration))
                == .defaultConnectionParameters(expected))
        // A kernel that says nothing of links, and one that says what no link may have.
        #expect(try contents(PacketBytes.complete(opcode: 0x004B)) == .defaultConnectionParameters(nil))
        var impossible = PacketBytes.defaultSystemConfiguration
        impossible[26 * 5 + 3] = 0
        #expect(try contents(PacketBytes.complete(opcode: 0x004B, impossible)) == .defaultConnectionParameters(nil))
    }

    @Test func refusalsKeepTheirStatus() throws {
        let event = try ManagementEvent(packet: PacketBytes.event(0x0002, [0x35, 0x00, 0x14]))
        guard case .reply(let reply) = event else {
            Issue.record("no reply")
            return
        }
        #expect(reply.opcode == .loadConnectionParameters)
        #expect(reply.result == .failure(.permissionDenied))
        #expect("\(ManagementStatus.permissionDenied)".contains("CAP_NET_ADMIN"))
        // A Command Complete with a status has no contents that can be trusted.
        let failed = try ManagementEvent(packet: PacketBytes.complete(opcode: 0x0004, status: 0x11))
        #expect(failed == .reply(try refusal(with: .invalidIndex, of: .readControllerInformation)))
    }

    private func refusal(with status: ManagementStatus, of opcode: ManagementOpcode) throws -> ManagementReply {
        let packet = PacketBytes.event(0x0002, [UInt8(opcode.rawValue), 0x00, status.rawValue])
        guard case .reply(let reply) = try ManagementEvent(packet: packet) else { throw ManagementPacketError.truncated }
        return reply
    }

    @Test func eventsAreRead() throws {
        let hci2 = ControllerIndex(rawValue: 2)
        #expect(try ManagementEvent(packet: [0x04, 0x00, 0x02, 0x00, 0x00, 0x00]) == .indexAdded(hci2))
        #expect(try ManagementEvent(packet: [0x05, 0x00, 0x02, 0x00, 0x00, 0x00]) == .indexRemoved(hci2))
        #expect(
            try ManagementEvent(packet: PacketBytes.event(0x0006, [0x00, 0x0A, 0x00, 0x00]))
                == .newSettings([.lowEnergy, .secureConnections], hci0))
        let advertisement: [UInt8] = [0x02, 0x01, 0x06, 0x03, 0x03, 0x8D, 0xFE]
        #expect(
            try ManagementEvent(
                packet: PacketBytes.event(0x000B, PacketBytes.headset + [0, 0, 0, 0, 0x07, 0x00] + advertisement))
                == .deviceConnected(headset, advertisement: Advertisement(structures: advertisement), hci0))
        #expect(
            try ManagementEvent(packet: PacketBytes.event(0x000D, PacketBytes.headset + [0x04]))
                == .connectFailed(headset, .connectFailed, hci0))
        #expect(
            try ManagementEvent(
                packet: PacketBytes.event(0x0012, PacketBytes.headset + [0xC3, 0, 0, 0, 0, 0x07, 0x00] + advertisement))
                == .deviceFound(headset, rssi: -61, advertisement: Advertisement(structures: advertisement), hci0))
        for isOn in [false, true] {
            #expect(
                try ManagementEvent(packet: PacketBytes.event(0x0013, [0x06, isOn ? 1 : 0])) == .discovering(isOn, hci0))
        }
        #expect(
            try ManagementEvent(packet: PacketBytes.event(0x0021, [0x06, 0x01]))
                == .other(code: 0x0021, hci0, parameters: [0x06, 0x01]))
    }

    @Test func everyReasonOfADisconnectionHasItsError() throws {
        for reason in DisconnectionReason.allCases {
            #expect(
                try ManagementEvent(packet: PacketBytes.event(0x000C, PacketBytes.headset + [reason.rawValue]))
                    == .deviceDisconnected(headset, reason, hci0))
        }
        #expect(
            try ManagementEvent(packet: PacketBytes.event(0x000C, PacketBytes.headset + [0x77]))
                == .deviceDisconnected(headset, .unspecified, hci0))
        #expect(DisconnectionReason.connectionTimeout.error == .linkLost)
        #expect(DisconnectionReason.remoteHost.error == .peripheralDisconnected)
    }

    @Test func parametersThatAPeripheralAskedForAreRead() throws {
        let parameters: [UInt8] = [0x01] + PacketBytes.headset + [0x06, 0x00, 0x0C, 0x00, 0x00, 0x00, 0xC8, 0x00]
        let expected = try #require(
            ConnectionParameters(minimumInterval: 6, maximumInterval: 12, latency: 0, supervisionTimeout: 200))
        #expect(
            try ManagementEvent(packet: PacketBytes.event(0x001C, parameters))
                == .newConnectionParameters(
                    DeviceConnectionParameters(identifier: headset, parameters: expected), isToBeStored: true, hci0))
    }

    @Test func everyShortenedPacketIsRefused() {
        let packets = [
            PacketBytes.complete(opcode: 0x0001, [0x01, 0x16, 0x00]), PacketBytes.complete(opcode: 0x0003, [0x01, 0x00, 0, 0]),
            PacketBytes.complete(opcode: 0x0004, PacketBytes.controllerInformation),
            PacketBytes.complete(opcode: 0x0015, [0x01, 0x00] + PacketBytes.headset),
            PacketBytes.event(0x0002, [0x35, 0x00, 0x14]), PacketBytes.event(0x0006, [1, 0, 0, 0]),
            PacketBytes.event(0x000B, PacketBytes.headset + [0, 0, 0, 0, 0x01, 0x00, 0x00]),
            PacketBytes.event(0x000C, PacketBytes.headset + [0x01]), PacketBytes.event(0x000D, PacketBytes.headset + [0x04]),
            PacketBytes.event(0x001C, [0x01] + PacketBytes.headset + [0x06, 0x00, 0x0C, 0x00, 0x00, 0x00, 0xC8, 0x00]),
        ]
        for packet in packets {
            for count in 0..<packet.count {
                // Once with a header that still promises the whole, once with one that agrees with what is left.
                #expect(throws: ManagementPacketError.self) { try ManagementEvent(packet: packet.prefix(count)) }
                guard count >= 6 else { continue }
                var agreed = Array(packet.prefix(count))
                agreed[4] = UInt8((count - 6) & 0xFF)
                agreed[5] = UInt8((count - 6) >> 8)
                #expect(throws: ManagementPacketError.self, "\(packet) cut to \(count)") { try ManagementEvent(packet: agreed) }
            }
        }
        #expect(throws: ManagementPacketError.wrongLength(announced: 0, actual: 1)) {
            try ManagementEvent(packet: [0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00])
        }
        #expect(throws: ManagementPacketError.invalidField("address type")) {
            try ManagementEvent(packet: PacketBytes.event(0x000C, [1, 2, 3, 4, 5, 6, 9, 0]))
        }
    }

    @Test func randomBytesAreReadOrRefused() {
        var generator = PacketBytes.Generator(state: 35)
        for _ in 0..<20_000 {
            var parameters = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            // Mostly opcodes that are known, in events that are known.
            if parameters.count >= 3, Bool.random(using: &generator) {
                let opcodes: [UInt8] = [0x01, 0x03, 0x04, 0x05, 0x15, 0x35, 0x4B]
                parameters[0] = opcodes.randomElement(using: &generator) ?? 0
                parameters[1] = 0
                parameters[2] = 0
            }
            let packet = PacketBytes.event(UInt16.random(in: 0...0x20, using: &generator), parameters)
            _ = try? ManagementEvent(packet: packet)
            _ = try? ManagementEvent(packet: packet.dropLast())
        }
    }
}
