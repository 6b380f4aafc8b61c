import Bluetooth
import Glibc
import Testing

@testable import BluetoothManagement

/// The channel itself is proven where there is a kernel with Bluetooth; here only that its absence is said plainly.
@Suite struct ManagementSocketTests {
    @Test func aKernelWithoutBluetoothIsAnErrorWithWords() throws {
        do {
            let socket = try ManagementSocket()
            try socket.send(.readVersion)
            #expect(socket.descriptor >= 0)
        } catch {
            #expect(error.disposition == .waitForOperator || error.disposition == .retry)
            #expect("\(error)".contains("Bluetooth"))
        }
    }

    @Test func theKernelKeepsMoreThanUsual() throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var room: Int32 = 4096
        var length = socklen_t(MemoryLayout<Int32>.size)
        #expect(setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, length) == 0)
        ManagementSocket.makeRoom(in: descriptor)
        #expect(getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, &length) == 0 && room > 100_000)
    }

    @Test func aSocketThatCannotBeBoundIsClosed() throws {
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        // A number that no other test's file gets meanwhile.
        let descriptor = fcntl(file, F_DUPFD_CLOEXEC, 900)
        close(file)
        try #require(descriptor >= 900)
        #expect(throws: ManagementError.cannotOpen(code: ENOTSOCK)) { try ManagementSocket(binding: descriptor) }
        #expect(fcntl(descriptor, F_GETFD) == -1)
    }
}
