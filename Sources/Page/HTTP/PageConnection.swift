import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// One browser's connection: requests in, responses out, one after the other, between SwiftNIO's words and the page's.
struct PageConnection: Sendable {
    private typealias Reader = NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    private typealias Writer = NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>

    /// How much of a file is in memory at a time.
    private static let chunkBytes = 65_536

    private let channel: NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>
    private let policy: RequestPolicy
    private let respond: PageServer.Respond

    init(_ channel: any Channel, policy: RequestPolicy, respond: @escaping PageServer.Respond) throws {
        self.channel = try NIOAsyncChannel(wrappingChannelSynchronously: channel)
        self.policy = policy
        self.respond = respond
    }

    /// Answers until either side ends the connection. What goes wrong on it ends it, and nothing else.
    func run() async {
        do {
            try await channel.executeThenClose { inbound, outbound in
                var parts = inbound.makeAsyncIterator()
                while case .head(let head)? = try await parts.next() {
                    let response = try await response(to: head, &parts)
                    try await send(response, to: head, outbound)
                    guard head.isKeepAlive else { break }
                }
            }
        } catch {
            // Nobody is left to say it to: the connection is closed.
        }
    }

    /// What a request is answered; reads it to its end, refused or not, since what is left of it would be taken for the next.
    private func response(to head: HTTPRequestHead, _ parts: inout Reader) async throws -> PageResponse {
        var body = Data()
        var isTooLong = false
        // Bounded by ConnectionLimits.
        while case .body(let bytes)? = try await parts.next() {
            isTooLong = isTooLong || body.count + bytes.readableBytes > RequestPolicy.bodyMaximum
            if !isTooLong { body.append(contentsOf: bytes.readableBytesView) }
        }
        guard head.uri.hasPrefix("/"), let components = URLComponents(string: "http://localhost" + head.uri) else {
            return .problem(400, "The address is malformed.")
        }
        let headers = Dictionary(
            head.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
        let query = Dictionary(
            (components.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first })
        let request = PageRequest(
            method: head.method.rawValue, path: components.path, query: query, headers: headers, body: body)
        if let refusal = policy.refusal(request, targetLength: head.uri.utf8.count) { return refusal }
        return isTooLong ? .problem(413, "The request is too long.") : await respond(request)
    }

    private func send(_ response: PageResponse, to request: HTTPRequestHead, _ outbound: Writer) async throws {
        let isKnown = response.validator.map { request.headers.first(name: "If-None-Match") == $0 } ?? false
        let status = isKnown ? HTTPResponseStatus.notModified : HTTPResponseStatus(statusCode: response.status)
        switch response.content {
        case .bytes(let bytes):
            let body = isKnown ? ByteBuffer() : ByteBuffer(bytes: bytes)
            let head = head(status, of: response, to: request, bytes: body.readableBytes)
            try await outbound.write(contentsOf: [.head(head), .body(.byteBuffer(body)), .end(nil)])
        case .file(let path, _):
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            var left = Int(try file.seekToEnd())
            try file.seek(toOffset: 0)
            try await outbound.write(.head(head(status, of: response, to: request, bytes: left)))
            while left > 0, let chunk = try file.read(upToCount: min(left, Self.chunkBytes)), !chunk.isEmpty {
                left -= chunk.count
                try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: chunk))))
            }
            // A file that has become shorter: what is missing cannot be sent, and the browser must notice.
            guard left == 0 else { throw CocoaError(.fileReadUnknown) }
            try await outbound.write(.end(nil))
        }
    }

    private func head(
        _ status: HTTPResponseStatus, of response: PageResponse, to request: HTTPRequestHead, bytes: Int
    ) -> HTTPResponseHead {
        var headers = HTTPHeaders(RequestPolicy.headers.map { ($0.name, $0.value) })
        headers.add(name: "Content-Type", value: response.type)
        if status != .notModified { headers.add(name: "Content-Length", value: String(bytes)) }
        if let validator = response.validator { headers.add(name: "ETag", value: validator) }
        headers.add(name: "Cache-Control", value: response.validator == nil ? "no-store" : "no-cache")
        if case .file(_, let name) = response.content {
            headers.add(name: "Content-Disposition", value: "attachment; filename=\"\(name)\"")
        }
        if !request.isKeepAlive { headers.add(name: "Connection", value: "close") }
        return HTTPResponseHead(version: request.version, status: status, headers: headers)
    }
}
