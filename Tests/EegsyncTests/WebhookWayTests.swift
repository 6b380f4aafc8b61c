import Bluetooth
import Foundation
import Testing

@testable import Alerts
@testable import eegsync

private let notice = Notice.test(
    id: "origin-7", machine: "pi", at: AlertInstant(time: .boot, unixNanoseconds: 1_790_000_000_000_000_000))

/// HTTP, by the real curl against a real server.
@Suite struct WebhookWayTests {
    private func way(_ url: String, _ shape: MessageShape = .json, headersFile: String? = nil) -> WebhookWay {
        WebhookWay(receiver: .init(address: .url(url), headersFile: headersFile, shape: shape))
    }

    @Test func aMessageIsPostedAsJSONWithItsIdentifier() async throws {
        let server = try PostServer()
        let outcome = await way("http://127.0.0.1:\(server.port)/hook?a=b").deliver(notice, undelivered: 2)
        #expect(outcome == .delivered)
        let request = try #require(server.requests.first)
        #expect(server.requests.count == 1)
        #expect(request.path == "/hook?a=b")
        #expect(request.headers.contains("Content-Type: application/json"))
        #expect(request.headers.contains("Idempotency-Key: origin-7"))
        let document = try request.json()
        #expect(document["id"] as? String == "origin-7")
        #expect(document["undelivered_before"] as? Int == 2)
    }

    @Test func textOfAnyKindArrivesAsItIs() async throws {
        let server = try PostServer()
        var odd = notice
        odd.text = "quote \" backslash \\ line\nend \u{1F9E0} 100 % ümlaut {a,b} [1-9] @file"
        #expect(await way("http://127.0.0.1:\(server.port)/").deliver(odd, undelivered: 0) == .delivered)
        #expect(try server.requests.first?.json()["text"] as? String == odd.text)
    }

    @Test func ntfyAndSlackGetTheirShapes() async throws {
        let server = try PostServer()
        let url = "http://127.0.0.1:\(server.port)"
        #expect(await way("\(url)/night-7", .ntfy).deliver(notice, undelivered: 0) == .delivered)
        #expect(await way("\(url)/services/T0/B0/x", .slack).deliver(notice, undelivered: 0) == .delivered)
        #expect(server.requests.map(\.path) == ["/", "/services/T0/B0/x"])
        #expect(try server.requests.first?.json()["topic"] as? String == "night-7")
        #expect(try (server.requests.last?.json()["text"] as? String)?.hasPrefix("test: this is a test") == true)
    }

    @Test(arguments: [401, 403, 404, 408, 429, 500, 302]) func anyOtherAnswerIsARefusal(status: Int) async throws {
        let server = try PostServer(.status(status))
        let outcome = await way("http://127.0.0.1:\(server.port)/").deliver(notice, undelivered: 0)
        #expect(outcome == .refused(reason: "the server answers \(status)"))
    }

    @Test(arguments: [400, 413, 422]) func anAnswerAboutTheMessageRejectsIt(status: Int) async throws {
        let server = try PostServer(.status(status))
        let outcome = await way("http://127.0.0.1:\(server.port)/").deliver(notice, undelivered: 0)
        #expect(outcome == .rejected(reason: "the server answers \(status)"))
    }

    @Test func anAnswerThatNeverComesLeavesItUnclear() async throws {
        let server = try PostServer(.none)
        let outcome = await way("http://127.0.0.1:\(server.port)/").deliver(notice, undelivered: 0)
        guard case .unclear(let reason) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(reason.contains("Empty reply"))
        #expect(server.requests.count == 1)
        server.set(.status(502))
        let gateway = await way("http://127.0.0.1:\(server.port)/").deliver(notice, undelivered: 0)
        #expect(gateway == .unclear(reason: "the server answers 502"))
    }

    @Test func nobodyThereIsARefusal() async throws {
        var server: PostServer? = try PostServer()
        let port = server?.port ?? 0
        server = nil
        let outcome = await way("http://127.0.0.1:\(port)/secret-path").deliver(notice, undelivered: 0)
        guard case .refused(let reason) = outcome else { return #expect(Bool(false), "\(outcome)") }
        #expect(reason.contains("connect") && !reason.contains("secret-path"))
    }

    @Test func whatIsSecretIsNoArgumentOfAnyProcess() async throws {
        let directory = try TestDirectory()
        let stub = try directory.write(
            "#!/bin/sh\necho \"$@\" > '\(directory.path("arguments"))'\ncat > '\(directory.path("input"))'\nprintf 204\n",
            to: "curl", mode: 0o755)
        let url = try directory.write("# the webhook\nhttps://hooks.example.org/T0/secret\n", to: "url")
        let headers = try directory.write("Authorization: Bearer tk_\"x\"\n", to: "headers")
        var receiver = Configuration.Alerts.Receiver(address: .file(url))
        receiver.headersFile = headers
        #expect(await WebhookWay(receiver: receiver, curl: stub).deliver(notice, undelivered: 0) == .delivered)
        #expect(directory.text("arguments") == "--disable --config -\n")
        let input = try #require(directory.text("input"))
        #expect(input.contains("url = \"https://hooks.example.org/T0/secret\"\n"))
        #expect(input.contains("header = \"Authorization: Bearer tk_\\\"x\\\"\"\n"))
    }

    @Test func aFileThatOthersMayReadIsRefused() async throws {
        let directory = try TestDirectory()
        for mode in [0o640, 0o604, 0o644] {
            let url = try directory.write("http://127.0.0.1:9/\n", to: "url", mode: mode)
            let outcome = await WebhookWay(receiver: .init(address: .file(url))).deliver(notice, undelivered: 0)
            #expect(outcome.reason?.contains("others than its owner may read it; chmod 600 \(url)") == true)
        }
        let link = directory.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.path("url"))
        for path in [link, directory.path("nothing"), directory.url.path] {
            let outcome = await WebhookWay(receiver: .init(address: .file(path))).deliver(notice, undelivered: 0)
            #expect(outcome.reason?.contains("cannot be read") == true, "\(path): \(outcome)")
        }
    }

    @Test func withoutCurlItSaysWhatToInstall() async {
        let way = WebhookWay(receiver: .init(address: .url("http://127.0.0.1:9/")), curl: "/nonexistent/curl")
        let outcome = await way.deliver(notice, undelivered: 0)
        #expect(outcome.reason?.hasPrefix("curl cannot be started (apt-get install curl)") == true)
    }
}
