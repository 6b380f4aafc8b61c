import FlyingFox
import FlyingSocks
import Foundation
import Glibc

/// The HTTP server of the page: this machine's loopback, requests as the policy allows them, and the headers that keep the
/// page to itself. The only file that knows of FlyingFox, but for ``ConnectionGuard``.
package final class PageServer: Sendable {
    /// Answers a request. May take its time: each runs by itself.
    package typealias Respond = @Sendable (PageRequest) async -> PageResponse

    private let server: HTTPServer
    private let connections: ConnectionGuard

    /// - Parameters:
    ///   - port: of 127.0.0.1; 0 for any that is free.
    ///   - policy: which requests are answered.
    ///   - respond: answers them.
    package init(port: UInt16, policy: RequestPolicy = RequestPolicy(), respond: @escaping Respond) throws(PageServerError) {
        connections = ConnectionGuard()
        do {
            let address = try sockaddr_in.inet(ip4: "127.0.0.1", port: port)
            server = HTTPServer(
                config: HTTPServer.Configuration(
                    address: address, timeout: 60, sharedRequestBufferSize: 4096, sharedRequestReplaySize: 65_536,
                    pool: connections, logger: .disabled),
                handler: PageHandler(policy: policy, respond: respond))
        } catch {
            throw .cannotListen(port: port, reason: error.localizedDescription)
        }
        self.port = port
    }

    private let port: UInt16

    /// Serves until the task is cancelled.
    ///
    /// - Parameters:
    ///   - everySecond: called once a second.
    ///   - ready: called with the port once connections are accepted.
    /// - Throws: ``PageServerError``.
    package func run(everySecond: @escaping @Sendable () -> Void = {}, ready: @escaping @Sendable (UInt16) -> Void) async throws
    {
        let (server, connections, port) = (server, connections, port)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                group.addTask {
                    try await server.waitUntilListening()
                    if case .ip4(_, let port)? = await server.listeningAddress { ready(port) }
                    while true {
                        try await Task.sleep(for: .seconds(1))
                        connections.inspect()
                        everySecond()
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch let error as SocketError {
            throw PageServerError(error, port: port)
        }
    }
}

/// Why the page is not served.
package enum PageServerError: Error, Hashable {
    /// Another program listens at the port.
    case portInUse(port: UInt16)
    /// The system refuses it.
    case cannotListen(port: UInt16, reason: String)

    fileprivate init(_ error: SocketError, port: UInt16) {
        if case .failed(_, EADDRINUSE, _) = error {
            self = .portInUse(port: port)
        } else {
            self = .cannotListen(port: port, reason: error.localizedDescription)
        }
    }
}

/// Between FlyingFox's words and the page's.
private struct PageHandler: HTTPHandler {
    let policy: RequestPolicy
    let respond: PageServer.Respond

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        var headers: [String: String] = [:]
        for (name, value) in request.headers where headers[name.rawValue.lowercased()] == nil {
            headers[name.rawValue.lowercased()] = value
        }
        var asked = PageRequest(
            method: request.method.rawValue, path: request.path,
            query: Dictionary(request.query.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }),
            headers: headers)
        if let refusal = policy.refusal(asked, targetLength: request.target.rawValue.utf8.count) {
            return closing(refusal, request)
        }
        if request.bodySequence.count ?? .max > RequestPolicy.bodyMaximum {
            return closing(.problem(413, "The request is too long."), request)
        }
        asked.body = try await request.bodyData
        let response = await respond(asked)
        if let validator = response.validator, headers["if-none-match"] == validator {
            return HTTPResponse(statusCode: .notModified, headers: self.headers(of: response))
        }
        switch response.content {
        case .bytes(let bytes):
            return HTTPResponse(statusCode: status(response.status), headers: self.headers(of: response), body: bytes)
        case .file(let path, _):
            let body = try HTTPBodySequence(file: URL(fileURLWithPath: path), suggestedBufferSize: 65_536)
            return HTTPResponse(statusCode: status(response.status), headers: self.headers(of: response), body: body)
        }
    }

    /// A response behind which the connection ends where the request has a body that nobody reads: what is left of it would be
    /// taken for the next request.
    private func closing(_ response: PageResponse, _ request: HTTPRequest) -> HTTPResponse {
        guard case .bytes(let bytes) = response.content else { return HTTPResponse(statusCode: .internalServerError) }
        let headers = headers(of: response)
        if request.bodySequence.count == 0 {
            return HTTPResponse(statusCode: status(response.status), headers: headers, body: bytes)
        }
        let body = HTTPBodySequence(from: LastBytes(bytes: Array(bytes)), count: bytes.count)
        return HTTPResponse(statusCode: status(response.status), headers: headers, body: body)
    }

    private func headers(of response: PageResponse) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for (name, value) in RequestPolicy.headers { headers.addValue(value, for: HTTPHeader(name)) }
        headers[.contentType] = response.type
        if let validator = response.validator { headers[.eTag] = validator }
        headers[.cacheControl] = response.validator == nil ? "no-store" : "no-cache"
        if case .file(_, let name) = response.content {
            headers[.contentDisposition] = "attachment; filename=\"\(name)\""
        }
        return headers
    }

    private func status(_ code: Int) -> HTTPStatusCode {
        HTTPStatusCode(code, phrase: Self.phrases[code] ?? "Status")
    }

    private static let phrases = [
        200: "OK", 202: "Accepted", 304: "Not Modified", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 409: "Conflict", 413: "Content Too Large", 414: "URI Too Long", 421: "Misdirected Request",
        500: "Internal Server Error", 503: "Service Unavailable", 507: "Insufficient Storage",
    ]
}

/// The bytes of a response after which nothing can follow on its connection.
private struct LastBytes: AsyncBufferedSequence {
    typealias Element = UInt8
    let bytes: [UInt8]

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...]) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        var rest: ArraySlice<UInt8>

        mutating func next() async throws -> UInt8? {
            guard let byte = rest.popFirst() else { throw SocketError.disconnected }
            return byte
        }

        mutating func nextBuffer(suggested count: Int) async throws -> ArraySlice<UInt8>? {
            guard !rest.isEmpty else { throw SocketError.disconnected }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
    }
}
