import Foundation
import Testing

@testable import Storage
@testable import eegsync

/// `eegsync alerts` as a program.
@Suite struct AlertsCommandTests {
    private let database: RecordedDatabase

    init() throws {
        database = try RecordedDatabase()
        try database.record()
    }

    private func configure(_ alerts: String) throws -> [String] {
        ["--config", try database.configure("headsets: [{name: left, model: buffered-eeg}]\nalerts: \(alerts)")]
    }

    @Test func aCheckHasTheCodesOfItsFamily() throws {
        let rule = { (percent: Int, severity: String) in
            "{rules: [{when: battery_below, percent: \(percent), severity: \(severity)}]}"
        }
        // The battery is at 81 %.
        for (percent, severity, code, word) in [
            (15, "critical", 0, "OK"), (90, "warning", 1, "WARNING"), (90, "critical", 2, "CRITICAL"),
        ] as [(Int, String, Int32, String)] {
            let run = try ProgramRun(["alerts", "check"] + configure(rule(percent, severity)))
            #expect(run.exitCode == code, "\(run.output) \(run.errors)")
            #expect(run.output.hasPrefix("EEGSYNC \(word) - "))
            #expect(run.output.contains(" | 'left battery'=81%;"))
            #expect(run.output.split(separator: "\n").count == 1 && run.errors.isEmpty)
            let alias = try ProgramRun(["status", "--check"] + configure(rule(percent, severity)))
            #expect(alias.exitCode == code && alias.output.hasPrefix("EEGSYNC \(word) - "))
        }
    }

    @Test func aCheckThatCannotBeMadeIsUnknown() throws {
        let options = try configure("{}")
        try FileManager.default.removeItem(atPath: database.path)
        let absent = try ProgramRun(["alerts", "check"] + options)
        #expect(absent.exitCode == 3 && absent.output.hasPrefix("EEGSYNC UNKNOWN - the database cannot be read"))
        let wrong = try ProgramRun(["alerts", "check"] + configure("{rulez: []}"))
        #expect(wrong.exitCode == 3 && wrong.output.hasPrefix("EEGSYNC UNKNOWN - the configuration"))
        #expect(wrong.output.split(separator: "\n").count == 1)
    }

    @Test func theListSaysWhatEachRuleSaysNow() throws {
        let run = try ProgramRun(
            ["alerts", "list", "--json", "--state-directory", database.directory.path]
                + configure("{ways: [{kind: mail, to: a@b}]}"))
        #expect(run.exitCode == 0, "\(run.errors)")
        let document = try run.json()
        let rules = try #require(document["rules"] as? [[String: Any]])
        let battery = try #require(rules.first { $0["rule"] as? String == "battery_below" })
        #expect(battery["headset"] as? String == "left" && battery["verdict"] as? String == "clear")
        #expect(battery["value"] as? Double == 81 && battery["limit"] as? Double == 15)
        #expect((document["ways"] as? [[String: Any]])?.first?["name"] as? String == "mail")
        let table = try ProgramRun(
            ["alerts", "list", "--state-directory", database.directory.path, "--database", database.path])
        #expect(table.output.contains("battery_below         left     the battery is below 15 %"), "\(table.output)")
        #expect(table.output.contains("Nobody is notified"))
    }

    @Test func aTestGoesByEachWayAndSaysWhatBecameOfIt() throws {
        let server = try PostServer()
        let options = try configure(
            """

              ways:
                - {name: phone, kind: http, url: "http://127.0.0.1:\(server.port)/t"}
                - {name: script, kind: command, command: [/bin/false]}
            """)
        let run = try ProgramRun(["alerts", "test"] + options)
        #expect(run.exitCode == Failure.Code.unavailable.rawValue)
        #expect(run.output.contains("phone   http     taken"), "\(run.output)")
        #expect(run.output.contains("script  command  failed: it ended with exit code 1"))
        #expect(try server.requests.map { try $0.json()["event"] as? String } == ["test"])
        let one = try ProgramRun(["alerts", "test", "phone", "--json"] + options)
        #expect(one.exitCode == 0)
        let ways = try one.json()["ways"] as? [[String: Any]]
        #expect(ways?.count == 1 && ways?.first?["is_delivered"] as? Bool == true)
        let unknown = try ProgramRun(["alerts", "test", "fone"] + options)
        #expect(unknown.exitCode == Failure.Code.noInput.rawValue && unknown.errors.contains("there are phone, script"))
    }

    @Test func withoutWaysTheServiceEndsForAPerson() throws {
        let run = try ProgramRun(["alerts", "run", "--state-directory", database.directory.path] + configure("{}"))
        #expect(run.exitCode == Failure.Code.configuration.rawValue)
        #expect(run.errors.contains("names no way to notify anybody"))
    }
}
