import Bluetooth
import Glibc

/// The socket of one link: the fixed channel of the Attribute Protocol, which takes and gives one packet at a time.
struct AttributeChannel {
    /// How many packets may wait to be sent: the kernel takes them as fast as the link does.
    private static let outboxLimit = 256
    /// After how long a packet is sent again for which the kernel had no memory: that it has some is not reported of a socket.
    private static let memoryPause = Duration.milliseconds(10)

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
    /// When it is tried again, where the kernel had no memory; nil where it had.
    private(set) var retry: MonotonicTime?

    /// True where more waits than ever should.
    var hasOverflowed: Bool { outbox.count > Self.outboxLimit }

    /// Adds a packet to those that wait.
    mutating func add(_ packet: [UInt8]) { outbox.append(packet) }

    /// Sends what waits, as far as the kernel takes it.
    ///
    /// - Parameters:
    ///   - isBeingSecured: the kernel takes nothing until the link is as secure as it was asked to make it.
    ///   - send: gives the kernel a packet.
    ///   - didSend: gets each packet that the kernel has taken.
    mutating func flush(
        isBeingSecured: Bool, at now: MonotonicTime, send: (Int32, [UInt8]) -> SocketError?, didSend: ([UInt8]) -> Void
    ) {
        retry = nil
        var count = 0
        for packet in outbox {
            let error = send(socket, packet)
            if let error, [EAGAIN, EINTR].contains(error.code) || error.code == ENOTCONN && isBeingSecured { break }
            if error?.isOfMemory == true {
                // A request that is dropped would be waited for until the link counts as dead.
                retry = now + Self.memoryPause
                break
            }
            // That the link is gone is noticed when it is read.
            if error == nil { didSend(packet) }
            count += 1
        }
        outbox.removeFirst(count)
    }
}
