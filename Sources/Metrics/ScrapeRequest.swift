/// A request over HTTP, as far as figures need it: no body, one answer, and the end (RFC 9112).
package struct ScrapeRequest: Hashable, Sendable {
    package var method: String
    /// Without what follows a question mark.
    package var path: String
    /// The value of `Accept`; empty where there is none.
    package var accept: String

    /// The longest request, in bytes, up to its empty line.
    package static let lengthMaximum = 8192

    /// What became of bytes.
    package enum Reading: Hashable, Sendable {
        /// The empty line has not come yet.
        case incomplete
        case complete(ScrapeRequest)
        /// It is none; the status says why.
        case refused(ScrapeStatus)
    }

    /// Reads the bytes that have come so far.
    package static func read(_ bytes: [UInt8]) -> Reading {
        guard let end = end(of: bytes) else {
            return bytes.count >= lengthMaximum ? .refused(.headersTooLarge) : .incomplete
        }
        guard end <= lengthMaximum else { return .refused(.headersTooLarge) }
        // Controls and bytes beyond ASCII have no business in the head of a request.
        let isPlain = bytes[..<end].allSatisfy { (0x20..<0x7F).contains($0) || [0x09, 0x0A, 0x0D].contains($0) }
        guard isPlain else { return .refused(.badRequest) }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
        guard let first = lines.first, !lines.contains(where: { $0.contains(where: \.isNewline) }) else {
            return .refused(.badRequest)
        }
        let words = first.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[1].first == "/" || words[1] == "*" else {
            return .refused(.badRequest)
        }
        guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
            return .refused(words[2].hasPrefix("HTTP/") ? .versionNotSupported : .badRequest)
        }
        var accept = ""
        for line in lines.dropFirst() where !line.isEmpty {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex, line[..<colon].allSatisfy(isOfToken) else {
                return .refused(.badRequest)
            }
            let value = trimmed(line[line.index(after: colon)...])
            switch line[..<colon].lowercased() {
            case "accept": accept += (accept.isEmpty ? "" : ", ") + value
            case "content-length" where value != "0": return .refused(.contentTooLarge)
            case "transfer-encoding": return .refused(.contentTooLarge)
            default: break
            }
        }
        let path = words[1].prefix { $0 != "?" && $0 != "#" }
        return .complete(ScrapeRequest(method: String(words[0]), path: String(path), accept: accept))
    }

    /// Behind the empty line; nil where that has not come.
    private static func end(of bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        for index in 0...(bytes.count - 4)
        where bytes[index] == 0x0D && bytes[index + 1] == 0x0A && bytes[index + 2] == 0x0D && bytes[index + 3] == 0x0A {
            return index + 4
        }
        return nil
    }

    private static func isOfToken(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "!#$%&'*+-.^_`|~".contains(character))
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}

/// How a request was answered.
package enum ScrapeStatus: Int, Hashable, Sendable, CaseIterable {
    case ok = 200
    case badRequest = 400
    case notFound = 404
    case methodNotAllowed = 405
    case requestTimeout = 408
    case contentTooLarge = 413
    case headersTooLarge = 431
    case versionNotSupported = 505

    /// What stands behind the number.
    var reason: String {
        switch self {
        case .ok: "OK"
        case .badRequest: "Bad Request"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .requestTimeout: "Request Timeout"
        case .contentTooLarge: "Content Too Large"
        case .headersTooLarge: "Request Header Fields Too Large"
        case .versionNotSupported: "HTTP Version Not Supported"
        }
    }
}
