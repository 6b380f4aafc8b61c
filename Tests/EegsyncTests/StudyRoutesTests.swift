import Centre
import Foundation
import Page
import Synchronization
import Testing

@testable import eegsync

/// The page of a study.
@Suite("The page of a study")
struct StudyRoutesTests {
    private static func row(_ machine: String, _ severity: String?, contact: Double? = 3) -> FleetReading.Row {
        var row = FleetReading.Row()
        (row.study, row.machine, row.version, row.contactSeconds, row.hasSaid) = ("sleep", machine, "0.1.0", contact, true)
        (row.isAcquiring, row.diskDays, row.quotaKiB, row.usedKiB) = (true, 40.5, 1000, 990)
        guard let severity else { return row }
        var headset = FleetReading.Headset()
        (headset.name, headset.isWanted, headset.severity, headset.sentence) = ("left", true, severity, "says so")
        (headset.newestSeconds, headset.delaySeconds, headset.gapsToday, headset.batteryPercent) = (4, 0.5, 3, 61)
        row.headset = headset
        return row
    }

    private static var fleet: FleetFacts {
        let rows = [row("pi-1", "good"), row("pi-2", "waiting"), row("pi-3", nil), row("pi-4", "good", contact: 500)]
        return FleetFacts(FleetReading(rows: rows), centre: "server:5432/study", silenceSeconds: 120)
    }

    private func body(_ response: PageResponse) -> Data {
        if case .bytes(let bytes) = response.content { bytes } else { Data() }
    }

    private func json(_ response: PageResponse) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: body(response)) as? [String: Any] ?? [:]
    }

    @Test("The page has what `eegsync fleet` says, the worst first")
    func facts() async throws {
        let routes = StudyRoutes { Self.fleet }
        let said = try json(await routes.respond(PageRequest(path: "/api/study")))
        let rows = try #require(said["rows"] as? [[String: Any]])
        #expect(rows.map { $0["machine"] as? String } == ["pi-2", "pi-4", "pi-1", "pi-3"])
        #expect(rows.map { $0["severity"] as? String } == ["waiting", "waiting", "good", "idle"])
        #expect(rows.map { $0["is_silent"] as? Bool } == [false, true, false, false])
        #expect(rows[1]["sentence"] as? String == "was not heard of for 8 min 20 s; it was said then that it says so")
        #expect(rows[0]["battery_percent"] as? Double == 61 && rows[0]["disk_days"] as? Double == 40.5)
        #expect(rows[3]["headset"] == nil && rows[3]["sentence"] as? String == "has no headset yet")
        let lines = Self.fleet.lines(style: .plain)
        let summary = try #require(said["summary"] as? String)
        let notes = try #require(said["notes"] as? [String])
        #expect(summary.hasPrefix("4 machines, 3 headsets") && Array(lines.suffix(1 + notes.count)) == [summary] + notes)
        #expect(notes.contains { $0.contains("quota") } && said["centre"] as? String == "server:5432/study")
    }

    @Test("What machines call themselves turns no words around")
    func printable() {
        var row = Self.row("pi\u{202E}-1", "good")
        (row.study, row.version) = ("a\u{2066}", "1\u{7}")
        row.headset?.name = "le\u{200F}ft\n"
        row.headset?.sentence = "str\u{202E}eams"
        row.alerts = ["it \u{202E}is hot"]
        let facts = StudyPageFacts(FleetFacts(FleetReading(rows: [row]), centre: "c", silenceSeconds: 120))
        let texts =
            [facts.rows[0].study, facts.rows[0].machine, facts.rows[0].sentence] + facts.notes
            + [facts.rows[0].headset ?? "", facts.rows[0].version ?? ""]
        #expect(texts.allSatisfy { $0 == $0.printable } && texts.count >= 6, "\(texts)")
    }

    @Test("However many look, the centre is asked once in a while, also where it cannot be reached", arguments: [false, true])
    func asked(isAway: Bool) async throws {
        let asked = Mutex(0)
        let routes = StudyRoutes(age: .seconds(86_400)) {
            asked.withLock { $0 += 1 }
            if isAway { throw CentreError.unreachable(detail: "it is\u{202E} away") }
            return Self.fleet
        }
        for _ in 0..<20 {
            let response = await routes.respond(PageRequest(path: "/api/study"))
            #expect(response.status == (isAway ? 503 : 200))
            guard isAway else { continue }
            let problem = try #require(try json(response)["problem"] as? String)
            #expect(problem.contains("the centre cannot be reached") && !problem.unicodeScalars.contains("\u{202E}"))
        }
        #expect(asked.withLock { $0 } == 1)
    }

    @Test("It has a document of its own, and nothing of a machine")
    func others() async throws {
        let routes = StudyRoutes { Self.fleet }
        let own = body(await routes.respond(PageRequest(path: "/")))
        let text = String(decoding: own, as: UTF8.self)
        #expect(text.contains("<body data-pages=\"study\">") && text.contains("main.js"))
        let script = await routes.respond(PageRequest(path: "/study.js"))
        #expect(script.status == 200 && script.type.hasPrefix("text/javascript"))
        for path in ["/api/now", "/api/recordings", "/api/recordings/1", "/api/recordings/1/streams", "/api/exports/1", "/x"] {
            #expect(await routes.respond(PageRequest(path: path)).status == 404, "\(path)")
        }
        for path in ["/api/control", "/api/exports", "/api/study"] {
            let body = Data("{\"action\":\"stop\",\"headset\":\"left\",\"recording\":1,\"format\":\"csv\"}".utf8)
            #expect(await routes.respond(PageRequest(method: "POST", path: path, body: body)).status == 404, "\(path)")
        }
    }

    @Test("What cannot be is said before anything is served")
    func refusals() throws {
        let both = try ProgramRun(["serve", "--from", "postgresql://a@b/c", "--database", "x.sqlite"])
        #expect(both.exitCode == 64 && both.errors.contains("state one of them"))
        let alone = try ProgramRun(["serve", "--silent-after", "5min"])
        #expect(alone.exitCode == 64 && alone.errors.contains("state --from"))
        let wrong = try ProgramRun(["serve", "--from", "postgresql://a@[::1", "--port", "18999"])
        #expect(wrong.exitCode == 64 && wrong.errors.contains("postgresql://ROLE@HOST/DATABASE"), "\(wrong.errors)")
    }
}
