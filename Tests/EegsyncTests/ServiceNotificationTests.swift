import CLinux
import Glibc
import Testing

@testable import eegsync

/// A service manager's end of the notification socket (unix(7), abstract address).
private final class NotificationSocket {
    private let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    let name = "@eegsync-test-\(getpid())"

    init() {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            for (index, byte) in name.utf8.enumerated() { path[index] = index == 0 ? 0 : byte }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.utf8.count)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        precondition(result == 0, "the socket of the test cannot be bound: \(errno)")
    }

    deinit { close(descriptor) }

    /// The next message, which sd_notify has delivered before it returned; nil if there is none.
    func receive() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count >= 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}

/// One after the other: the environment belongs to the whole process.
@Suite(.serialized) struct ServiceNotificationTests {
    @Test func theServiceManagerHearsEachNotification() {
        let manager = NotificationSocket()
        setenv("NOTIFY_SOCKET", manager.name, 1)
        defer { unsetenv("NOTIFY_SOCKET") }
        ServiceNotification.ready(status: "2 headsets\nstream")
        #expect(manager.receive() == "READY=1\nSTATUS=2 headsets stream")
        ServiceNotification.status("left waits for the adapter")
        #expect(manager.receive() == "STATUS=left waits for the adapter")
        ServiceNotification.watchdog()
        #expect(manager.receive() == "WATCHDOG=1")
        ServiceNotification.reloading()
        #expect(manager.receive() == "RELOADING=1")
        ServiceNotification.stopping()
        #expect(manager.receive() == "STOPPING=1")
        #expect(manager.receive() == nil)
    }

    @Test func withoutAServiceManagerNothingHappens() {
        unsetenv("NOTIFY_SOCKET")
        ServiceNotification.ready(status: "x")
        #expect(ServiceNotification.watchdogInterval == nil)
    }

    @Test func theWatchdogIsFedTwiceInItsInterval() {
        setenv("WATCHDOG_USEC", "5000000", 1)
        setenv("WATCHDOG_PID", "\(getpid())", 1)
        defer {
            unsetenv("WATCHDOG_USEC")
            unsetenv("WATCHDOG_PID")
        }
        #expect(ServiceNotification.watchdogInterval == .milliseconds(2500))
    }
}
