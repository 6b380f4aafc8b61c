import CBluetooth
import Glibc

/// The management channel of the kernel's Bluetooth, without ever waiting: watch ``descriptor``, call ``receive()``.
///
/// The kernel looks at the process's capabilities once, when the socket is bound: a capability that is gained later needs a new
/// socket.
package final class ManagementSocket {
    /// The file descriptor; readable whenever ``receive()`` has something.
    package let descriptor: Int32

    /// How much the kernel may keep until it is read: what finds no room it drops, and says nothing. The usual 208 KiB are some
    /// hundred events, of which a scan in a crowd makes as many each second.
    private static let kernelRoom: Int32 = 1 << 20

    /// Room for the largest packet: header and 65,535 bytes of parameters.
    private var buffer = [UInt8](repeating: 0, count: 6 + 65_535)

    /// Opens the channel. Needs no privilege; what each command needs is said there.
    ///
    /// - Throws: ``ManagementError/cannotOpen(code:)``.
    package convenience init() throws(ManagementError) {
        let type = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_BLUETOOTH, type, BTPROTO_HCI)
        guard descriptor >= 0 else { throw .cannotOpen(code: errno) }
        try self.init(binding: descriptor)
    }

    /// Takes over a socket and binds it to the channel.
    convenience init(binding descriptor: Int32) throws(ManagementError) {
        // From here on `deinit` closes it, after a failure too: a second close could hit somebody else's file.
        self.init(adopting: descriptor)
        Self.makeRoom(in: descriptor)
        var address = sockaddr_hci(
            hci_family: sa_family_t(AF_BLUETOOTH), hci_dev: ControllerIndex.none.rawValue,
            hci_channel: UInt16(HCI_CHANNEL_CONTROL))
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_hci>.size))
            }
        }
        guard result == 0 else { throw .cannotOpen(code: errno) }
    }

    /// Takes over a descriptor that is open already, and closes it in the end.
    package init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Lets the kernel keep more, beyond what everybody may have (`net.core.rmem_max`) where this process may (CAP_NET_ADMIN).
    static func makeRoom(in descriptor: Int32) {
        var room = kernelRoom
        let length = socklen_t(MemoryLayout<Int32>.size)
        guard setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &room, length) != 0 else { return }
        _ = setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, length)
    }

    /// Sends a command. Its reply comes out of ``receive()``.
    ///
    /// - Throws: ``ManagementError/cannotSend(code:)``.
    package func send(_ command: ManagementCommand) throws(ManagementError) {
        let packet = command.encoded
        let count = packet.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count == packet.count else { throw .cannotSend(code: count < 0 ? errno : EMSGSIZE) }
    }

    /// The next event; nil where none waits.
    ///
    /// - Throws: ``ManagementError/cannotReceive(code:)``, after which the socket is of no use;
    ///   ``ManagementError/malformed(_:)`` for one packet, which is then gone.
    package func receive() throws(ManagementError) -> ManagementEvent? {
        var count = -1
        repeat {
            count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        } while count < 0 && errno == EINTR
        guard count >= 0 else {
            if errno == EAGAIN || errno == EWOULDBLOCK { return nil }
            throw .cannotReceive(code: errno)
        }
        // The kernel never sends an empty packet: the other end is closed.
        guard count > 0 else { throw .cannotReceive(code: ECONNRESET) }
        do {
            return try ManagementEvent(packet: buffer[..<count])
        } catch {
            throw .malformed(error)
        }
    }
}
