import Bluetooth
import Glibc
import Metrics

/// Answers requests for figures over HTTP, one process without threads: it waits for all connections at once, never for one.
///
/// Whatever a client does costs one connection of few: a request has a bounded length and a deadline, each connection has one
/// answer and ends with it, and where all connections are taken the oldest gives way, so that slow clients keep nobody out.
final class MetricsServer {
    /// So many connections there are at once.
    static let connectionMaximum = 16
    /// From the first byte to the last of an answer.
    static let patience = Duration.seconds(10)
    /// What is asked for more often is answered with the same figures.
    static let freshness = Duration.seconds(1)

    /// A client.
    private struct Connection {
        let descriptor: Int32
        let deadline: MonotonicTime
        var received: [UInt8] = []
        /// Nil until the request is complete.
        var answer: [UInt8]?
        var sent = 0
        /// The answer is out; the client is to close first.
        var isFinished = false
    }

    private let listener: Int32
    private let figures: (Exposition) -> String
    private let clock: () -> MonotonicTime
    /// In the order in which they came.
    private var connections: [Connection] = []
    private var fresh: [Exposition: (text: String, at: MonotonicTime)] = [:]

    /// - Parameters:
    ///   - listener: a socket that listens; it is closed with the server.
    ///   - figures: makes the text.
    init(listener: Int32, figures: @escaping (Exposition) -> String, clock: @escaping () -> MonotonicTime = { HostClock.now }) {
        self.listener = listener
        self.figures = figures
        self.clock = clock
        _ = fcntl(listener, F_SETFL, O_NONBLOCK)
    }

    deinit {
        for connection in connections { close(connection.descriptor) }
        close(listener)
    }

    /// How many clients there are.
    var connectionCount: Int { connections.count }

    /// Waits until something can be done, and does it.
    ///
    /// - Parameter milliseconds: waits for so long at most.
    func turn(waiting milliseconds: Int32) {
        var polled = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
        polled += connections.map {
            pollfd(fd: $0.descriptor, events: Int16($0.answer == nil || $0.isFinished ? POLLIN : POLLOUT), revents: 0)
        }
        let now = clock()
        let next = connections.map { ($0.deadline - now).nanoseconds / 1_000_000 + 1 }.min() ?? .max
        let wait = Int32(clamping: max(0, min(Int64(milliseconds), next)))
        guard poll(&polled, nfds_t(polled.count), wait) >= 0 || errno == EINTR else { return }
        for (index, result) in polled.dropFirst().enumerated() where result.revents != 0 { advance(index) }
        let time = clock()
        for connection in connections where connection.deadline <= time { close(connection.descriptor) }
        connections.removeAll { $0.deadline <= time || $0.descriptor < 0 }
        if polled[0].revents != 0 { accept(at: time) }
    }

    private func accept(at now: MonotonicTime) {
        // No more at once than there may be: those that are here go on in between.
        for _ in 0..<Self.connectionMaximum {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            if connections.count >= Self.connectionMaximum { close(connections.removeFirst().descriptor) }
            connections.append(Connection(descriptor: descriptor, deadline: now + Self.patience))
        }
    }

    /// Reads or writes what can be, and marks a connection that is over.
    private func advance(_ index: Int) {
        if connections[index].isFinished { return drain(index) }
        if connections[index].answer == nil { receive(index) }
        if connections[index].answer != nil { send(index) }
    }

    private func end(_ index: Int) {
        close(connections[index].descriptor)
        connections[index] = Connection(descriptor: -1, deadline: connections[index].deadline)
    }

    private func receive(_ index: Int) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(connections[index].descriptor, &bytes, bytes.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return end(index) }
        connections[index].received += bytes[..<count]
        let reading = ScrapeRequest.read(connections[index].received)
        if case .incomplete = reading { return }
        connections[index].received = []
        connections[index].answer = ScrapeAnswer(to: reading, figures: fresh(_:)).bytes
    }

    private func send(_ index: Int) {
        guard let answer = connections[index].answer else { return }
        let sent = connections[index].sent
        let count = answer[sent...].withUnsafeBytes {
            Glibc.send(connections[index].descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return end(index) }
        connections[index].sent += count
        guard connections[index].sent == answer.count else { return }
        // Closed at once, bytes that still come would take back the answer (RFC 9112, 9.6).
        shutdown(connections[index].descriptor, Int32(SHUT_WR))
        connections[index].isFinished = true
    }

    /// Throws away what still comes, until the client has closed.
    private func drain(_ index: Int) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(connections[index].descriptor, &bytes, bytes.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        if count <= 0 { end(index) }
    }

    private func fresh(_ format: Exposition) -> String {
        let now = clock()
        if let known = fresh[format], now - known.at < Self.freshness { return known.text }
        let text = figures(format)
        fresh[format] = (text, now)
        return text
    }
}
