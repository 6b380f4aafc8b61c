import Export
import Foundation
import Page
import Storage
import Testing

@testable import eegsync

/// What the page is answered.
@Suite struct PageRoutesTests {
    private let database: RecordedDatabase
    private let directory: TestDirectory
    private let cache: PageCache

    init() throws {
        database = try RecordedDatabase()
        try database.record()
        directory = try TestDirectory()
        cache = PageCache(root: directory.url.path, database: database.path)
    }

    private func routes(control: PageControl? = nil) throws -> PageRoutes {
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        return PageRoutes(
            reading: PageReading(store), cache: cache, control: control, configuration: { nil })
    }

    private func bytes(_ response: PageResponse) -> Data {
        if case .bytes(let bytes) = response.content { bytes } else { Data() }
    }

    private func json(_ routes: PageRoutes, _ path: String, status: Int = 200) async throws -> [String: Any] {
        let response = await routes.respond(PageRequest(path: path))
        #expect(response.status == status, "\(path): \(String(decoding: bytes(response), as: UTF8.self))")
        return try JSONSerialization.jsonObject(with: bytes(response)) as? [String: Any] ?? [:]
    }

    /// The document and the words of a frame.
    private func frame(_ routes: PageRoutes, _ path: String, _ query: [String: String]) async throws -> ([String: Any], [Int32])
    {
        let response = await routes.respond(PageRequest(path: path, query: query))
        let data = bytes(response)
        try #require(response.status == 200, "\(String(decoding: data, as: UTF8.self))")
        let length = data.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        let about = try JSONSerialization.jsonObject(with: data[4..<(4 + length)]) as? [String: Any]
        let words = stride(from: 4 + length, to: data.count, by: 4).map { begin in
            Int32(bitPattern: data[begin..<(begin + 4)].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        }
        return (about ?? [:], words)
    }

    @Test func nowSaysWhatStatusSays() async throws {
        let facts = try await json(try routes(), "/api/now")
        let headset = try #require((facts["headsets"] as? [[String: Any]])?.first)
        let run = try ProgramRun(["status", "--json", "--database", database.path])
        let same = try #require((try run.json()["headsets"] as? [[String: Any]])?.first)
        #expect(headset["sentence"] as? String == same["sentence"] as? String)
        #expect(headset["battery_percent"] as? Double == 81)
        #expect((headset["last_gap"] as? [String: Any])?["cause"] as? String == "linkLost")
        #expect(facts["allows_control"] as? Bool == false)
    }

    @Test func rowsAreThoseOfTheDatabase() async throws {
        let routes = try routes()
        let streams = try await json(routes, "/api/recordings/1/streams")
        let stream = try #require((streams["streams"] as? [[String: Any]])?.first)
        let start = try #require(stream["start_ms"] as? Double)
        let query = ["stream": "1", "from_ms": "\(start - 1)", "to_ms": "\(start + 4998)"]
        let (about, words) = try await frame(routes, "/api/recordings/1/rows", query)
        // Five seconds at 250 Hz without the missing second, of which nothing but the first rows lie before 4 s.
        let count = try #require(about["count"] as? Int)
        #expect(count == 1050)
        #expect(Array(words[count..<(count + 4)]) == [0, 100, 200, 300])
        let gap = try #require((about["gaps"] as? [[String: Any]])?.first)
        #expect(gap["cause"] as? String == "linkLost")
        #expect(abs((gap["start_ms"] as? Double ?? 0) - start - 3996) < 1)
    }

    @Test func columnsAndTheNewestRowsCome() async throws {
        let routes = try routes()
        let streams = try await json(routes, "/api/recordings/1/streams")
        let start = try #require((streams["streams"] as? [[String: Any]])?.first?["start_ms"] as? Double)
        let query = ["stream": "1", "from_ms": "\(start - 1)", "to_ms": "\(start + 9_999)", "columns": "10"]
        let (about, words) = try await frame(routes, "/api/recordings/1/columns", query)
        #expect(about["is_complete"] as? Bool == true)
        #expect(words.count == 80)
        // The first channel runs from 0 to 999 in four seconds.
        // A bucket of 128 samples that two columns share is in both: the second one ends with 255.
        #expect(words[0] == 0 && words[40] == 255)
        let (newest, _) = try await frame(routes, "/api/recordings/1/newest", ["stream": "1", "after": "2489"])
        #expect(newest["count"] as? Int == 10)
        #expect(newest["last_n"] as? Int == 2499)
        let (none, _) = try await frame(routes, "/api/recordings/1/newest", ["stream": "1", "after": "2499"])
        #expect(none["count"] as? Int == 0)
    }

    @Test(arguments: [
        ("/", 200), ("/api", 404), ("/api/", 404), ("/api/recordings/0", 404), ("/api/recordings/99", 404),
        ("/api/recordings/1/rows", 404), ("/api/recordings/x", 404), ("/api/recordings/1/streams/2", 404),
        ("/api/recordings/99999999999999999999", 404), ("/api/exports/1", 404), ("/api/exports/1/0", 404),
        ("/../etc/passwd", 404),
        ("/api/recordings/99/streams", 404),
    ])
    func whatIsNotThereIsSaid(path: String, status: Int) async throws {
        #expect(try await routes().respond(PageRequest(path: path)).status == status)
    }

    @Test(arguments: [
        ["from_ms": "0"], ["from_ms": "0", "to_ms": "1e300"], ["from_ms": "nan", "to_ms": "1"], ["from_ms": "5", "to_ms": "5"],
        ["from_ms": "0", "to_ms": "60001"], ["from_ms": "0", "to_ms": "10", "columns": "0"],
        ["from_ms": "0", "to_ms": "10", "columns": "99999"],
    ])
    func wrongTimesAreRefused(query: [String: String]) async throws {
        let kind = query["columns"] == nil ? "rows" : "columns"
        let response = try await routes().respond(
            PageRequest(path: "/api/recordings/1/\(kind)", query: query.merging(["stream": "1"]) { $1 }))
        #expect(response.status == 400)
    }

    @Test func thePageOnlyShowsUnlessItIsAllowedMore() async throws {
        let wish = PageRequest(
            method: "POST", path: "/api/control", body: Data(#"{"action": "stop", "headset": "left"}"#.utf8))
        #expect(try await routes().respond(wish).status == 403)
        let control = PageControl(options: ["--database", database.path]) { arguments in
            .exited(code: 0, output: arguments.joined(separator: " "), errors: "")
        }
        let response = try await routes(control: control).respond(wish)
        #expect(response.status == 200)
        let said = try JSONSerialization.jsonObject(with: bytes(response)) as? [String: String]
        #expect(said?["sentence"] == "record stop left --database \(database.path)")
    }

    @Test func aWishIsNoCommandLine() throws {
        let control = PageControl(options: ["--config", "/c"])
        func arguments(_ action: String, _ headset: String? = nil, _ text: String? = nil) -> [String]? {
            control.arguments(PageWish(action: action, headset: headset, text: text))
        }
        #expect(arguments("record", "left") == ["record", "start", "left", "--config", "/c"])
        #expect(arguments("mark", nil, "--at=-5m") == ["mark", "--config", "/c", "--", "--at=-5m"])
        for headset in ["--for", "a b", "", "a;b", "-x", "a/b"] { #expect(arguments("record", headset) == nil) }
        #expect(arguments("impedance", "left") == ["impedance", "left", "--seconds", "5", "--config", "/c"])
        #expect(arguments("record") == nil)
        #expect(arguments("delete", "left") == nil)
        #expect(arguments("mark", nil, " ") == nil)
        #expect(arguments("mark", nil, "a\0b") == nil)
        #expect(arguments("mark", nil, String(repeating: "x", count: 501)) == nil)
    }

    @Test func theConfigurationSaysHowThePageIsServed() throws {
        func read(_ serve: String) throws -> Configuration.Serve {
            try parse(configuration(headset: "{name: a, model: muse}") + "\nserve: \(serve)").serve
        }
        #expect(try read("{}") == Configuration.Serve())
        let all = try read("{address: localhost, port: 9000, control: true, hosts: [Pi.Example.org]}")
        #expect(all == Configuration.Serve(port: 9000, allowsControl: true, hosts: ["pi.example.org"]))
        for wrong in [
            "{address: 0.0.0.0}", "{address: \"::\"}", "{port: 0}", "{port: 65536}", "{control: perhaps}", "{hosts: [a b]}",
            "{hosts: [\"a:80\"]}", "{password: x}",
        ] {
            let text = configuration(headset: "{name: a, model: muse}") + "\nserve: \(wrong)"
            #expect(problems(text).count == 1, "\(wrong)")
        }
    }
}
