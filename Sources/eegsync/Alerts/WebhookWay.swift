import Alerts
import Foundation

/// Sends each message with HTTP POST, by curl: what is secret reaches it on its standard input, never as an argument that
/// anybody may see.
struct WebhookWay {
    let receiver: Configuration.Alerts.Receiver
    var curl = "/usr/bin/curl"
    /// curl gives up after 20 s by itself.
    var limit = Duration.seconds(30)

    /// Exit codes of curl with which nothing has been sent: no name, no connection, no TLS (curl(1), EXIT CODES).
    private static let beforeSending: [Int32] = [1, 2, 3, 5, 6, 7, 26, 27, 35, 45, 53, 58, 59, 60, 66, 77, 83, 90, 91]

    /// Answers of 400 ... 499 that concern the receiver, who asks for it or the moment, and not what the message says: not
    /// authorised, not found, a proxy, too slow, too many.
    private static let notAboutMessage = ["401", "403", "404", "407", "408", "429"]

    /// Whether a text can be an address: `http` or `https`, a host, nothing that is no part of a URL.
    static func isAddress(_ text: String) -> Bool {
        guard let scheme = ["http://", "https://"].first(where: text.hasPrefix), text.count > scheme.count else { return false }
        return text.unicodeScalars.allSatisfy { $0.value > 32 && $0.value < 127 && !"\"<>\\^`{|}".unicodeScalars.contains($0) }
    }

    /// Only an answer of 200 ... 299 says that the message was taken.
    func deliver(_ notice: Notice, undelivered: Int) async -> DeliveryOutcome {
        let url: String
        var headers: [String] = []
        do {
            switch receiver.address {
            case .url(let stated): url = stated
            case .file(let path): url = try Self.read(path).first ?? ""
            }
            if let file = receiver.headersFile { headers = try Self.read(file) }
        } catch {
            return .refused(reason: error.words)
        }
        guard Self.isAddress(url) else { return .refused(reason: "its file holds no URL that begins with http:// or https://") }
        guard let request = receiver.shape.request(notice, url: url, undelivered: undelivered) else {
            return .refused(reason: "its URL has no topic behind the last slash")
        }
        // --disable, which must come first: the ~/.curlrc of whoever runs it does not count.
        var program = ChildProgram(path: curl, arguments: ["--disable", "--config", "-"], limit: limit)
        program.input = Self.settings(
            url: request.url, headers: headers, identifier: notice.id, body: AlertPerformer.json(request.document))
        return Self.outcome(await program.run(), secrets: [url, request.url])
    }

    private static func read(_ path: String) throws(FileReason) -> [String] {
        do throws(FileReason) {
            return try SecretFile.lines(of: path)
        } catch {
            throw FileReason("\(path) cannot be read: \(error.words)")
        }
    }

    /// What curl reads instead of arguments.
    static func settings(url: String, headers: [String], identifier: String, body: String) -> String {
        let lines =
            [
                "url = \(quoted(url))", "globoff", "silent", "show-error", "proto = \"=http,https\"", "connect-timeout = 10",
                "max-time = 20", "output = \"/dev/null\"", "write-out = \"%{http_code}\"",
                "user-agent = \"eegsync/\(Eegsync.version)\"", "header = \"Content-Type: application/json\"",
                // The same when a message is sent again; some receivers drop the second one by it.
                "header = \"Idempotency-Key: \(identifier)\"",
            ] + headers.map { "header = \(quoted($0))" } + ["data-raw = \(quoted(body))"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.map { character in
            switch character {
            case "\\": "\\\\"
            case "\"": "\\\""
            default: String(character)
            }
        }
        return "\"\(escaped.joined())\""
    }

    private static func outcome(_ end: ChildProgram.End, secrets: [String]) -> DeliveryOutcome {
        switch end {
        case .exited(0, let status, _):
            if status.count == 3, status.hasPrefix("2") { return .delivered }
            // A gateway does not know what became of it.
            if status == "502" || status == "504" { return .unclear(reason: "the server answers \(status)") }
            let reason = "the server answers \(status.prefix(3))"
            let isAboutMessage = status.count == 3 && status.hasPrefix("4") && !Self.notAboutMessage.contains(status)
            return isAboutMessage ? .rejected(reason: reason) : .refused(reason: reason)
        case .exited(let code, _, let errors):
            // `curl: (7) Failed to connect ...`; what is secret does not go into a log.
            let words = errors.replacing(#/^curl: \(\d+\) /#, with: "").prefix(200)
            let reason = secrets.reduce(String(words).printable) { $0.replacingOccurrences(of: $1, with: "URL") }
            let said = reason.isEmpty ? "curl ended with exit code \(code)" : reason
            return beforeSending.contains(code) ? .refused(reason: said) : .unclear(reason: said)
        case .notStarted(let reason):
            return .refused(reason: "curl cannot be started (apt-get install curl): \(reason)")
        case .killed: return .unclear(reason: "curl did not end in time and was killed")
        }
    }
}
