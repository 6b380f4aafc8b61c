import Bluetooth
import Glibc
import Testing

@testable import KernelBluetooth

/// Serial ports that are not free, over connects that are given up meanwhile.
@Suite struct SerialPortEndingTests {
    private let headset = ClassicRoom.headset

    /// A connect during which the kernel is busy with what is left of an earlier connection.
    private func connect(in room: ClassicRoom, busy times: Int) -> Attempt {
        let attempt = room.connect()
        for _ in 0..<times {
            room.fail(EBUSY)
            room.turn(after: .milliseconds(100))
        }
        return attempt
    }

    private func cancel(in room: ClassicRoom, andWait pause: Duration) {
        room.central.request(.cancelPeripheralConnection(headset, attempt: room.nextAttempt()))
        room.turn()
        room.turn(after: pause)
    }

    private func failures(in room: ClassicRoom) -> [CentralEvent] {
        room.emitted.filter { if case .didFailToConnect = $0 { true } else { false } }
    }

    @Test func thatAnotherProgramHoldsOneShowsAlsoWhereEachConnectIsGivenUpSooner() {
        let room = ClassicRoom()
        room.turn()
        for _ in 0..<2 {
            _ = connect(in: room, busy: 20)
            // The caller looks for the headset in another way.
            cancel(in: room, andWait: .seconds(10))
        }
        let attempt = connect(in: room, busy: 10)
        #expect(failures(in: room).isEmpty)
        room.fail(EBUSY)
        #expect(failures(in: room) == [.didFailToConnect(headset, error: .channelBusy, attempt: attempt)])
    }

    @Test func whatIsLongPastDoesNotCountNorWhatCameBeforeAnAnswer() {
        let room = ClassicRoom()
        room.turn()
        _ = connect(in: room, busy: 50)
        cancel(in: room, andWait: .seconds(30))
        _ = connect(in: room, busy: 50)
        cancel(in: room, andWait: .zero)
        room.connect()
        // It is away: what was in the way has ended.
        room.fail(EHOSTDOWN)
        room.turn(after: .milliseconds(100))
        room.fail(EBUSY)
        #expect(failures(in: room).isEmpty)
    }
}
