import Foundation
import Synchronization
import Testing

@testable import Page

/// The server as browsers and worse meet it.
@Suite struct PageServerTests {
    /// Serves while `body` runs, which waits for the server on a thread of its own.
    private func serving(
        _ bounds: ConnectionLimits.Bounds = ConnectionLimits.Bounds(), _ body: @escaping @Sendable (UInt16) throws -> Void
    ) async throws {
        let server = PageServer(port: 0, bounds: bounds) { request in
            switch request.path {
            case "/file": PageResponse(type: "text/plain", content: .file(path: #filePath, name: "source.swift"))
            case "/body": .json(request.body)
            case "/long": PageResponse(type: "text/plain", content: .bytes(Data(repeating: 0x41, count: Self.longCount)))
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

    /// More than the kernel takes at once.
    private static let longCount = 16_000_000

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

    @Test(arguments: [true, false])
    func whatIsNoRequestIsAnsweredOnceAndNotBehindTheLastAnswer(isBehind: Bool) async throws {
        try await serving { port in
            let connection = try TestConnection(port: port)
            connection.send((isBehind ? Self.get("/body", "Connection: close\r\n") : []) + Array("no HTTP\r\n\r\n".utf8))
            let answer = connection.receive()
            #expect(answer.hasPrefix(isBehind ? "HTTP/1.1 200 " : "HTTP/1.1 400 "))
            #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2)
            for header in RequestPolicy.headers { #expect(answer.contains("\(header.name): \(header.value)\r\n")) }
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

    @Test func oneConnectionTooManyIsEnded() async throws {
        try await serving(ConnectionLimits.Bounds(connections: 2)) { port in
            let (first, second) = (try TestConnection(port: port), try TestConnection(port: port))
            for connection in [first, second] {
                connection.send(Self.get("/"))
                #expect(connection.receive(until: "</html>").contains("</html>"))
            }
            let third = try TestConnection(port: port)
            #expect(third.receive() == "")
            first.send(Self.get("/"))
            #expect(first.receive(until: "</html>").contains("</html>"))
        }
    }

    @Test func aFileIsSentWhole() async throws {
        try await serving { port in
            let connection = try TestConnection(port: port)
            connection.send(Self.get("/file", "Connection: close\r\n"))
            let received = connection.receive()
            let source = try String(contentsOfFile: #filePath, encoding: .utf8)
            #expect(received.hasSuffix("\r\n\r\n" + source))
            #expect(received.contains("Content-Disposition: attachment; filename=\"source.swift\"\r\n"))
            #expect(received.contains("Content-Length: \(source.utf8.count)\r\n"))
        }
    }

    @Test func aLongAnswerIsSentWholeBeforeTheConnectionEnds() async throws {
        try await serving { port in
            let connection = try TestConnection(port: port)
            connection.send(Self.get("/long", "Connection: close\r\n"))
            let received = connection.receive()
            #expect(received.utf8.count(where: { $0 == 0x41 }) >= Self.longCount, "\(received.utf8.count) bytes")
        }
    }

    @Test func requestsAtOnceAreAnsweredInTheirOrder() async throws {
        try await serving { port in
            let connection = try TestConnection(port: port)
            connection.send(Self.get("/nothing") + Self.get("/", "Connection: close\r\n"))
            let received = connection.receive()
            #expect(received.hasPrefix("HTTP/1.1 404 "))
            #expect(received.hasSuffix("</html>\n"))
        }
    }

    @Test func whatIsThrownEachSecondEndsTheServing() async {
        struct End: Error {}
        let server = PageServer(port: 0) { _ in .problem(404, "") }
        await #expect(throws: End.self) { try await server.run(everySecond: { throw End() }, ready: { _ in }) }
    }

    @Test func aPortInUseIsSaid() async throws {
        try await serving { port in
            let done = DispatchSemaphore(value: 0)
            let failure = Mutex<(any Error)?>(nil)
            Task {
                do { try await PageServer(port: port) { _ in .problem(404, "") }.run { _ in } } catch {
                    failure.withLock { $0 = error }
                }
                done.signal()
            }
            done.wait()
            #expect(failure.withLock { $0 as? PageServerError } == .portInUse(port: port))
        }
    }
}
