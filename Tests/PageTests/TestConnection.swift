import Foundation
import NIOCore
import NIOPosix

/// A connection to a server of the test, on this machine, for a thread that waits.
final class TestConnection {
    /// What has come, for the thread that waits for it.
    private final class Received: ChannelInboundHandler, @unchecked Sendable {
        // Both variables are only read and written while `condition` is locked.
        typealias InboundIn = ByteBuffer

        let condition = NSCondition()
        private var bytes = Data()
        private var hasEnded = false

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            condition.withLock { bytes.append(contentsOf: Self.unwrapInboundIn(data).readableBytesView) }
            condition.broadcast()
        }

        func channelInactive(context: ChannelHandlerContext) { end() }

        // A reset: channelInactive follows.
        func errorCaught(context: ChannelHandlerContext, error: any Error) {}

        func end() {
            condition.withLock { hasEnded = true }
            condition.broadcast()
        }

        func take(until text: String?) -> String {
            condition.withLock {
                while true {
                    if hasEnded || text != nil {
                        let received = String(decoding: bytes, as: UTF8.self)
                        if hasEnded || text.map({ received.contains($0) }) ?? false {
                            bytes = Data()
                            return received
                        }
                    }
                    condition.wait()
                }
            }
        }
    }

    private let channel: any Channel
    private let received: Received

    init(port: UInt16) throws {
        let received = Received()
        self.received = received
        channel = try ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: false)
            .channelInitializer { channel in
                channel.closeFuture.whenComplete { _ in received.end() }
                return channel.pipeline.addHandler(received)
            }
            .connect(host: "127.0.0.1", port: Int(port)).wait()
    }

    deinit { channel.close(promise: nil) }

    /// Sends bytes; false where the other end is closed.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool { (try? channel.writeAndFlush(ByteBuffer(bytes: bytes)).wait()) != nil }

    func endSending() { try? channel.close(mode: .output).wait() }

    /// What comes until the connection ends, or until a text is in it.
    func receive(until text: String? = nil) -> String { received.take(until: text) }
}
