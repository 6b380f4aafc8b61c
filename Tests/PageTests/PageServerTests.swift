import CLinux
import Foundation
import Glibc
import Testing

@testable import Page

/// A connection to a server of the test, on this machine.
final class TestConnection {
    private let socket: Int32

    init(port: UInt16) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { close(socket) }

    /// Sends bytes; false where the other end is closed.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    func endSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// What comes until the connection ends, or until a text is in it.
    func receive(until text: String? = nil) -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(socket, &chunk, chunk.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
            let received = String(decoding: bytes, as: UTF8.self)
            if let text, received.contains(text) { return received }
        }
    }
}

/// The server as browsers and worse meet it.
@Suite struct PageServerTests {
    /// Serves while `body` runs, which waits for the server on a thread of its own.
    private func serving(_ body: @escaping @Sendable (UInt16) throws -> Void) async throws {
        let server = try PageServer(port: 0) { request in
            switch request.path {
            case "/body": .json(request.body)
            default: PageAsset.all[request.path]?.response ?? .problem(404, "There is nothing at this address.")
            }
        }
        let (ports, continuation) = AsyncStream.makeStream(of: UInt16.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { continuation.yield($0) } }
            group.addTask {
                var iterator = ports.makeAsyncIterator()
                let port = try #require(await iterator.next())
                try await withCheckedThrowingContinuation { done in
                    Thread.detachNewThread { @Sendable in done.resume(with: Result { try body(port) }) }
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    private static func get(_ path: String, _ more: String = "") -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(more)\r\n".utf8)
    }

    @Test func thePageComesWithItsHeaders() async throws {
        try await serving { port in
            let connection = try TestConnection(port: port)
            connection.send(Self.get("/"))
            let page = connection.receive(until: "</html>")
            #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
            for header in RequestPolicy.headers { #expect(page.contains("\(header.name): \(header.value)\r\n")) }
            let validator = try #require(page.firstMatch(of: /ETag: (".*")\r\n/)?.output.1)
            // The same connection, and what the browser has already.
            connection.send(Self.get("/", "If-None-Match: \(validator)\r\nConnection: close\r\n"))
            let second = connection.receive()
            #expect(second.hasPrefix("HTTP/1.1 304 "))
            #expect(!second.contains("</html>"))
        }
    }

    @Test func nothingOfThePageComesFromElsewhere() throws {
        var sum = 0
        for (path, asset) in PageAsset.all {
            let text = String(decoding: asset.bytes, as: UTF8.self)
            sum += asset.bytes.count
            #expect(!text.contains(/https?:\/\/(?!www\.w3\.org\/2000\/svg)/), "\(path)")
            #expect(!text.contains("innerHTML") && !text.contains("eval("), "\(path)")
        }
        #expect(sum <= 150_000, "\(sum) bytes")
    }

    @Test func everyFileOfThePageIsServed() throws {
        let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let files = try FileManager.default.contentsOfDirectory(atPath: top.appendingPathComponent("Sources/Page/Assets").path)
        #expect(Set(files.map { $0 == "index.html" ? "/" : "/" + $0 }) == Set(PageAsset.all.keys))
    }

    @Test func aBodyThatNobodyReadsIsNoSecondRequest() async throws {
        try await serving { port in
            let connection = try TestConnection(port: port)
            let hidden = String(decoding: Self.get("/"), as: UTF8.self)
            let body = hidden + String(repeating: " ", count: 20_000)
            let head = "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            connection.send(Array((head + body).utf8))
            connection.endSending()
            let answer = connection.receive()
            #expect(answer.hasPrefix("HTTP/1.1 405 "))
            #expect(!answer.contains("</html>"))
        }
    }

    @Test func malformedRequestsEndTheirConnectionAndNothingElse() async throws {
        try await serving { port in
            var state: UInt64 = 20_261_126
            func random(_ bound: Int) -> Int {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int((state >> 33) % UInt64(bound))
            }
            let good = Self.get("/api/now?a=%41&b=1", "Content-Length: 3\r\nX: y\r\n") + Array("abc".utf8)
            let pieces = [
                "\r\n", "\n", "%", "%zz", "//", "/..", "?", "&", "=", "HTTP/9.9", ":", "\u{0}", "Content-Length: -1\r\n",
                "Content-Length: 99999999999999999999\r\n", "Transfer-Encoding: chunked\r\n", "ffffffffffffffff\r\n",
                "Upgrade: websocket\r\n", "Host: \r\n", "[::", "é",
            ]
            for _ in 0..<400 {
                var bytes = good
                for _ in 0...random(4) {
                    let index = random(bytes.count + 1)
                    switch random(4) {
                    case 0: bytes.insert(contentsOf: Array(pieces[random(pieces.count)].utf8), at: index)
                    case 1: bytes.insert(UInt8(random(256)), at: index)
                    case 2 where index < bytes.count: bytes.remove(at: index)
                    default: bytes.removeSubrange(index..<min(bytes.count, index + random(20)))
                    }
                }
                let connection = try TestConnection(port: port)
                connection.send(bytes)
                connection.endSending()
                let answer = connection.receive()
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 "))
            }
            let connection = try TestConnection(port: port)
            connection.send(Self.get("/"))
            #expect(connection.receive(until: "</html>").contains("</html>"))
        }
    }

    @Test func whoeverSendsWithoutEndIsEnded() async throws {
        try await serving { port in
            let connection = try TestConnection(port: port)
            connection.send(Array("GET / HTTP/1.1\r\nX: ".utf8))
            let kilobyte = [UInt8](repeating: UInt8(ascii: "a"), count: 1024)
            var sent = 0
            // The server looks once a second; a bound keeps the test from going on for ever.
            while sent < 1_000_000, connection.send(kilobyte) { sent += 1 }
            #expect(sent < 1_000_000)
        }
    }

    @Test func trafficIsThatOfTheKernel() throws {
        var (received, sent) = (Int64(-1), Int64(-1))
        #expect(clinux_tcp_traffic(STDERR_FILENO, &received, &sent) < 0)
        #expect(clinux_tcp_traffic(-1, &received, &sent) == -EBADF)
    }
}
