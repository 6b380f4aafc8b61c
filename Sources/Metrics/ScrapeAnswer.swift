/// The bytes that answer a request; the connection ends with them.
package struct ScrapeAnswer: Hashable, Sendable {
    package let status: ScrapeStatus
    /// Head and body.
    package let bytes: [UInt8]

    /// The answer to a request.
    ///
    /// - Parameter figures: makes the text in a format; it is asked for `/metrics` alone.
    package init(to reading: ScrapeRequest.Reading, figures: (Exposition) -> String) {
        switch reading {
        case .incomplete: self.init(.requestTimeout)
        case .refused(let status): self.init(status)
        case .complete(let request):
            let isHead = request.method == "HEAD"
            guard isHead || request.method == "GET" else {
                self.init(.methodNotAllowed, more: "Allow: GET, HEAD\r\n")
                return
            }
            switch request.path {
            case "/metrics":
                let format = Exposition(accept: request.accept)
                self.init(.ok, body: figures(format), type: format.contentType, isHead: isHead)
            case "/": self.init(.ok, body: "eegsync metrics: the figures are at /metrics\n", isHead: isHead)
            default: self.init(.notFound, isHead: isHead)
            }
        }
    }

    private init(
        _ status: ScrapeStatus, body: String? = nil, type: String = "text/plain; charset=utf-8", more: String = "",
        isHead: Bool = false
    ) {
        self.status = status
        let body = Array((body ?? "\(status.rawValue) \(status.reason)\n").utf8)
        let head = """
            HTTP/1.1 \(status.rawValue) \(status.reason)\r
            Content-Type: \(type)\r
            Content-Length: \(body.count)\r
            Connection: close\r
            Cache-Control: no-store\r
            X-Content-Type-Options: nosniff\r
            \(more)\r

            """
        bytes = Array(head.utf8) + (isHead ? [] : body)
    }
}
