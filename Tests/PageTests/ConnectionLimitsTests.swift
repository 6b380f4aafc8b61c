import NIOCore
import NIOEmbedded
import Testing

@testable import Page

/// When a connection is ended, in virtual time.
@Suite struct ConnectionLimitsTests {
    private let bounds = ConnectionLimits.Bounds()

    private func connect() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: ConnectionLimits(bounds))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 8580)).wait()
        return channel
    }

    private func request(_ bytes: Int = 100) -> ByteBuffer { ByteBuffer(repeating: 0x41, count: bytes) }

    /// Whether the connection ends exactly when this time has passed.
    private func ends(_ channel: EmbeddedChannel, in time: TimeAmount) -> Bool {
        channel.embeddedEventLoop.advanceTime(by: time - .nanoseconds(1))
        guard channel.isActive else { return false }
        channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
        return !channel.isActive
    }

    @Test func silence() throws {
        #expect(ends(try connect(), in: bounds.silence))
    }

    @Test func oneThatHasEndedIsNotKept() throws {
        weak var limits: ConnectionLimits?
        do {
            let channel = try connect()
            limits = try channel.pipeline.syncOperations.handler(type: ConnectionLimits.self)
            try channel.pipeline.syncOperations.addHandler(LastWriter())
            channel.close(promise: nil)
            channel.embeddedEventLoop.run()
        }
        #expect(limits == nil)
    }

    @Test func silenceBehindAnAnswer() throws {
        let channel = try connect()
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        try channel.writeInbound(request())
        try channel.writeOutbound(IOData.byteBuffer(request()))
        #expect(ends(channel, in: bounds.silence))
    }

    @Test func aRequestThatNeverEnds() throws {
        let channel = try connect()
        try channel.writeInbound(request(1))
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        // Another byte gives no more time.
        try channel.writeInbound(request(1))
        #expect(ends(channel, in: bounds.request - .seconds(30)))
    }

    @Test func aReaderThatTakesNothing() throws {
        let channel = try connect()
        try channel.writeInbound(request())
        channel.write(IOData.byteBuffer(request()), promise: nil)
        #expect(ends(channel, in: bounds.write))
    }

    @Test func aReaderThatTakesOneChunkAtATime() throws {
        let channel = try connect()
        try channel.writeInbound(request())
        for _ in 0..<10 {
            channel.write(IOData.byteBuffer(request()), promise: nil)
            channel.embeddedEventLoop.advanceTime(by: bounds.write - .seconds(1))
            channel.flush()
        }
        #expect(ends(channel, in: bounds.silence))
    }

    @Test func whatWasWrittenIsSentBeforeTheEnd() throws {
        let channel = try connect()
        try channel.writeInbound(request())
        let slow = SlowReader()
        try channel.pipeline.syncOperations.addHandler(slow, position: .first)
        channel.writeAndFlush(IOData.byteBuffer(request()), promise: nil)
        let closed = channel.close()
        #expect(channel.isActive)
        slow.takeAll()
        #expect(!channel.isActive)
        channel.embeddedEventLoop.run()
        try closed.wait()
    }

    /// A connection that is to end behind an answer, of which its reader takes nothing.
    private func connectionThatEnds() throws -> EmbeddedChannel {
        let channel = try connect()
        try channel.writeInbound(request())
        try channel.pipeline.syncOperations.addHandler(SlowReader(), position: .first)
        channel.writeAndFlush(IOData.byteBuffer(request()), promise: nil)
        channel.close(promise: nil)
        return channel
    }

    @Test func aReaderThatTakesNothingOfTheLastAnswer() throws {
        #expect(ends(try connectionThatEnds(), in: bounds.write))
    }

    @Test func whoeverSendsWithoutEndBehindTheLastAnswer() throws {
        let channel = try connectionThatEnds()
        try channel.writeInbound(request(bounds.unanswered))
        #expect(channel.isActive)
        #expect(try channel.readInbound(as: ByteBuffer.self)?.readableBytes == 100)
        #expect(try channel.readInbound(as: ByteBuffer.self) == nil)
        try channel.writeInbound(request(1))
        #expect(!channel.isActive)
    }

    @Test func aRequestWithoutEnd() throws {
        let channel = try connect()
        try channel.writeInbound(request(bounds.unanswered))
        #expect(channel.isActive)
        try channel.writeInbound(request(1))
        #expect(!channel.isActive)
    }

    @Test func requestsThatAreAnswered() throws {
        let channel = try connect()
        for _ in 0..<3 {
            try channel.writeInbound(request(bounds.unanswered))
            try channel.writeOutbound(IOData.byteBuffer(request()))
        }
        #expect(channel.isActive)
    }
}

/// Takes what is written when it is said to.
private final class SlowReader: ChannelOutboundHandler {
    typealias OutboundIn = IOData

    private var held: [EventLoopPromise<Void>?] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) { held.append(promise) }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        for promise in held { promise?.fail(ChannelError.ioOnClosedChannel) }
        held = []
        context.close(mode: mode, promise: promise)
    }

    func takeAll() {
        let taken = held
        held = []
        for promise in taken { promise?.succeed(()) }
    }
}

/// Answers as a parser does that was interrupted amid a request: when the connection has ended.
private final class LastWriter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelInactive(context: ChannelHandlerContext) {
        context.writeAndFlush(NIOAny(IOData.byteBuffer(ByteBuffer(repeating: 0x41, count: 1))), promise: nil)
        context.fireChannelInactive()
    }
}
