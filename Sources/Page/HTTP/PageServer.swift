import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// The HTTP server of the page: this machine's loopback, and requests as the policy allows them.
package final class PageServer: Sendable {
    /// Answers a request. May take its time: each connection waits by itself.
    package typealias Respond = @Sendable (PageRequest) async -> PageResponse

    private let port: UInt16
    private let bounds: ConnectionLimits.Bounds
    private let policy: RequestPolicy
    private let respond: Respond

    /// - Parameters:
    ///   - port: of 127.0.0.1; 0 for any that is free.
    ///   - policy: which requests are answered.
    ///   - respond: answers them.
    package convenience init(
        port: UInt16, policy: RequestPolicy = RequestPolicy(), respond: @escaping Respond
    ) {
        self.init(port: port, bounds: ConnectionLimits.Bounds(), policy: policy, respond: respond)
    }

    init(port: UInt16, bounds: ConnectionLimits.Bounds, policy: RequestPolicy = RequestPolicy(), respond: @escaping Respond) {
        self.port = port
        self.bounds = bounds
        self.policy = policy
        self.respond = respond
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameters:
    ///   - everySecond: called once a second; what it throws ends the serving.
    ///   - ready: called with the port once connections are accepted.
    /// - Throws: ``PageServerError``, and what `everySecond` throws.
    package func run(
        everySecond: @escaping @Sendable () throws -> Void = {}, ready: @escaping @Sendable (UInt16) -> Void
    ) async throws {
        // One thread moves bytes; what is answered is computed on Swift's own.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let server = try await listen(group)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await self.serve(server) }
                tasks.addTask {
                    ready(server.channel.localAddress?.port.flatMap(UInt16.init) ?? self.port)
                    while true {
                        try await Task.sleep(for: .seconds(1))
                        try everySecond()
                    }
                }
                defer { tasks.cancelAll() }
                try await tasks.next()
            }
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
    }

    private func listen(_ group: MultiThreadedEventLoopGroup) async throws -> NIOAsyncChannel<PageConnection, Never> {
        let (bounds, policy, respond, count) = (bounds, policy, respond, ConnectionCount())
        do {
            return try await ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 128)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                // Who has sent all may still be answered.
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .bind(host: "127.0.0.1", port: Int(port)) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let isAllowed = count.begin() <= bounds.connections
                        channel.closeFuture.whenComplete { _ in count.end() }
                        if !isAllowed { channel.close(promise: nil) }
                        try PageConnection.configure(channel, bounds: bounds)
                        return try PageConnection(channel, policy: policy, respond: respond)
                    }
                }
        } catch let error as IOError {
            throw PageServerError(error, port: port)
        }
    }

    private func serve(_ server: NIOAsyncChannel<PageConnection, Never>) async throws {
        try await withThrowingDiscardingTaskGroup { tasks in
            try await server.executeThenClose { connections in
                for try await connection in connections {
                    tasks.addTask { await connection.run() }
                }
            }
        }
    }
}

/// How many connections there are.
private final class ConnectionCount: Sendable {
    private let count = Atomic(0)

    func begin() -> Int { count.add(1, ordering: .relaxed).newValue }
    func end() { count.subtract(1, ordering: .relaxed) }
}

/// Why the page is not served.
package enum PageServerError: Error, Hashable {
    /// Another program listens at the port.
    case portInUse(port: UInt16)
    /// The system refuses it.
    case cannotListen(port: UInt16, reason: String)

    fileprivate init(_ error: IOError, port: UInt16) {
        if error.errnoCode == EADDRINUSE {
            self = .portInUse(port: port)
        } else {
            self = .cannotListen(port: port, reason: String(cString: strerror(error.errnoCode)))
        }
    }
}
