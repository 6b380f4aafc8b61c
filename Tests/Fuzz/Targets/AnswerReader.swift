import Page

/// Reads what a browser received, by the rules of HTTP and not by the program's (RFC 9112, section 6).
struct AnswerReader {
    /// One answer.
    struct Received: Equatable {
        var status: Int
        /// Lines of the head behind the first.
        var lines: [String]
        var content: [UInt8]

        /// The values of a header.
        func values(_ name: String) -> [String] {
            lines.filter { $0.lowercased().hasPrefix(name.lowercased() + ": ") }.map { String($0.dropFirst(name.count + 2)) }
        }

        /// A header of every answer that this one has not, or not once; nil for none.
        var missingHeader: String? { RequestPolicy.headers.first { values($0.name) != [$0.value] }?.name }
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// The next answer; nil for what is none, or is not complete.
    ///
    /// - Parameter method: of the request that is answered: content follows no answer to HEAD.
    mutating func next(to method: String) -> Received? {
        let mark = Array("\r\n\r\n".utf8)
        guard let end = rest.indices.first(where: { rest[$0...].starts(with: mark) }) else { return nil }
        var lines = String(decoding: rest[..<end], as: UTF8.self).split(separator: "\r\n").map(String.init)
        let words = lines.removeFirst().split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
        var received = Received(status: status, lines: lines, content: [])
        rest = rest[(end + 4)...]
        if method == "HEAD" || status == 304 { return received }
        guard let text = received.values("Content-Length").first, let length = Int(text), length <= rest.count else {
            return nil
        }
        received.content = Array(rest.prefix(length))
        rest = rest.dropFirst(length)
        return received
    }
}
