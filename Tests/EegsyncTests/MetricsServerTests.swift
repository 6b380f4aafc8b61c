import Bluetooth
import Foundation
import Glibc
import Metrics
import Testing

@testable import eegsync

/// A client of the server, which never waits.
private final class Client {
    let descriptor: Int32
    private(set) var received: [UInt8] = []
    private(set) var hasEnded = false

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(code == 0)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    func receive() {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count > 0 { received += bytes[..<count] }
        if count == 0 || count < 0 && errno != EAGAIN { hasEnded = true }
    }

    var text: String { String(decoding: received, as: UTF8.self) }
}

@Suite("The server of figures")
struct MetricsServerTests {
    /// A clock that stands still until it is set.
    private final class Clock {
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
    }

    private struct Bench {
        let clock = Clock()
        let server: MetricsServer
        let port: UInt16

        init(_ figures: @escaping (Exposition) -> String = { _ in "figures\n" }) throws {
            let listener = try #require(ListenAddress(argument: "127.0.0.1:0")).listen()
            port = ListenAddress.port(of: listener)
            let clock = clock
            server = MetricsServer(listener: listener, figures: figures) { clock.now }
        }

        /// Turns until a client's connection has ended.
        func answer(_ client: Client) {
            for _ in 0..<1000 where !client.hasEnded {
                server.turn(waiting: 100)
                client.receive()
            }
        }
    }

    private static let request = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("answers a request, piece by piece as it may come")
    func sound() throws {
        let bench = try Bench()
        let client = try Client(port: bench.port)
        for piece in Self.request {
            client.send(String(piece))
            bench.server.turn(waiting: 100)
        }
        bench.answer(client)
        #expect(client.text.hasPrefix("HTTP/1.1 200 OK\r\n") && client.text.hasSuffix("\r\n\r\nfigures\n"))
        bench.server.turn(waiting: 0)
    }

    @Test("sends what is larger than any buffer whole")
    func large() throws {
        let body = String(repeating: "0123456789abcdef", count: 500_000)
        let bench = try Bench { _ in body }
        let client = try Client(port: bench.port)
        client.send(Self.request)
        bench.answer(client)
        #expect(client.text.hasSuffix("\r\n\r\n" + body))
    }

    @Test("refuses what is no request, and ends it")
    func malformed() throws {
        let bench = try Bench()
        let client = try Client(port: bench.port)
        client.send("\u{16}\u{3}\u{1}hello\r\n\r\n")
        bench.answer(client)
        #expect(client.text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
    }

    @Test("ends a request that does not come to its end, by its clock")
    func slow() throws {
        let bench = try Bench()
        let client = try Client(port: bench.port)
        client.send("GET /metrics")
        bench.server.turn(waiting: 100)
        bench.server.turn(waiting: 100)
        #expect(bench.server.connectionCount == 1)
        bench.clock.now = bench.clock.now + MetricsServer.patience
        bench.server.turn(waiting: 0)
        #expect(bench.server.connectionCount == 0)
        bench.answer(client)
        #expect(client.received.isEmpty)
    }

    @Test("keeps nobody out, however many clients say nothing")
    func crowd() throws {
        let bench = try Bench()
        let idle = try (0..<60).map { _ in try Client(port: bench.port) }
        for _ in 0..<20 { bench.server.turn(waiting: 0) }
        #expect(bench.server.connectionCount == MetricsServer.connectionMaximum)
        let client = try Client(port: bench.port)
        client.send(Self.request)
        bench.answer(client)
        #expect(client.text.hasSuffix("figures\n"))
        #expect(bench.server.connectionCount <= MetricsServer.connectionMaximum)
        withExtendedLifetime(idle) {}
    }

    @Test("asks the database once a second at most")
    func fresh() throws {
        var count = 0
        let bench = try Bench { _ in
            count += 1
            return "\(count)\n"
        }
        for expected in ["1\n", "1\n", "2\n"] {
            if expected == "2\n" { bench.clock.now = bench.clock.now + .seconds(1) }
            let client = try Client(port: bench.port)
            client.send(Self.request)
            bench.answer(client)
            #expect(client.text.hasSuffix("\r\n\r\n" + expected))
        }
    }

    @Test("An address is one in figures with a port")
    func addresses() {
        #expect(ListenAddress(argument: "127.0.0.1:9580")?.isLoopback == true)
        #expect(ListenAddress(argument: "[::1]:9580")?.isLoopback == true)
        #expect(ListenAddress(argument: "0.0.0.0:80")?.isLoopback == false)
        for wrong in [
            "9580", "localhost:9580", "127.0.0.1", "127.0.0.1:70000", "::1:9580", "[127.0.0.1]:1", ":1", "1.2.3.4:-1",
        ] {
            #expect(ListenAddress(argument: wrong) == nil, "\(wrong)")
        }
    }
}

@Suite("eegsync metrics")
struct MetricsCommandTests {
    @Test("prints what is stored, and nothing of the subject")
    func figures() throws {
        let database = try RecordedDatabase()
        try database.record(byDesign: 3)
        let run = try ProgramRun(["metrics", "--database", database.path])
        #expect(run.exitCode == 0 && run.errors.isEmpty)
        let lines = Set(run.output.split(separator: "\n").map(String.init))
        for line in [
            "eegsync_database_readable 1", "eegsync_daemon_running 0",
            #"eegsync_headset_wanted{headset="left"} 1"#, #"eegsync_headset_battery_ratio{headset="left"} 0.81"#,
            #"eegsync_stream_rows_total{headset="left",stream="eeg"} 2310"#,
            #"eegsync_stream_missing_samples{headset="left",stream="eeg",cause="linkLost"} 200"#,
            #"eegsync_stream_recovered_samples{headset="left",stream="eeg",cause="linkLost"} 50"#,
            #"eegsync_stream_missing_samples{headset="left",stream="eeg",cause="notSent"} 3"#,
            #"eegsync_return_seconds_count{headset="left"} 0"#, "# EOF",
        ] { #expect(lines.contains(line), "\(line)") }
        #expect(!run.output.contains("P07") && !run.output.contains("sleep"))
        let text = try ProgramRun(["metrics", "--text", "--database", database.path])
        #expect(text.output.contains("# TYPE eegsync_stream_rows_total counter\n") && !text.output.contains("# EOF"))
    }

    @Test("A database that is not there ends it, with the code of a missing file")
    func missing() throws {
        let run = try ProgramRun(["metrics", "--database", "/nonexistent/eegsync.sqlite"])
        #expect(run.exitCode == 66 && run.output.isEmpty)
    }
}
