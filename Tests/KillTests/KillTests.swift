import Bluetooth
import Foundation
import Glibc
import Simulation
import Storage
import Testing

/// `kill -9` of the real daemon at random instants: nothing that was committed is lost, and in the end nothing is missing.
@Suite(.serialized, .timeLimit(.minutes(5))) struct KillTests {
    /// Decides the instants. Another seed is another test.
    private static let seed: UInt64 = 2_026
    private static let killCount = 50

    @Test func fiftyKillsLoseNothing() async throws {
        try await OwnThread.run { try Self.killFiftyTimes() }
    }

    private static func killFiftyTimes() throws {
        let fixture = try DaemonFixture()
        try fixture.want(["left", "right"])
        var generator = SeededGenerator(seed: seed, purpose: 1)
        var known: [DaemonFixture.Row: [Int32]] = [:]
        for number in 1...killCount {
            let daemon = try RunningDaemon(config: fixture.config)
            let lineCount = 1 + Int(generator.next() % 24)
            for _ in 0..<lineCount {
                guard daemon.nextLine() != nil else { break }
            }
            // Between two lines, too: up to one interval of the commits later.
            OwnThread.spin(nanoseconds: Int64(generator.next() % 50_000_000))
            daemon.signal(SIGKILL)
            try #require(daemon.end() == -SIGKILL, "kill \(number): \(daemon.lines.suffix(3))")

            let rows = try fixture.rows()
            let reported = Int64(known.count) + RunningDaemon.committedRows(daemon.lines)
            #expect(Int64(rows.count) >= reported, "kill \(number): \(reported) rows were reported as committed")
            #expect(lostRows(known, in: rows) == 0, "kill \(number): a committed row is gone or another one")
            let audit = try fixture.audit()
            #expect(audit.holds, "kill \(number): \(audit.findings)")
            known = rows
        }
        try drain(fixture, known)
    }

    /// The last run, which nobody kills: reads from the headsets' memories all that the killed ones did not.
    private static func drain(_ fixture: DaemonFixture, _ known: [DaemonFixture.Row: [Int32]]) throws {
        let daemon = try RunningDaemon(config: fixture.config)
        var missing: Int64 = .max
        while missing > 0, daemon.line(with: "committed") != nil {
            missing = try fixture.audit().streams.reduce(0) { $0 + $1.missing + ($1.openGapFirstN == nil ? 0 : 1) }
        }
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
        let audit = try fixture.audit()
        #expect(audit.holds)
        #expect(audit.streams.count == 2)
        let rows = try fixture.rows()
        for stream in audit.streams {
            #expect(stream.missing == 0, "the headset's memory still held what is missing")
            #expect(stream.recovered > 0)
            #expect(stream.rows > 1_000)
        }
        #expect(lostRows(known, in: rows) == 0)
        #expect(try fixture.wrongRows(rows) == 0)
    }

    /// How many rows are gone or have other values.
    private static func lostRows(_ known: [DaemonFixture.Row: [Int32]], in rows: [DaemonFixture.Row: [Int32]]) -> Int {
        known.count { rows[$0.key] != $0.value }
    }

    @Test func theComparisonsBite() throws {
        let fixture = try DaemonFixture()
        try fixture.want(["left"])
        let daemon = try RunningDaemon(config: fixture.config)
        while RunningDaemon.committedRows(daemon.lines) < 100, daemon.nextLine() != nil {}
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
        let known = try fixture.rows()
        var rows = known
        #expect(try fixture.wrongRows(rows) == 0)
        let key = try #require(rows.keys.first)
        rows[key]?[3] += 1
        #expect(try fixture.wrongRows(rows) == 1)
        #expect(Self.lostRows(known, in: rows) == 1)
        rows[key] = nil
        #expect(Self.lostRows(known, in: rows) == 1)
        #expect(try fixture.wrongRows(rows) == 0)
    }
}
