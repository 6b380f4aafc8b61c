import Bluetooth
import Glibc
import Testing

@testable import KernelBluetooth

/// Packets that the kernel does not take at once.
@Suite struct AttributeChannelTests {
    private let now = MonotonicTime(nanoseconds: 1_000_000_000_000)

    /// A channel with two packets that the kernel did not take, for one reason.
    private func channel(refusing code: Int32, isBeingSecured: Bool = false) -> AttributeChannel {
        var channel = AttributeChannel(peripheral: LowEnergyRoom.headset, socket: -1)
        channel.add([1])
        channel.add([2])
        channel.flush(
            isBeingSecured: isBeingSecured, at: now, send: { _, _ in SocketError(code: code) },
            didSend: { Issue.record("\($0) was not sent") })
        return channel
    }

    @Test(arguments: [ENOBUFS, ENOMEM]) func thoseForWhichItHasNoMemoryAreSentAgainSoon(code: Int32) {
        var channel = channel(refusing: code)
        #expect(channel.outbox == [[1], [2]] && channel.retry == now + .milliseconds(10))
        var sent: [[UInt8]] = []
        channel.flush(isBeingSecured: false, at: now, send: { _, _ in nil }, didSend: { sent.append($0) })
        #expect(sent == [[1], [2]] && channel.outbox.isEmpty && channel.retry == nil)
    }

    @Test func thoseForWhichItHasNoRoomWaitUntilItSaysSo() {
        for (code, isBeingSecured, isKept) in [(EAGAIN, false, true), (ENOTCONN, true, true), (ENOTCONN, false, false)] {
            let channel = channel(refusing: code, isBeingSecured: isBeingSecured)
            #expect(channel.outbox.isEmpty != isKept && channel.retry == nil)
        }
    }

    @Test func aRequestForWhichItHadNoMemoryIsAnswered() {
        let room = LowEnergyRoom()
        _ = room.link()
        room.sendError = SocketError(code: ENOBUFS)
        let attempt = room.nextAttempt()
        room.central.request(.setNotifyValue(true, for: LowEnergyRoom.eeg, on: LowEnergyRoom.headset, attempt: attempt))
        #expect(room.turn().isEmpty && room.central.deadline == room.now + .milliseconds(10))
        room.sendError = nil
        #expect(room.turn(after: .milliseconds(9)).isEmpty)
        #expect(
            room.turn(after: .milliseconds(1)) == [
                .didUpdateNotificationState(LowEnergyRoom.eeg, on: LowEnergyRoom.headset, error: nil, attempt: attempt)
            ])
    }
}
