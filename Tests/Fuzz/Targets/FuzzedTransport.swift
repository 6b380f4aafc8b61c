import NIOCore
import NIOEmbedded

/// What the kernel does: keeps what is not read yet, and what the other end does not take.
final class FuzzedTransport: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    var waiting: [(bytes: ArraySlice<UInt8>, pieceLength: Int)] = []
    var hasEnded = false
    var isStalled = false
    var unansweredCount = 0
    var sinceWrite = TimeAmount.zero
    private(set) var broken: String?
    private var isReadWanted = false
    private var held: [(NIOAny, EventLoopPromise<Void>?)] = []
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func read(context: ChannelHandlerContext) { isReadWanted = true }

    /// Gives the next piece, or the end, where that is wanted; false where there is nothing more to do.
    func deliver(_ channel: EmbeddedChannel, whileWaiting isWaiting: Bool) -> Bool {
        guard channel.isActive, let context else { return false }
        if !isStalled, !held.isEmpty {
            for (data, promise) in held { context.write(data, promise: promise) }
            held = []
            context.flush()
            return true
        }
        guard isReadWanted else { return false }
        guard let next = waiting.first else {
            guard hasEnded else { return false }
            isReadWanted = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            return true
        }
        if isWaiting { broken = "more is read while a request waits for its answer" }
        let piece = next.bytes.prefix(max(1, next.pieceLength))
        waiting[0].bytes = next.bytes.dropFirst(piece.count)
        if waiting[0].bytes.isEmpty { waiting.removeFirst() }
        isReadWanted = false
        unansweredCount += piece.count
        context.fireChannelRead(Self.wrapInboundOut(ByteBuffer(bytes: piece)))
        context.fireChannelReadComplete()
        if channel.isActive { channel.read() }
        return true
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        (unansweredCount, sinceWrite) = (0, .zero)
        if isStalled { held.append((data, promise)) } else { context.write(data, promise: promise) }
    }

    /// A closed socket sends nothing more of what was written to it in this process.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        for (_, promise) in held { promise?.fail(ChannelError.ioOnClosedChannel) }
        held = []
        context.close(mode: mode, promise: promise)
    }
}
