import Foundation
import NIOCore
import NIOHTTP1

/// Answers what is no HTTP, once, and with the headers of every answer; the connection ends behind it.
///
/// Instead of SwiftNIO's `HTTPServerProtocolErrorHandler`, which answers without those headers, and also behind an answer that
/// was said to be the last: nothing may follow that (RFC 9112, section 9.6).
final class MalformedRequests: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Whether an answer has begun, and not ended.
    private var isAnswering = false
    /// Whether the latest answer is the last one.
    private var isLast = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head(let head):
            isAnswering = true
            isLast = isLast || !head.isKeepAlive
        case .body: break
        case .end: isAnswering = false
        }
        context.write(data, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is HTTPParserError, !isAnswering, !isLast {
            isLast = true
            for part in PageExchange.malformed { context.write(Self.wrapOutboundOut(part), promise: nil) }
            context.flush()
        }
        context.fireErrorCaught(error)
    }
}
