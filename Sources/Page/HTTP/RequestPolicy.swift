/// Which requests are answered at all, before anything looks at what they ask for. Pure.
///
/// The page has no cookies and no sessions, so nothing can be done in somebody's name. What a foreign page in the same browser
/// could still try: to read through a name of its own that it lets point here (DNS rebinding, kept out by the `Host` header),
/// and to have something done by a form or a script (kept out by `Sec-Fetch-Site`, `Origin`, and a header that browsers let
/// foreign scripts send only after they have asked, which is never granted).
package struct RequestPolicy: Hashable, Sendable {
    /// The most bytes behind the head of a request.
    package static let bodyMaximum = 16_384
    /// The most bytes of a path with its parameters.
    package static let targetMaximum = 2048
    /// Must stand in every request that has something done.
    package static let controlHeader = "x-eegsync-control"

    /// The names under which the page may be reached, in lower case, without port.
    package var hosts: Set<String>

    /// - Parameter more: names besides those of this machine's loopback, such as that of a reverse proxy.
    package init(more: [String] = []) {
        hosts = Set(["localhost", "127.0.0.1", "[::1]"] + more.map { $0.lowercased() })
    }

    /// Why a request is not answered; nil where it is.
    package func refusal(_ request: PageRequest, targetLength: Int) -> PageResponse? {
        guard request.method == "GET" || request.method == "POST" else {
            return .problem(405, "The page knows GET and POST only.")
        }
        guard targetLength <= Self.targetMaximum else { return .problem(414, "The address is too long.") }
        guard let host = request.headers["host"], let name = Self.name(ofHost: host), hosts.contains(name) else {
            return .problem(
                421, "The page is not known under this name. Names that a proxy uses stand in the configuration: serve.hosts.")
        }
        let site = request.headers["sec-fetch-site"]
        // A link there leads here.
        let isLink = request.method == "GET" && request.headers["sec-fetch-mode"] == "navigate"
        guard site == nil || site == "same-origin" || site == "none" || isLink else {
            return .problem(403, "Another page may not use this one.")
        }
        guard request.method == "POST" else { return nil }
        guard request.headers["origin"].map({ Self.isOrigin($0, of: host) }) ?? (site == nil),
            request.headers[Self.controlHeader] == "1",
            request.headers["content-type"].map(Self.isJSON) == true
        else { return .problem(403, "Only the page itself may have something done.") }
        return nil
    }

    /// `localhost` of `localhost:8580`, `[::1]` of `[::1]:8580`; nil where something else than a port follows.
    static func name(ofHost host: String) -> String? {
        let lower = host.lowercased()
        let end = lower.hasPrefix("[") ? lower.firstIndex(of: "]").map(lower.index(after:)) : lower.firstIndex(of: ":")
        let (name, port) = (lower[..<(end ?? lower.endIndex)], lower[(end ?? lower.endIndex)...])
        let isPort = port.first == ":" && port.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
        return port.isEmpty || isPort ? String(name) : nil
    }

    /// Whether a type is JSON, with parameters or not, and nothing else beside it.
    private static func isJSON(_ type: String) -> Bool {
        !type.contains(",") && type.prefix { $0 != ";" && $0 != " " }.lowercased() == "application/json"
    }

    private static func isOrigin(_ origin: String, of host: String) -> Bool {
        let lower = origin.lowercased()
        return ["http://", "https://"].contains { lower == $0 + host.lowercased() }
    }

    /// The headers of every response: nothing of the page comes from elsewhere, nobody frames it, nobody else reads it.
    package static let headers: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
            manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
            """
        ),
        ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
}
