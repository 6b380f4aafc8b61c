import Page

/// A request of the page, with its bytes, and what must be answered.
struct FuzzedRequest {
    /// As it is sent.
    let bytes: [UInt8]
    /// The status of the answer; nil where that is not known.
    let status: Int?
    /// Whether the connection ends with the answer.
    let isLast: Bool

    private static let targets: [(target: String, status: Int)] = [
        ("/", 200), ("/api/now", 200), ("/api/nothing", 404),
        ("/api/recordings/1/rows?stream=1&from_ms=0&to_ms=1000", 200),
    ]

    /// - Parameters:
    ///   - shape: of five bits: something is done; which target (two); another method; in chunks.
    ///   - input: what comes next says the length of the content, how the head differs, and a word that is put into it.
    init(_ shape: Int, _ input: inout FuzzInput) {
        let (length, kind, word) = (input.byte() * 80, input.byte(), input.byte())
        let isPost = shape & 1 == 1
        let (target, status) = isPost ? ("/api/control", 200) : Self.targets[shape >> 1 & 3]
        let method = shape & 8 == 0 ? (isPost ? "POST" : "GET") : (isPost ? "PUT" : "HEAD")
        let isForeign = kind & 1 == 1
        var head = "\(method) \(target) HTTP/1.1\r\nHost: \(isForeign ? "evil.example" : "localhost:8580")\r\n"
        if isPost { head += "Origin: http://localhost:8580\r\nX-Eegsync-Control: 1\r\nContent-Type: application/json\r\n" }
        if kind & 2 == 2 { head += "Connection: close\r\n" }
        if kind & 4 == 4, let validator = PageAsset.all["/"]?.validator { head += "If-None-Match: \(validator)\r\n" }
        if word > 0 { head += String(decoding: RequestWords.all[word % RequestWords.all.count], as: UTF8.self) }
        let wish = Array(#"{"action": "mark", "text": ""#.utf8)
        let content = length == 0 && !isPost ? [] : wish + [UInt8](repeating: 0x41, count: length) + Array("\"}".utf8)
        if shape & 16 == 16 {
            head += "Transfer-Encoding: chunked\r\n\r\n"
            let chunk = content.isEmpty ? "" : "\(String(content.count, radix: 16))\r\n"
            bytes = Array((head + chunk).utf8) + content + Array((content.isEmpty ? "0\r\n\r\n" : "\r\n0\r\n\r\n").utf8)
        } else {
            bytes = Array("\(head)Content-Length: \(content.count)\r\n\r\n".utf8) + content
        }
        isLast = kind & 2 == 2
        if word > 0 {
            self.status = nil
        } else if shape & 8 == 8 {
            self.status = 405
        } else if isForeign {
            self.status = 421
        } else {
            self.status = content.count > RequestPolicy.bodyMaximum ? 413 : status
        }
    }
}

/// Words of HTTP and of the page, for a fuzzer that would have to guess them letter by letter.
enum RequestWords {
    static let all: [[UInt8]] = [
        "\r\n", "GET / HTTP/1.1\r\n", "POST /api/control HTTP/1.1\r\n", "HEAD / HTTP/1.1\r\n",
        "CONNECT localhost:1 HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "Host: localhost\r\n", "Host: evil.example\r\n",
        "Origin: http://localhost:8580\r\n", "Origin: http://evil.example\r\n", "X-Eegsync-Control: 1\r\n",
        "Content-Type: application/json\r\n", "Content-Type: text/plain\r\n", "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Mode: navigate\r\n", "Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n", "a\r\n0123456789\r\n",
        "0\r\n\r\n", "Connection: close\r\n", "Connection: upgrade\r\nUpgrade: websocket\r\n", "Expect: 100-continue\r\n",
        "If-None-Match: *\r\n", "Trailer: Host\r\n", " HTTP/1.0\r\n", "GET /api/recordings/1/columns?stream=1",
        "&from_ms=0&to_ms=1e300", "&to_ms=0.0000009&from_ms=0.0000001&columns=4096", "%00", "%ff", "//localhost@[::1]:8580/..",
        "{\"recording\": 1, \"format\": \"csv\"}",
    ].map { Array($0.utf8) }
}
