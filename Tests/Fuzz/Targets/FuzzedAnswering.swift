import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Page

/// Stands where the task of a connection stands: reads requests, and answers each when it is said to.
final class FuzzedAnswering: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private(set) var answers: [ServedConnection.Answer] = []
    private(set) var broken: String?
    private let believesFirstLines: Bool
    private var reader = RequestReader(policy: RequestPolicy())
    private var waiting: (head: HTTPRequestHead, exchange: PageExchange)?
    private var head: HTTPRequestHead?
    private var isEnding = false

    init(believesFirstLines: Bool) {
        self.believesFirstLines = believesFirstLines
    }

    var isWaiting: Bool { waiting != nil }
    var isRefused: Bool { if case .refused? = waiting?.exchange.asked { true } else { false } }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = Self.unwrapInboundIn(data)
        if case .head(var new) = part {
            head = new
            if believesFirstLines {
                var known: Set<String> = []
                new.headers = HTTPHeaders(new.headers.filter { known.insert($0.name.lowercased()).inserted })
                part = .head(new)
            }
        }
        if isEnding { return }
        let exchange = reader.read(part)
        if reader.heldCount > RequestPolicy.bodyMaximum { broken = "\(reader.heldCount) bytes of a body are held" }
        guard let exchange, let head else { return }
        if waiting != nil { broken = "a request while another waits for its answer" }
        if case .request(let request) = exchange.asked { broken = broken ?? RequestRules.brokenRule(request, head) }
        waiting = (head, exchange)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { ends(context.channel) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { ends(context.channel) }
    }

    func channelInactive(context: ChannelHandlerContext) { waiting = nil }

    /// What came before is answered first.
    private func ends(_ channel: any Channel) {
        isEnding = true
        if waiting == nil { channel.close(promise: nil) }
    }

    func answerNext(_ channel: EmbeddedChannel) {
        guard let (head, exchange) = waiting, channel.isActive else { return }
        waiting = nil
        let response =
            switch exchange.asked {
            case .refused(let response): response
            case .request(let request): respond(to: request)
            }
        guard case .bytes(let bytes) = response.content else { return }
        answers.append(ServedConnection.Answer(method: head.method.rawValue, response: response, bytes: bytes))
        for part in exchange.parts(of: response, bytes) { channel.write(part, promise: nil) }
        channel.flush()
        if isEnding || !exchange.keepsConnection { channel.close(promise: nil) }
    }

    /// The page's own files; for all else a document that says which answer it is.
    private func respond(to request: PageRequest) -> PageResponse {
        switch PageRoute(request) {
        case .asset(let asset): asset.response
        case .refused(let response): response
        default: .json(Data("[\(answers.count)]".utf8))
        }
    }
}
