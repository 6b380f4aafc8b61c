import Foundation
import Testing

@testable import Page

/// Which requests are answered at all.
@Suite struct RequestPolicyTests {
    private static let local = ["host": "localhost:8580"]
    private static let own = [
        "host": "localhost:8580", "origin": "http://localhost:8580", "sec-fetch-site": "same-origin",
        "x-eegsync-control": "1", "content-type": "application/json",
    ]

    private func status(
        _ method: String = "GET", _ headers: [String: String], hosts: [String] = [], length: Int = 10
    ) -> Int? {
        RequestPolicy(more: hosts).refusal(
            PageRequest(method: method, path: "/", headers: headers), targetLength: length)?.status
    }

    @Test(arguments: ["localhost", "LOCALHOST:8580", "127.0.0.1:1", "[::1]:8580", "[::1]"])
    func theMachinesOwnNamesAreAnswered(host: String) { #expect(status("GET", ["host": host]) == nil) }

    @Test(arguments: [
        "evil.example", "localhost.evil.example:8580", "127.0.0.1.evil.example", "", ":", "[::1", "10.0.0.7",
        "localhost:80, evil.example",
        "localhost:evil.example", "[::1].evil.example", "[::1]:8580.evil.example",
    ])
    func aForeignNameIsNot(host: String) {
        #expect(status("GET", ["host": host]) == 421)
        #expect(status("GET", [:]) == 421)
    }

    @Test func aProxysNameIsAnsweredOnceItIsConfigured() {
        #expect(status("GET", ["host": "pi.example.org"]) == 421)
        #expect(status("GET", ["host": "pi.example.org"], hosts: ["Pi.Example.org"]) == nil)
    }

    @Test(arguments: ["PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "", "get"])
    func otherMethodsAreNot(method: String) { #expect(status(method, Self.own) == 405) }

    @Test func aForeignPageReadsNothing() {
        for site in ["cross-site", "same-site"] {
            let headers = Self.local.merging(["sec-fetch-site": site, "sec-fetch-mode": "cors"]) { $1 }
            #expect(status("GET", headers) == 403)
        }
        // A link there leads here.
        let link = ["sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"]
        #expect(status("GET", Self.local.merging(link) { $1 }) == nil)
        #expect(status("POST", Self.own.merging(link) { $1 }) == 403)
    }

    @Test func onlyThePageItselfHasSomethingDone() {
        #expect(status("POST", Self.own) == nil)
        #expect(status("POST", Self.own.merging(["content-type": "Application/JSON; charset=utf-8"]) { $1 }) == nil)
        for (name, value) in [
            ("origin", "http://evil.example"), ("origin", "null"), ("origin", "http://localhost:8581"),
            ("x-eegsync-control", "0"), ("content-type", "text/plain"),
            ("content-type", "application/json, text/plain"), ("content-type", "application/jsonp"),
            ("sec-fetch-site", "cross-site"),
        ] {
            #expect(status("POST", Self.own.merging([name: value]) { $1 }) == 403, "\(name): \(value)")
        }
        for name in ["origin", "x-eegsync-control", "content-type"] {
            #expect(status("POST", Self.own.filter { $0.key != name }) == 403, "\(name)")
        }
    }

    @Test func aLongAddressIsRefused() {
        #expect(status("GET", Self.local, length: 2048) == nil)
        #expect(status("GET", Self.local, length: 2049) == 414)
    }
}
