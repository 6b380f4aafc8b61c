package import Foundation
import NIOCore
package import NIOHTTP1

/// A complete request, and the parts of HTTP that answer it. Pure.
package struct PageExchange {
    /// What was asked for.
    package enum Asked {
        /// What the policy allows.
        case request(PageRequest)
        /// What is answered at once, and by nobody else.
        case refused(PageResponse)
    }

    package let asked: Asked
    private let head: HTTPRequestHead

    init(head: HTTPRequestHead, asked: Asked) {
        self.head = head
        self.asked = asked
    }

    /// The answer to what is no request at all.
    static let malformed: [HTTPServerResponsePart] = {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Connection": "close"])
        let response = PageResponse.problem(400, "The request is malformed.")
        guard case .bytes(let bytes) = response.content else { return [] }
        return PageExchange(head: head, asked: .refused(response)).parts(of: response, bytes)
    }()

    /// False where the connection ends with the answer: the browser wants that, or speaks something else from now on, which
    /// nobody here understands.
    package var keepsConnection: Bool {
        head.isKeepAlive && head.method != .CONNECT && !head.headers.contains(name: "Upgrade")
    }

    /// False where no content may follow a head (RFC 9110, sections 9.3.2 and 15.4.5): it would be taken for the next answer.
    func sendsContent(of response: PageResponse) -> Bool { head.method != .HEAD && !isKnown(response) }

    /// All parts of an answer whose content is in memory.
    package func parts(of response: PageResponse, _ bytes: Data) -> [HTTPServerResponsePart] {
        let head = self.head(of: response, byteCount: bytes.count)
        guard sendsContent(of: response) else { return [.head(head), .end(nil)] }
        return [.head(head), .body(.byteBuffer(ByteBuffer(bytes: bytes))), .end(nil)]
    }

    /// The head of an answer with as many bytes of content.
    func head(of response: PageResponse, byteCount: Int) -> HTTPResponseHead {
        let isKnown = isKnown(response)
        var headers = HTTPHeaders(RequestPolicy.headers.map { ($0.name, $0.value) })
        headers.add(name: "Content-Type", value: response.type)
        if !isKnown { headers.add(name: "Content-Length", value: String(byteCount)) }
        if let validator = response.validator { headers.add(name: "ETag", value: validator) }
        headers.add(name: "Cache-Control", value: response.validator == nil ? "no-store" : "no-cache")
        if case .file(_, let name) = response.content {
            headers.add(name: "Content-Disposition", value: "attachment; filename=\"\(name)\"")
        }
        if !keepsConnection { headers.add(name: "Connection", value: "close") }
        let status = isKnown ? HTTPResponseStatus.notModified : HTTPResponseStatus(statusCode: response.status)
        return HTTPResponseHead(version: head.version, status: status, headers: headers)
    }

    /// Whether the browser has it already.
    private func isKnown(_ response: PageResponse) -> Bool {
        response.validator.map { head.headers.first(name: "If-None-Match") == $0 } ?? false
    }
}
