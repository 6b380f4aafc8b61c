import Bluetooth
import Glibc
import Testing

@testable import BlueZ

/// The socket of AcquireNotify, with the test as bluetoothd at its other end.
@Suite struct NotificationSocketTests {
    private final class Pair {
        private var ends: [Int32] = [-1, -1]
        private var buffer = [UInt8](repeating: 0, count: 515)

        init() throws {
            try #require(socketpair(AF_UNIX, BlueZPeripheral.socketType, 0, &ends) == 0)
        }

        deinit { for end in ends where end >= 0 { close(end) } }

        func notify(_ value: [UInt8]) { #expect(send(ends[1], value, value.count, Int32(MSG_NOSIGNAL)) == value.count) }

        func end() {
            close(ends[1])
            ends[1] = -1
        }

        /// What the central gets, and whether it takes the socket for ended.
        func receive() -> (values: [[UInt8]], hasEnded: Bool) {
            let socket = NotificationSocket(
                descriptor: ends[0], characteristic: BluetoothUUID(UInt16(0xFE01)),
                identifier: PeripheralIdentifier(address: 1, type: .public))
            var values: [[UInt8]] = []
            let hasEnded = socket.receive(&buffer) { values.append($0) }
            return (values, hasEnded)
        }
    }

    @Test("A notification without bytes is no end: what follows arrives")
    func emptyNotification() throws {
        let pair = try Pair()
        pair.notify([])
        #expect(pair.receive() == ([], false))
        pair.notify([1])
        pair.notify([])
        pair.notify([2, 3])
        #expect(pair.receive() == ([[1], [2, 3]], false))
    }

    @Test("The end is told once everything was read, also behind empty notifications")
    func end() throws {
        let pair = try Pair()
        pair.notify([1])
        pair.notify([])
        pair.notify([2])
        pair.notify([])
        pair.end()
        #expect(pair.receive() == ([[1], [2]], true))
        let empty = try Pair()
        empty.end()
        #expect(empty.receive() == ([], true))
    }
}
