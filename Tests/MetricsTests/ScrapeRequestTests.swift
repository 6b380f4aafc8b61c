import Testing

@testable import Metrics

@Suite("Requests for figures")
struct ScrapeRequestTests {
    private static func read(_ text: String) -> ScrapeRequest.Reading { ScrapeRequest.read(Array(text.utf8)) }

    private static func answer(_ text: String) -> String {
        String(decoding: ScrapeAnswer(to: read(text)) { _ in "figures\n" }.bytes, as: UTF8.self)
    }

    private static let sound =
        "GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\nAccept: text/plain\r\naccept:application/openmetrics-text\r\n\r\n"

    @Test("A request is complete with its empty line, and not before")
    func pieces() {
        let bytes = Array(Self.sound.utf8)
        for length in bytes.indices { #expect(ScrapeRequest.read(Array(bytes[..<length])) == .incomplete) }
        let expected = ScrapeRequest(method: "GET", path: "/metrics", accept: "text/plain, application/openmetrics-text")
        #expect(Self.read(Self.sound) == .complete(expected))
    }

    @Test(
        "What is no request is refused",
        arguments: [
            ("GET /\r\n\r\n", ScrapeStatus.badRequest), ("GET  / HTTP/1.1\r\n\r\n", .badRequest), ("\r\n\r\n", .badRequest),
            ("GET metrics HTTP/1.1\r\n\r\n", .badRequest), ("GET / HTTP/2.0\r\n\r\n", .versionNotSupported),
            ("GET / FTP/1.1\r\n\r\n", .badRequest), ("GET / HTTP/1.1\nHost: a\r\n\r\n", .badRequest),
            ("GET / HTTP/1.1\r\nHost a\r\n\r\n", .badRequest), ("GET / HTTP/1.1\r\n: a\r\n\r\n", .badRequest),
            ("GET / HTTP/1.1\r\nA b: a\r\n\r\n", .badRequest), ("GET / HTTP/1.1\r\nA: \u{1}\r\n\r\n", .badRequest),
            ("GET /\u{E9} HTTP/1.1\r\n\r\n", .badRequest),
            ("POST /metrics HTTP/1.1\r\nContent-Length: 5\r\n\r\n", .contentTooLarge),
            ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", .contentTooLarge),
            ("\u{16}\u{3}\u{1}\u{2}\r\n\r\n", .badRequest),
        ])
    func refused(text: String, status: ScrapeStatus) {
        #expect(Self.read(text) == .refused(status))
        #expect(Self.answer(text).hasPrefix("HTTP/1.1 \(status.rawValue) "))
    }

    @Test("A request has a bounded length")
    func length() {
        let long = "GET / HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 2000)
        #expect(ScrapeRequest.read(Array(long.utf8.prefix(ScrapeRequest.lengthMaximum - 1))) == .incomplete)
        #expect(Self.read(long) == .refused(.headersTooLarge))
        #expect(Self.read(long + "\r\n") == .refused(.headersTooLarge))
    }

    @Test("Answers have their length, end the connection, and say what may be asked for")
    func answers() {
        let figures = Self.answer(Self.sound)
        #expect(figures.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0"))
        #expect(figures.contains("\r\nContent-Length: 8\r\nConnection: close\r\n") && figures.hasSuffix("\r\n\r\nfigures\n"))
        let head = Self.answer("HEAD /metrics HTTP/1.0\r\n\r\n")
        #expect(head.contains("Content-Length: 8") && head.hasSuffix("\r\n\r\n"))
        #expect(Self.answer("GET /other HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        #expect(Self.answer("DELETE /metrics HTTP/1.1\r\n\r\n").contains("\r\nAllow: GET, HEAD\r\n\r\n405"))
    }

    @Test("However a request is spoiled, it is answered, and an answer is well-formed")
    func spoiled() {
        var state: UInt64 = 11
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var refused = 0
        for _ in 0..<20_000 {
            var bytes = Array(Self.sound.utf8)
            for _ in 0...next(4) {
                switch next(3) {
                case 0: bytes[next(bytes.count)] = UInt8(next(256))
                case 1: bytes.remove(at: next(bytes.count))
                default: bytes.insert(UInt8(next(256)), at: next(bytes.count))
                }
            }
            let reading = ScrapeRequest.read(bytes)
            if case .refused = reading { refused += 1 }
            let answer = ScrapeAnswer(to: reading) { _ in "" }.bytes
            #expect(answer.starts(with: Array("HTTP/1.1 ".utf8)))
        }
        #expect(refused > 1000)
    }
}
