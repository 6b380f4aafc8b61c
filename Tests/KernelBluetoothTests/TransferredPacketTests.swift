import AttributeProtocol
import Bluetooth
import Testing

@testable import KernelBluetooth

/// The packets from which captures are made.
@Suite struct TransferredPacketTests {
    private let headset = LowEnergyRoom.headset
    private let eeg = LowEnergyRoom.eeg

    @Test func everyPacketIsEmittedAsTheSocketHadIt() throws {
        let room = LowEnergyRoom()
        let channel = try #require(room.link().channel)
        room.central.request(.setNotifyValue(true, for: eeg, on: headset, attempt: room.nextAttempt()))
        room.turn()
        for number in UInt8(0)..<100 { channel.say(.handleValueNotification(LowEnergyRoom.value, [number])) }
        room.turn()
        #expect(channel.packets.count > 110)
        #expect(room.packets.filter(\.isReceived).map(\.bytes) == channel.packets.filter(\.isFromHeadset).map(\.bytes))
        let sent = room.packets.filter { !$0.isReceived }.map(\.bytes)
        #expect(sent == channel.packets.filter { !$0.isFromHeadset }.map(\.bytes))
        // What is only asked for its services is nobody's link.
        let other = LowEnergyRoom()
        other.connections = [headset]
        other.turn()
        other.central.request(
            .retrieveConnectedPeripherals(withServices: [LowEnergyRoom.service], attempt: other.nextAttempt()))
        other.turn()
        #expect(other.channels.first?.packets.isEmpty == false && other.packets.isEmpty)
    }
}
