import Bluetooth
import Glibc

/// The socket of one link: the fixed channel of the Attribute Protocol, which takes and gives one packet at a time.
struct AttributeChannel {
    /// How many packets may wait to be sent: the kernel takes them as fast as the link does.
    private static let outboxLimit = 256

    let peripheral: PeripheralIdentifier
    let socket: Int32
    /// False while it is being opened.
    var isOpen = false
    /// When its latest packet arrived.
    var latestArrival = MonotonicTime.boot
    /// What the socket is watched for.
    var interest = SocketReadiness.Interest.connecting
    /// Packets that the socket had no room for.
    private(set) var outbox: [[UInt8]] = []

    /// True where more waits than ever should.
    var hasOverflowed: Bool { outbox.count > Self.outboxLimit }

    /// Adds a packet to those that wait.
    mutating func add(_ packet: [UInt8]) { outbox.append(packet) }

    /// Sends what waits, as far as the kernel takes it.
    ///
    /// - Parameters:
    ///   - isBeingSecured: the kernel takes nothing until the link is as secure as it was asked to make it.
    ///   - didSend: gets each packet that the kernel has taken.
    mutating func flush(isBeingSecured: Bool, didSend: ([UInt8]) -> Void) {
        var count = 0
        for packet in outbox {
            if Glibc.send(socket, packet, packet.count, BluetoothSocket.neverWait) >= 0 {
                didSend(packet)
            } else if errno == EAGAIN || errno == EINTR || errno == ENOTCONN && isBeingSecured {
                break
            }
            // That the link is gone is noticed when it is read.
            count += 1
        }
        outbox.removeFirst(count)
    }
}
