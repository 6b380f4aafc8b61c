import Foundation
import Glibc
import Synchronization

/// A real HTTP server of this machine that keeps what is posted to it, and answers as it is set to.
final class PostServer: Sendable {
    /// What it does with a request.
    enum Answer: Hashable {
        case status(Int)
        /// It reads the request and closes the connection.
        case none
    }

    /// What was posted.
    struct Request: Hashable {
        var path: String
        var headers: [String]
        var body: String

        func json() throws -> [String: Any] {
            try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] ?? [:]
        }
    }

    let port: UInt16
    private let socket: Int32
    private let state: Mutex<(answer: Answer, requests: [Request])>

    var requests: [Request] { state.withLock { $0.requests } }

    init(_ answer: Answer = .status(200)) throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, length) == 0 && listen(socket, 16) == 0 && getsockname(socket, address, &length) == 0
            }
        }
        guard isBound else { throw CocoaError(.featureUnsupported) }
        self.socket = socket
        port = UInt16(bigEndian: address.sin_port)
        state = Mutex((answer, []))
        Thread.detachNewThread { @Sendable [weak self] in
            while true {
                let connection = accept(socket, nil, nil)
                guard connection >= 0, let self else { return }
                serve(connection)
            }
        }
    }

    deinit {
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    func set(_ answer: Answer) { state.withLock { $0.answer = answer } }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while request(bytes) == nil {
            let count = read(connection, &chunk, chunk.count)
            guard count > 0 else { return }
            bytes += chunk[..<count]
        }
        let answer = state.withLock { state in
            if let request = request(bytes) { state.requests.append(request) }
            return state.answer
        }
        guard case .status(let status) = answer else { return }
        let text = Array("HTTP/1.1 \(status) Any\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".utf8)
        _ = write(connection, text, text.count)
    }

    /// The whole request, or nil while some of it is still to come.
    private func request(_ bytes: [UInt8]) -> Request? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        let body = String(text[end.upperBound...])
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }.flatMap {
            Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces))
        }
        guard body.utf8.count >= length ?? 0 else { return nil }
        return Request(
            path: lines[0].components(separatedBy: " ").dropFirst().first ?? "", headers: Array(lines.dropFirst()), body: body)
    }
}
