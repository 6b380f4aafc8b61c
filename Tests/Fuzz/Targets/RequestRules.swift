import NIOHTTP1
import Page
import Storage

/// What holds of every request that is carried out, looked for in the head as it came, and not as the policy reads it.
enum RequestRules {
    private static let names = ["localhost", "127.0.0.1", "[::1]"]

    /// The first rule that does not hold.
    static func brokenRule(_ request: PageRequest, _ head: HTTPRequestHead) -> String? {
        guard request.method == "GET" || request.method == "POST" else { return "\(request.method) is carried out" }
        guard request.path.hasPrefix("/") else { return "a path without a slash: \(request.path)" }
        guard head.uri.utf8.count <= RequestPolicy.targetMaximum else { return "a long address is carried out" }
        guard request.body.count <= RequestPolicy.bodyMaximum else { return "a long body is carried out" }
        let hosts = head.headers["Host"].map { $0.lowercased() }
        guard hosts.count == 1, let host = hosts.first, names.contains(where: { isHost(host, $0) }) else {
            return "a request under the names \(hosts) is carried out"
        }
        let isForeign = head.headers["Sec-Fetch-Site"].contains { ["cross-site", "same-site"].contains($0) }
        let isLink = request.method == "GET" && head.headers["Sec-Fetch-Mode"] == ["navigate"]
        if isForeign, !isLink { return "a foreign page is served" }
        if request.method == "POST", let broken = brokenRule(ofControl: head, host) { return broken }
        return brokenRule(of: PageRoute(request), request)
    }

    private static func isHost(_ host: String, _ name: String) -> Bool {
        guard host.hasPrefix(name) else { return false }
        let port = host.dropFirst(name.count)
        return port.isEmpty || port.first == ":" && port.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func brokenRule(ofControl head: HTTPRequestHead, _ host: String) -> String? {
        let own = ["http://\(host)", "https://\(host)"]
        guard head.headers["Origin"].allSatisfy({ own.contains($0.lowercased()) }) else {
            return "something is done for \(head.headers["Origin"])"
        }
        guard head.headers[RequestPolicy.controlHeader] == ["1"] else { return "something is done without its header" }
        let types = head.headers["Content-Type"]
        return types.count == 1 && types[0].lowercased().hasPrefix("application/json") ? nil : "something is done by a form"
    }

    private static func brokenRule(of route: PageRoute, _ request: PageRequest) -> String? {
        switch route {
        case .startExport, .control: request.method == "POST" ? nil : "something is done by GET"
        case .asset, .now, .recordings, .study, .export, .exportedFile, .recording, .signals(.streams, _), .signals(.newest, _):
            request.method == "GET" ? nil : "POST of \(request.path) is answered"
        case .signals(.rows(_, let time), let id):
            isTime(time) && time.upperBound - time.lowerBound <= PageRoute.rowsNanosecondsMaximum && id.rawValue > 0
                ? nil : "rows of \(time) of \(id)"
        case .signals(.columns(_, let time, let count), let id):
            isTime(time) && (1...4096).contains(count) && id.rawValue > 0 ? nil : "\(count) columns of \(time) of \(id)"
        case .refused(let response): (400..<500).contains(response.status) ? nil : "refused with \(response.status)"
        }
    }

    private static func isTime(_ time: Range<Int64>) -> Bool { !time.isEmpty && time.lowerBound >= 0 }
}
