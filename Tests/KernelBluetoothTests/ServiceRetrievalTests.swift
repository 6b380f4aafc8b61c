import AttributeProtocol
import Bluetooth
import BluetoothManagement
import Glibc
import Testing

@testable import KernelBluetooth

@Suite struct ServiceRetrievalTests {
    private let headset = LowEnergyRoom.headset
    private let other = LowEnergyRoom.other
    private let battery = BluetoothUUID(UInt16(0x180F))

    private func retrieve(_ service: BluetoothUUID, in room: LowEnergyRoom) -> [CentralEvent] {
        room.central.request(.retrieveConnectedPeripherals(withServices: [service], attempt: room.nextAttempt()))
        return room.turn()
    }

    @Test func aDeviceWhoseHandlesAreKnownIsNotAsked() {
        let room = LowEnergyRoom()
        _ = room.link()
        room.sendDisconnected(reason: 1)
        room.sendConnected()
        let channelCount = room.channels.count
        for (service, found) in [(LowEnergyRoom.service, [headset]), (battery, [])] {
            #expect(retrieve(service, in: room) == [.didRetrieveConnected(found, attempt: room.attempts)])
        }
        #expect(room.channels.count == channelCount)
    }

    @Test func anyOtherDeviceIsAskedForItsServicesAndItsLinkIsLeftAlone() throws {
        let room = LowEnergyRoom()
        room.connections = [headset]
        room.turn()
        for service in [battery, LowEnergyRoom.service] {
            let found = service == battery ? [] : [headset]
            #expect(retrieve(service, in: room) == [.didRetrieveConnected(found, attempt: room.attempts)])
        }
        let channel = try #require(room.channels.first)
        #expect(room.channels.count == 1, "it is asked once")
        var byte: UInt8 = 0
        #expect(recv(channel.socket, &byte, 1, Int32(MSG_DONTWAIT)) == 0, "the channel is closed")
        #expect(!room.commands.contains(.disconnect))
        // What was found out serves the link that follows.
        let attempt = room.connect()
        #expect(room.emitted.last == .didConnect(headset, attempt: attempt))
        room.central.request(.discoverServices(on: headset, attempt: room.nextAttempt()))
        room.turn()
        #expect(room.channels.last?.received.map(\.opcode) == [.exchangeMTURequest, .readByTypeRequest])
    }

    @Test func aDeviceWhoseChannelAnotherProgramHasIsNotOffered() {
        let room = LowEnergyRoom()
        room.connections = [headset]
        room.turn()
        room.refusal = SocketError(code: EBUSY)
        #expect(retrieve(LowEnergyRoom.service, in: room) == [.didRetrieveConnected([], attempt: room.attempts)])
        #expect(!room.commands.contains(.disconnect))
    }

    @Test func aDeviceThatIsSlowToAnswerServesTheNextQuestion() {
        let room = LowEnergyRoom()
        room.connections = [headset]
        room.turn()
        room.central.request(.retrieveConnectedPeripherals(withServices: [LowEnergyRoom.service], attempt: room.nextAttempt()))
        room.answersSlowly = true
        room.turn()
        #expect(room.turn(after: .milliseconds(400)) == [.didRetrieveConnected([], attempt: room.attempts)])
        room.answersSlowly = false
        room.turn()
        #expect(
            retrieve(LowEnergyRoom.service, in: room) == [.didRetrieveConnected([headset], attempt: room.attempts)])
    }

    @Test func aDeviceThatNeverAnswersIsGivenUpAndCanBeConnectedTo() {
        let room = LowEnergyRoom()
        room.connections = [headset]
        room.turn()
        room.answersSlowly = true
        _ = retrieve(LowEnergyRoom.service, in: room)
        room.turn(after: .seconds(3))
        #expect(room.channels.count == 1 && room.central.deadline == nil && !room.commands.contains(.disconnect))
        let attempt = room.connect()
        #expect(room.emitted.last == .didConnect(headset, attempt: attempt))
    }

    @Test func aConnectTakesTheChannelFromAProbe() {
        let room = LowEnergyRoom()
        room.connections = [headset, other]
        room.turn()
        room.answersSlowly = true
        _ = retrieve(LowEnergyRoom.service, in: room)
        let attempt = room.connect()
        #expect(room.emitted.last == .didConnect(headset, attempt: attempt))
        #expect(room.channels.map(\.peripheral) == [headset, other, headset])
        // The other one's end is nobody's news.
        room.sendDisconnected(other, reason: 1)
        room.setPowered(false)
        #expect(room.emitted.filter { if case .didDisconnect = $0 { true } else { false } }.count == 1)
    }
}
