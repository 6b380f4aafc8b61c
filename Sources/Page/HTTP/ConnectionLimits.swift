import NIOCore

/// What keeps a single connection from costing too much: it may neither wait for ever nor send without being answered.
///
/// Stands first in a connection's pipeline, where bytes are still bytes.
final class ConnectionLimits: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The bounds; the page's own, or a test's.
    struct Bounds: Hashable, Sendable {
        /// How long a connection may be silent: browsers keep theirs for the next request.
        var silence: TimeAmount = .seconds(75)
        /// How long a request may take to come and be answered.
        var request: TimeAmount = .seconds(60)
        /// How long a reader may take for what one write sent: at most 64 kB of a file, or a whole small answer.
        var write: TimeAmount = .seconds(20)
        /// The most bytes that come before an answer: four times what any request of the page has.
        var unanswered = 65_536
        /// The most connections at a time. A browser has six.
        var connections = 256
    }

    private let bounds: Bounds
    private var unanswered = 0
    private var writing = 0
    private var deadline: Scheduled<Void>?
    /// Set once the connection is to end behind what is being written.
    private var isEnding = false

    init(_ bounds: Bounds) { self.bounds = bounds }

    func channelActive(context: ChannelHandlerContext) {
        closes(context, in: bounds.silence)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if unanswered == 0, writing == 0 { closes(context, in: bounds.request) }
        unanswered += Self.unwrapInboundIn(data).readableBytes
        guard unanswered <= bounds.unanswered else {
            context.close(promise: nil)
            return
        }
        // Behind the last answer nothing is asked any more; it is taken, so that the kernel does not answer it with a reset.
        if !isEnding { context.fireChannelRead(data) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        unanswered = 0
        writing += 1
        closes(context, in: bounds.write)
        let promise = promise ?? context.eventLoop.makePromise()
        let (loopBound, bound) = (
            NIOLoopBound(self, eventLoop: context.eventLoop), NIOLoopBound(context, eventLoop: context.eventLoop)
        )
        promise.futureResult.whenComplete { _ in loopBound.value.wrote(bound.value) }
        context.write(data, promise: promise)
    }

    /// Closing drops what the kernel has not taken yet, so it waits for that, as long as a reader may take.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .all, writing > 0, context.channel.isActive else {
            context.close(mode: mode, promise: promise)
            return
        }
        isEnding = true
        context.channel.closeFuture.cascade(to: promise)
        context.flush()
    }

    /// The kernel took what was written: what follows has its own time.
    private func wrote(_ context: ChannelHandlerContext) {
        writing -= 1
        guard context.channel.isActive else { return }
        guard writing > 0 || !isEnding else {
            context.close(promise: nil)
            return
        }
        closes(context, in: writing > 0 ? bounds.write : bounds.silence)
    }

    /// Closes the connection after a time, unless something happens before. One that has ended is not waited for: that would
    /// keep it.
    private func closes(_ context: ChannelHandlerContext, in time: TimeAmount) {
        deadline?.cancel()
        guard context.channel.isActive else { return }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: time) { bound.value.close(promise: nil) }
    }
}
