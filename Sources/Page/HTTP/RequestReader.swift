import Foundation
import NIOCore
package import NIOHTTP1

/// Reads the requests of one connection, one after the other, each to its end, refused or not: what is left of it would be
/// taken for the next. Pure.
package struct RequestReader {
    private let policy: RequestPolicy
    private var head: HTTPRequestHead?
    private var body = Data()
    private var isTooLong = false

    /// How many bytes of a body are held.
    package var heldCount: Int { body.count }

    package init(policy: RequestPolicy) {
        self.policy = policy
    }

    /// Takes the next part; returns what is to be answered once a request is complete. One that never ends is none.
    package mutating func read(_ part: HTTPServerRequestPart) -> PageExchange? {
        switch part {
        case .head(let new):
            (head, body, isTooLong) = (new, Data(), false)
        case .body(let bytes):
            isTooLong = isTooLong || body.count + bytes.readableBytes > RequestPolicy.bodyMaximum
            if isTooLong { body = Data() } else { body.append(contentsOf: bytes.readableBytesView) }
        case .end:
            guard let head else { return nil }
            defer { (self.head, body) = (nil, Data()) }
            return PageExchange(head: head, asked: asked(head))
        }
        return nil
    }

    private func asked(_ head: HTTPRequestHead) -> PageExchange.Asked {
        guard head.uri.hasPrefix("/"), let components = URLComponents(string: "http://localhost" + head.uri),
            components.path.hasPrefix("/")
        else { return .refused(.problem(400, "The address is malformed.")) }
        // Several lines of one name are one list (RFC 9110, section 5.3).
        let headers = Dictionary(
            head.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
        let query = Dictionary(
            (components.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first })
        let request = PageRequest(
            method: head.method.rawValue, path: components.path, query: query, headers: headers, body: body)
        if let refusal = policy.refusal(request, targetLength: head.uri.utf8.count) { return .refused(refusal) }
        return isTooLong ? .refused(.problem(413, "The request is too long.")) : .request(request)
    }
}
