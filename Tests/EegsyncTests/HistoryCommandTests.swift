import Bluetooth
import Foundation
import Headsets
import Testing

@testable import Storage
@testable import eegsync

/// `eegsync events` and `eegsync latency`, as the built program prints them.
@Suite struct HistoryCommandTests {
    /// A database in which a headset returned so many seconds after it was heard, and after samples could have flowed.
    private func database(_ returns: [(heard: Double, able: Double)]) throws -> RecordedDatabase {
        let database = try RecordedDatabase()
        try database.record()
        let store = try database.acquisitionStore()
        let headset = try #require(try store.headset(named: "left"))
        let now = HostClock.now
        var batch = WriteBatch(number: 2)
        batch.changes = [
            .process(.started(ProcessIdentity(version: "9.9", pid: 1), at: now - .seconds(500))),
            .connectionEvent(
                ConnectionEventRecord(
                    headset: headset, at: now - .seconds(400), state: "waitingForAdapter", cause: "poweredOff")),
        ]
        for (number, times) in returns.enumerated() {
            let time = now - .seconds(100 - number)
            batch.changes.append(
                .streamingReturn(
                    StreamingReturnRecord(
                        headset: headset, recording: RecordingID(rawValue: 1), layer: "scan", attempts: 3, cause: .linkLost,
                        lost: time - .seconds(30), able: time - .nanoseconds(Int64(times.able * 1e9)),
                        heard: time - .nanoseconds(Int64(times.heard * 1e9)), prepared: time, firstSample: time)))
        }
        try store.commit(batch)
        try store.close()
        return database
    }

    private func run(_ arguments: [String], _ database: RecordedDatabase) throws -> ProgramRun {
        try ProgramRun(arguments + ["--database", database.path])
    }

    @Test func aReturnThatTookTooLongIsTheExitCode() throws {
        let late = try run(["latency"], try database([(0.3, 2), (10.5, 12)]))
        #expect(late.exitCode == 1)
        #expect(late.output.contains("1 return took longer than 10 s although the headset was in reach"))
        #expect(late.output.contains("left: 10.5 s, found by scan after linkLost, 3 layers tried"))
        let kept = try run(["latency"], try database([(0.3, 2), (9.9, 10)]))
        #expect(kept.exitCode == 0 && kept.output.contains("No headset that was in reach took longer than 10 s."))
    }

    @Test func anOutageOfUnknownReachIsNoVerdict() throws {
        let database = try database([(0.3, 3600)])
        let away = try run(["latency"], database)
        #expect(away.exitCode == 0)
        #expect(away.output.contains("1 outage took longer than 10 s without a sign of the headset"))
        let json = try run(["latency", "--json"], database).json()
        #expect(json["undecided"] as? Int == 1 && json["returns"] as? Int == 1)
    }

    @Test func percentilesAreThoseOfTheNearestRank() {
        let durations = (1...100).map { Duration.milliseconds($0 * 10) }
        let percentiles = LatencyFacts.Percentiles(durations.reversed())
        #expect(percentiles.p50Seconds == 0.5 && percentiles.p95Seconds == 0.95)
        #expect(percentiles.p99Seconds == 0.99 && percentiles.maximumSeconds == 1)
    }

    @Test func eventsAreATableThatAlignsAndOneDocument() throws {
        let database = try database([(0.3, 2)])
        let table = try run(["events"], database)
        #expect(table.exitCode == 0 && !table.output.contains("\u{1B}"))
        let lines = table.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 4, "\(lines)")
        #expect(lines[0].hasPrefix("TIME (UTC)") && lines[1].contains("eegsync 9.9 started"))
        #expect(lines[2].contains("waiting for the Bluetooth adapter: it is switched off"))
        #expect(
            lines[3].contains("samples flow again, found by a scan, 300 ms after it was heard; missing because the link broke"))
        let columns = lines.dropFirst(2).compactMap { line in
            line.range(of: " left ").map { line.distance(from: line.startIndex, to: $0.lowerBound) }
        }
        #expect(columns.count == 2 && Set(columns).count == 1, "\(lines)")
        let events = try #require(try run(["events", "--json"], database).json()["events"] as? [[String: Any]])
        #expect(events.map { $0["kind"] as? String } == ["process", "connection", "return"])
        #expect(events.allSatisfy { $0["boottime_nanoseconds"] is NSNumber && $0["unix_nanoseconds"] is NSNumber })
        #expect(events.allSatisfy { ($0["host_boot"] as? String)?.count == 36 && $0["words"] is String })
        #expect(try run(["events", "--limit", "1"], database).output.split(separator: "\n").count == 2)
        #expect(try run(["events", "--since", "200s"], database).output.split(separator: "\n").count == 2)
        #expect(try run(["events", "--headset", "nobody"], database).exitCode == 66)
        #expect(try run(["events", "--since", "yesterday"], database).exitCode == 64)
        #expect(try run(["events", "--limit", "0"], database).exitCode == 64)
    }

    @Test func timesArePointsOrSpans() {
        #expect(PastTime(argument: "2026-03-01T10:00:00Z") == .at(1_772_359_200_000_000_000))
        #expect(PastTime(argument: "2026-03-01 10:00") == .at(1_772_359_200_000_000_000))
        #expect(PastTime(argument: "2026-03-01") == .at(1_772_323_200_000_000_000))
        #expect(PastTime(argument: "90s") == .ago(.seconds(90)) && PastTime(argument: "30min") == .ago(.seconds(1800)))
        #expect(PastTime(argument: "2h") == .ago(.seconds(7200)) && PastTime(argument: "3d") == .ago(.seconds(259_200)))
        #expect(PastTime(argument: "3d")?.unixNanoseconds(now: 300_000_000_000_000) == 40_800_000_000_000)
        #expect(PastTime(argument: "-5m") == .ago(.seconds(300)) && PastTime(argument: "-90s") == .ago(.seconds(90)))
        #expect(PastTime(argument: "2026-03-01T11:00:00.25+01:00") == .at(1_772_359_200_250_000_000))
        #expect(PastTime(argument: "2026-03-01T04:30-0530") == .at(1_772_359_200_000_000_000))
        for wrong in [
            "", "now", "-", "--5m", "2026-02-30", "2026-03-01T10:00+15:00", "2026-03-01T10:00:00.", "2026-13-01",
            "2026-03-01T25:00", "12:00", "2026-03-01T10:00:00Z x", "99999999999d",
        ] {
            #expect(PastTime(argument: wrong) == nil, "\(wrong)")
        }
    }

    @Test func everyEventHasWords() {
        let names: [(HistoryEvent.Kind, String)] = [
            (.attempt, "silent"), (.attempt, "nothingFound"), (.attempt, "otherHeadset"), (.attempt, "interrupted"),
            (.attempt, "streaming"), (.process, "started"), (.process, "ended"), (.process, "died"), (.machine, "rebooted"),
            (.machine, "suspended"), (.machine, "resumed"), (.machine, "clockStepped"), (.return, "returned"),
            (.connection, "streaming"), (.connection, "silent"),
        ]
        var seen: Set<String> = []
        for (kind, name) in names {
            let event = HistoryEvent(
                kind: kind, headset: "left", name: name, layer: "scan", attempt: 2, count: 1,
                durationNanoseconds: -3_200_000_000, hostBoot: "b", boottimeNanoseconds: 0, isSynchronised: true)
            #expect(event.words != name && seen.insert(event.words).inserted, "\(kind) \(name): \(event.words)")
        }
        let failed = HistoryEvent(
            kind: .attempt, headset: "left", name: "failed", cause: "pairingRefused", layer: "cachedIdentifier", count: 1,
            hostBoot: "b", boottimeNanoseconds: 0, isSynchronised: true)
        #expect(failed.words.hasPrefix("tried by its known address: ") && !failed.words.contains("pairingRefused"))
    }
}
