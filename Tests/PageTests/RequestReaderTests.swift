import Foundation
import NIOCore
import NIOHTTP1
import Testing

@testable import Page

/// From parts of HTTP to requests, and back.
@Suite struct RequestReaderTests {
    private static let local = [("Host", "localhost")]
    private var reader = RequestReader(policy: RequestPolicy())

    /// Gives a whole request, with a body in pieces of as many bytes.
    private mutating func read(
        _ method: HTTPMethod = .GET, _ target: String = "/api/now", _ more: [(String, String)] = [], pieces: [Int] = []
    ) throws -> PageExchange {
        let headers = HTTPHeaders(Self.local + more)
        let head = reader.read(.head(HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers)))
        let body = pieces.map { reader.read(.body(ByteBuffer(repeating: 0x41, count: $0))) }
        #expect(head == nil && body.allSatisfy { $0 == nil })
        let exchange = reader.read(.end(nil))
        return try #require(exchange)
    }

    private func status(_ exchange: PageExchange) -> Int {
        if case .refused(let response) = exchange.asked { response.status } else { 200 }
    }

    private func content(_ exchange: PageExchange, _ response: PageResponse) -> Int {
        exchange.parts(of: response, Data("{}".utf8)).reduce(0) { sum, part in
            if case .body(.byteBuffer(let bytes)) = part { sum + bytes.readableBytes } else { sum }
        }
    }

    @Test mutating func aRequestIsReadToItsEnd() throws {
        guard case .request(let request) = try read(.GET, "/a%20b?x=1&x=2&y", pieces: [2, 1]).asked else {
            Issue.record("it is refused")
            return
        }
        #expect(request.path == "/a b")
        #expect(request.query == ["x": "1", "y": ""])
        #expect(request.body == Data("AAA".utf8))
    }

    @Test mutating func anEndWithoutARequestIsNothing() {
        let exchange = reader.read(.end(nil))
        #expect(exchange == nil)
    }

    @Test mutating func ofALongBodyNothingIsKept() throws {
        let control = [("X-Eegsync-Control", "1"), ("Content-Type", "application/json")]
        let (longest, longer) = (
            try read(.POST, "/api/control", control, pieces: [RequestPolicy.bodyMaximum]),
            try read(.POST, "/api/control", control, pieces: [RequestPolicy.bodyMaximum, 1])
        )
        #expect(status(longest) == 200)
        #expect(status(longer) == 413)
        _ = reader.read(.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/", headers: [:])))
        _ = reader.read(.body(ByteBuffer(repeating: 0, count: RequestPolicy.bodyMaximum)))
        #expect(reader.heldCount == RequestPolicy.bodyMaximum)
        _ = reader.read(.body(ByteBuffer(repeating: 0, count: 1)))
        #expect(reader.heldCount == 0)
    }

    @Test(arguments: ["", "*", "localhost:80", "http://localhost/", "/%ff"])
    mutating func anAddressThatIsNoneIsRefused(target: String) throws {
        let exchange = try read(.GET, target)
        #expect(status(exchange) == 400)
    }

    /// The server once looked at the first of them alone.
    @Test(arguments: [("Host", "localhost", 421), ("Host", "evil.example", 421), ("Sec-Fetch-Site", "cross-site", 403)])
    mutating func aHeaderThatComesTwiceIsNoOneOfThem(name: String, value: String, status expected: Int) throws {
        let more = name == "Host" ? [(name, value)] : [(name, "none"), (name, value)]
        let exchange = try read(.GET, "/", more)
        #expect(status(exchange) == expected)
    }

    /// What follows the head of an answer to HEAD is taken for the next answer.
    @Test mutating func headIsRefusedWithoutContent() throws {
        let exchange = try read(.HEAD)
        guard case .refused(let response) = exchange.asked else {
            Issue.record("it is answered")
            return
        }
        #expect(response.status == 405)
        #expect(content(exchange, response) == 0)
        let other = try read(.PUT)
        #expect(content(other, response) == 2)
    }

    @Test mutating func whatTheBrowserHasIsNotSentAgain() throws {
        var response = PageResponse.json(Data("{}".utf8))
        response.validator = "\"1\""
        let (same, other) = (
            try read(.GET, "/", [("If-None-Match", "\"1\"")]), try read(.GET, "/", [("If-None-Match", "\"2\"")])
        )
        #expect(content(same, response) == 0)
        #expect(content(other, response) == 2)
    }

    /// SwiftNIO reads nothing more behind these: without an end, the browser waited for a minute.
    @Test mutating func aConnectionThatIsToBecomeAnotherEnds() throws {
        let kept = try read()
        let others = [
            try read(.GET, "/", [("Connection", "close")]), try read(.CONNECT, "localhost:80"),
            try read(.GET, "/", [("Connection", "upgrade"), ("Upgrade", "websocket")]),
        ]
        #expect(kept.keepsConnection && others.allSatisfy { !$0.keepsConnection })
    }
}
