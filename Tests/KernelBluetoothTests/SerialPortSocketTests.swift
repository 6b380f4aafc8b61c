import Glibc
import Testing

@testable import KernelBluetooth

/// The sockets of ``SerialPortCentral``, whose numbers other threads may have a moment later.
@Suite struct SerialPortSocketTests {
    @Test(arguments: [EHOSTUNREACH, EMFILE, EPROTONOSUPPORT, EBUSY])
    func aSocketIsClosedOnceWhereTheNextOneCannotBeOpened(code: Int32) throws {
        let room = ClassicRoom()
        room.turn()
        room.connect()
        room.answerPage()
        room.refusal = SocketError(code: code)
        room.answerSearch(channel: 1)
        let file = try #require(room.otherFile)
        #expect(fcntl(file, F_GETFD) >= 0, "another thread's file was closed")
        close(file)
    }
}
