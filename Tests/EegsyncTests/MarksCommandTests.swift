import Foundation
import Testing

@testable import Storage
@testable import eegsync

/// `eegsync mark --at` and `eegsync marks`, as a person uses them.
@Suite struct MarksCommandTests {
    private let database: RecordedDatabase
    private var environment: [String: String] { ["EEGSYNC_DATABASE": database.path] }

    init() throws {
        database = try RecordedDatabase()
        try database.record()
    }

    private func run(_ arguments: String...) throws -> ProgramRun { try ProgramRun(arguments, environment: environment) }

    private func listed(_ more: String...) throws -> [[String: Any]] {
        let run = try ProgramRun(["marks", "list", "1", "--json"] + more, environment: environment)
        #expect(run.exitCode == 0, "\(run.errors)")
        return try run.json()["annotations"] as? [[String: Any]] ?? []
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let url = database.directory.appendingPathComponent(name)
        try Data(text.utf8).write(to: url)
        return url.path
    }

    @Test func anInstantThatHasPassedIsMarkedInTheRecordingsThatRanThen() throws {
        let ago = try run("mark", "spoke", "--at", "-4s", "--json")
        #expect(ago.exitCode == 0, "\(ago.errors)")
        #expect(try ago.json()["recordings"] as? [Int] == [1])
        let position = try #require(listed().first?["position_seconds"] as? Double)
        #expect(position > 5.9 && position < 60, "\(position)")
        let early = try run("mark", "spoke", "--at", "-1d")
        #expect(early.exitCode == 66 && early.errors.contains("recording that ran then"))
        let outside = try run("mark", "spoke", "--at", "-1d", "--recording", "1")
        #expect(outside.exitCode == 64 && outside.errors.contains("before the recording"), "\(outside.errors)")
        let ahead = try run("mark", "spoke", "--at", "2199-01-01", "--recording", "1")
        #expect(ahead.exitCode == 64 && ahead.errors.contains("lies ahead"))
        #expect(try run("mark", "spoke", "--at", "yesterday").exitCode == 64)
    }

    @Test func aCorrectionKeepsWhatWasSaidBefore() throws {
        #expect(try run("mark", "eyes clsoed", "--at", "-5s", "--duration", "2").exitCode == 0)
        let edit = try run("marks", "edit", "1", "--text", "eyes closed", "--code", "7")
        #expect(edit.exitCode == 0 && edit.output.contains("annotation 2"), "\(edit.errors)")
        #expect(try listed().map { $0["description"] as? String } == ["eyes closed"])
        #expect(try listed().first?["duration_seconds"] as? Double == 2 && listed().first?["code"] as? Int == 7)
        let all = try listed("--all")
        #expect(all.map { $0["description"] as? String } == ["eyes clsoed", "eyes closed"])
        #expect(all.map { $0["replaced_by"] as? Int } == [2, nil] && all.map { $0["replaces"] as? Int } == [nil, 1])
        let again = try run("marks", "edit", "1", "--text", "x")
        #expect(again.exitCode == 64 && again.errors.contains("now it is annotation 2"))
        #expect(try run("marks", "delete", "2", "1").exitCode == 64)
        #expect(try listed().count == 1, "all are deleted, or none")
        #expect(try run("marks", "delete", "2").exitCode == 0)
        #expect(try listed().isEmpty && listed("--all").count == 2)
        #expect(try run("marks", "list", "1").output == "Recording 1 has no annotations.\n")
        #expect(try run("marks", "edit", "1").exitCode == 64)
        #expect(try run("marks", "delete", "99").exitCode == 66)
        let audit = try run("audit")
        #expect(audit.exitCode == 0, "\(audit.output)")
    }

    @Test func eventsOfBIDSAreImportedOnce() throws {
        let events = try file(
            "events.tsv",
            "onset\tduration\ttrial_type\tvalue\tresponse_time\n1.5\t0.25\tgo\t3\tn/a\n"
                + "2\tn/a\t\"say \"\"hm\"\"\tnow\"\tn/a\t0.4\n"
        )
        let first = try run("marks", "import", "1", events, "--json")
        #expect(first.exitCode == 0, "\(first.errors)")
        #expect(try first.json()["imported"] as? Int == 2)
        #expect(try first.json()["ignored_columns"] as? [String] == ["response_time"])
        let found = try listed()
        #expect(found.map { $0["description"] as? String } == ["go", "say \"hm\"\tnow"])
        #expect(found.map { $0["position_seconds"] as? Double } == [1.5, 2])
        #expect(found.map { $0["code"] as? Int } == [3, nil])
        #expect(try run("marks", "delete", "2").exitCode == 0)
        let again = try run("marks", "import", "1", events, "--json").json()
        #expect(again["imported"] as? Int == 0 && again["present"] as? Int == 1 && again["withdrawn"] as? Int == 1)
        #expect(try listed("--all").count == 2)
    }

    @Test func samplesAndTimesSayWhenToo() throws {
        let samples = try file("a.csv", "\u{FEFF}sample,value,\r\n250,7,x\r\n2499,8.0,\r\n")
        #expect(try run("marks", "import", "1", samples).exitCode == 0)
        #expect(try listed().map { $0["n"] as? Int } == [250, 2499])
        #expect(try listed().map { $0["position_seconds"] as? Double } == [1, 9.996])
        #expect(try listed().map { $0["description"] as? String } == ["code 7", "code 8"])
        let onset = try #require(listed().first?["onset"] as? String)
        let times = try file("b.csv", "time,description\n\(onset),a time\n")
        #expect(try run("marks", "import", "1", times).exitCode == 0)
        #expect(try listed().contains { $0["description"] as? String == "a time" })
        #expect(try run("audit").exitCode == 0)
    }

    @Test func oneWrongLineAndNothingIsImported() throws {
        let wrong = try file(
            "wrong.csv", "onset,duration,description\n1,1,a\nx,1,b\n3,-1,c\n4,1\n5,1,\"\u{A0} \n\"\n99999,1,e\n")
        let run = try run("marks", "import", "1", wrong)
        #expect(run.exitCode == 65)
        for line in ["line 3: the onset 'x'", "line 4: the duration '-1'", "line 5: 2 columns", "line 6: it says nothing"] {
            #expect(run.errors.contains(line), "\(line): \(run.errors)")
        }
        let late = try file("late.csv", "onset,description\n1,a\n99999,e\n")
        let outside = try self.run("marks", "import", "1", late)
        #expect(outside.exitCode == 65 && outside.errors.contains("line 3: "), "\(outside.errors)")
        #expect(try listed("--all").isEmpty)
        #expect(try self.run("marks", "import", "1", "/absent/a.csv").exitCode == 66)
        #expect(try self.run("marks", "import", "1", "a.xlsx").exitCode == 64)
        #expect(try self.run("marks", "import", "9", late).exitCode == 66)
    }
}
