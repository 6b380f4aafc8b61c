import CLinux
import FlyingSocks
import Glibc
import Synchronization

/// What keeps single connections from costing too much: FlyingFox itself waits for each as long as it likes to, and reads a
/// head of any length.
///
/// It stands between FlyingFox and the pool in which its sockets wait, and ends connections that wait too long or are too many.
/// What comes without a pause never waits; ``inspect()``, once a second, ends connections that have sent much and been answered
/// nothing.
final class ConnectionGuard: AsyncSocketPool {
    /// How long a connection may be silent: browsers keep theirs for the next request.
    static let readLimit = Duration.seconds(75)
    /// How long a reader may take no byte of what it asked for.
    static let writeLimit = Duration.seconds(20)
    /// The most connections that wait for a request. A browser has six.
    static let countMaximum = 256
    /// The most bytes that come before an answer: four times what any request of the page has.
    static let unansweredMaximum: Int64 = 65_536
    /// Descriptors above are not looked at: systemd gives a service 1024.
    private static let descriptorMaximum: Int32 = 1024

    private struct Traffic {
        var received: Int64
        var sent: Int64
    }

    private let pool: SocketPool<ePoll>
    private let readLimit: Duration
    private let countMaximum: Int
    private let waiting = Mutex(0)
    private let traffic = Mutex<[Int32: Traffic]>([:])

    init(readLimit: Duration = ConnectionGuard.readLimit, countMaximum: Int = ConnectionGuard.countMaximum) {
        pool = .ePoll(maxEvents: 64)
        self.readLimit = readLimit
        self.countMaximum = countMaximum
    }

    func prepare() async throws { try await pool.prepare() }

    func run() async throws { try await pool.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        if Self.isListening(socket.file.rawValue) { return try await pool.suspendSocket(socket, untilReadyFor: events) }
        let isReading = events.contains(.read)
        if isReading {
            let isAllowed = waiting.withLock { count in
                if count < countMaximum { count += 1 }
                return count <= countMaximum
            }
            guard isAllowed else { throw SocketError.disconnected }
        }
        defer { if isReading { waiting.withLock { $0 -= 1 } } }
        let (pool, limit) = (pool, isReading ? readLimit : Self.writeLimit)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.suspendSocket(socket, untilReadyFor: events) }
            group.addTask {
                try await Task.sleep(for: limit)
                throw SocketError.disconnected
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Ends connections that have sent more than ``unansweredMaximum`` since they were last answered.
    ///
    /// - Returns: how many.
    @discardableResult
    func inspect() -> Int {
        var ended = 0
        traffic.withLock { traffic in
            for descriptor in 3..<Self.descriptorMaximum {
                var (received, sent) = (Int64(0), Int64(0))
                guard clinux_tcp_traffic(descriptor, &received, &sent) == 0 else {
                    traffic[descriptor] = nil
                    continue
                }
                // What has never been answered counts from its beginning.
                let known = traffic[descriptor] ?? Traffic(received: sent == 0 ? 0 : received, sent: sent)
                guard known.sent == sent, known.received <= received else {
                    traffic[descriptor] = Traffic(received: received, sent: sent)
                    continue
                }
                traffic[descriptor] = known
                guard received - known.received > Self.unansweredMaximum else { continue }
                Self.abort(descriptor)
                traffic[descriptor] = nil
                ended += 1
            }
        }
        return ended
    }

    /// Resets a connection, whose descriptor stays FlyingFox's to close: connected to nothing, it ends at once (connect(2)).
    /// After shutdown(2) it would go on to read what still comes.
    private static func abort(_ descriptor: Int32) {
        var nothing = sockaddr()
        nothing.sa_family = sa_family_t(AF_UNSPEC)
        _ = connect(descriptor, &nothing, socklen_t(MemoryLayout<sockaddr>.size))
    }

    private static func isListening(_ descriptor: Int32) -> Bool {
        var (value, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) == 0 && value != 0
    }
}
