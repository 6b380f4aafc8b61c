import CLinux
import Glibc

/// Sockets that are watched together behind one descriptor (epoll(7)), each for what it waits for just now.
final class SocketReadiness {
    /// What a socket is watched for. Its end is reported in any case.
    enum Interest {
        /// Nothing but its end.
        case end
        /// Bytes to be read.
        case reading
        /// A connection that is made, or fails.
        case connecting
        /// Bytes to be read, and room for bytes to be written.
        case readingAndWriting
    }

    /// How many are reported at once; the others are reported at the next question.
    private static let capacity = 64

    /// Readable while something has come true for one of the sockets.
    let descriptor: Int32
    private var members = [Int32](repeating: -1, count: SocketReadiness.capacity)

    init() {
        descriptor = clinux_epoll()
        precondition(descriptor >= 0, "no file descriptor is left for the sockets of headsets")
    }

    deinit { close(descriptor) }

    /// Says what a socket is watched for from now on.
    func watch(_ socket: Int32, for interest: Interest) {
        let reads = interest == .reading || interest == .readingAndWriting
        let writes = interest == .connecting || interest == .readingAndWriting
        _ = clinux_epoll_watch(descriptor, socket, reads ? 1 : 0, writes ? 1 : 0)
    }

    /// Ends the watch; to be called before the socket is closed. Nothing happens where it is not watched.
    func unwatch(_ socket: Int32) {
        _ = clinux_epoll_remove(descriptor, socket)
    }

    /// The sockets of which something is to be reported now.
    func ready() -> [Int32] {
        let count = clinux_epoll_ready(descriptor, &members, Int32(Self.capacity))
        return count > 0 ? Array(members[..<Int(count)]) : []
    }
}
