import Glibc

/// A service manager's end of the notification socket (unix(7), abstract address).
final class NotificationSocket {
    /// A message that takes longer than this to come never comes.
    private static let patience: Int32 = 30_000

    private let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    /// For the environment variable NOTIFY_SOCKET.
    let name: String

    init(_ label: String) {
        name = "@eegsync-kill-test-\(getpid())-\(label)"
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

    /// Takes messages until one holds the text; nil where none does.
    func message(with text: String) -> String? {
        while true {
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&wait, 1, Self.patience) == 1 else { return nil }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { return nil }
            let message = String(decoding: buffer[..<count], as: UTF8.self)
            if message.contains(text) { return message }
        }
    }
}
