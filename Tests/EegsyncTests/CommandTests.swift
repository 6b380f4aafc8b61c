import Foundation
import Storage
import Testing

@testable import eegsync

/// The built program, command by command.
@Suite struct CommandTests {
    @Test func helpAndVersionAreComplete() throws {
        let help = try ProgramRun(["--help"])
        #expect(help.exitCode == 0)
        for command in [
            "record", "mark", "marks", "status", "recordings", "gaps", "audit", "export", "replay", "demo", "run", "simulate",
            "scan", "doctor", "headsets", "capture", "impedance", "refit", "events", "latency", "imitate", "companion",
        ] {
            #expect(help.output.contains("\n  \(command) "), "\(command)")
            let own = try ProgramRun(["help", command])
            #expect(own.exitCode == 0)
            #expect(own.output.contains("EXAMPLE") || command == "record", "\(command)")
        }
        #expect(try ProgramRun(["--version"]).output == "\(BuildIdentity.own.description)\n")
        #expect(try ProgramRun(["--generate-completion-script", "bash"]).output.contains("complete"))
    }

    @Test func aWrongCommandLineExitsWith64() throws {
        for arguments in [
            ["fly"], ["gaps"], ["gaps", ""], ["mark", "a", "--duration", "nan"], ["export", "1", "-o", "a.xyz"],
        ] {
            #expect(try ProgramRun(arguments, environment: ["EEGSYNC_DATABASE": "/absent"]).exitCode == 64, "\(arguments)")
        }
    }

    @Test func withoutADatabaseTheMessageSaysWhatToDo() throws {
        let run = try ProgramRun(["recordings", "--config", "/absent/eegsync.yaml"])
        #expect(run.exitCode == 78)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("/absent/eegsync.yaml") && run.errors.contains("What you can do:"))
    }

    @Test func aRecordingSaysWhatPeopleSayOfIt() throws {
        let database = try RecordedDatabase()
        let environment = ["EEGSYNC_DATABASE": database.path]
        func run(_ arguments: String...) throws -> ProgramRun { try ProgramRun(arguments, environment: environment) }
        let started = try run(
            "record", "start", "left", "--model", "muse", "--subject", "P07", "--session", "2", "--run", "1", "--set", "cap=M")
        #expect(started.exitCode == 0, "\(started.errors)")
        let edited = try run("recordings", "edit", "1", "--operator", "JB", "--set", "cap=L=x", "--unset", "time-zone")
        #expect(edited.exitCode == 0 && edited.output.contains("operator, property:cap, time_zone"), "\(edited.errors)")
        let shown = try run("recordings", "show", "1")
        for line in ["  subject   P07", "  session   2", "  run       1", "  operator  JB", "  cap       L=x"] {
            #expect(shown.output.contains(line + "\n"), "\(shown.output)")
        }
        #expect(!shown.output.contains("time_zone"))
        #expect(try run("recordings").output.contains("P07"))
        #expect(try run("recordings", "edit", "1").exitCode == 64)
        #expect(try run("recordings", "edit", "1", "--set", "cap").exitCode == 64)
        #expect(try run("recordings", "edit", "1", "--time-zone", "Moon/Base").exitCode == 64)
        #expect(try run("recordings", "edit", "1", "--subject-sex", "x").errors.contains("female, male, other"))
        #expect(try run("recordings", "show", "2").exitCode == 66)
    }

    @Test func aRecordingIsStartedMarkedAndStoppedWithoutADaemon() throws {
        let database = try RecordedDatabase()
        let environment = ["EEGSYNC_DATABASE": database.path]
        let start = try ProgramRun(
            ["record", "start", "left", "--model", "thinkgear", "--label", "l", "--json"], environment: environment)
        #expect(start.exitCode == 0, "\(start.errors)")
        #expect(try start.json()["recording"] as? Int == 1)
        #expect(try start.json()["daemon_pid"] == nil)
        let again = try ProgramRun(["record", "start", "left", "--model", "thinkgear"], environment: environment)
        #expect(again.exitCode == 75)
        #expect(again.errors.contains("being recorded already (recording 1)") && again.errors.contains("record stop left"))
        let mark = try ProgramRun(["mark", "lights out", "--duration", "2.5", "--json"], environment: environment)
        #expect(try mark.json()["recordings"] as? [Int] == [1])
        let status = try ProgramRun(["status"], environment: environment)
        #expect(status.output.contains("left waits for eegsync run, which does not run"))
        #expect(status.output.contains("you can: start it: systemctl start eegsync"))
        #expect(try ProgramRun(["record", "stop", "left"], environment: environment).exitCode == 0)
        #expect(try ProgramRun(["record", "stop", "left"], environment: environment).exitCode == 66)
        #expect(try ProgramRun(["mark", "late"], environment: environment).exitCode == 66)
        #expect(try ProgramRun(["mark", "late", "--recording", "1"], environment: environment).exitCode == 0)
    }

    @Test func theConfigurationGivesTheModelAndTheDatabase() throws {
        let database = try RecordedDatabase()
        let file = try database.configure(
            """
            central: {kind: simulation, headsets: []}
            headsets: [{name: right, model: buffered-eeg}]
            """)
        #expect(try ProgramRun(["record", "start", "right", "--config", file]).exitCode == 0)
        let unknown = try ProgramRun(["record", "start", "other", "--config", file])
        #expect(unknown.exitCode == 66)
        #expect(unknown.errors.contains("names no headset other, only right"))
        let recordings = try ProgramRun(["recordings", "--json", "--config", file]).json()["recordings"] as? [[String: Any]]
        #expect(recordings?.first?["model"] as? String == "buffered-eeg")
        #expect(recordings?.first?["state"] as? String == "waiting")
    }

    @Test func factsAreListed() throws {
        let database = try RecordedDatabase()
        try database.record()
        let environment = ["EEGSYNC_DATABASE": database.path]
        let recordings = try ProgramRun(["recordings"], environment: environment)
        #expect(recordings.output.contains("2,300") && recordings.output.contains("night 3, P07, sleep"))
        let gaps = try ProgramRun(["gaps", "1"], environment: environment)
        #expect(gaps.output.contains("linkLost") && gaps.output.contains("200 rows missing for good"), "\(gaps.output)")
        let status = try ProgramRun(["status", "--json"], environment: environment).json()
        let headset = (status["headsets"] as? [[String: Any]])?.first
        #expect(headset?["battery_percent"] as? Double == 81)
        #expect(headset?["severity"] as? String == "waiting")
        #expect(try ProgramRun(["gaps", "9"], environment: environment).exitCode == 66)
    }

    @Test func theAuditPassesAndBites() throws {
        let database = try RecordedDatabase()
        try database.record()
        let environment = ["EEGSYNC_DATABASE": database.path]
        let good = try ProgramRun(["audit", "--json"], environment: environment)
        #expect(good.exitCode == 0, "\(good.output)")
        #expect(try good.json()["holds"] as? Bool == true)
        // The planted defect: a row vanishes behind the ledger's back.
        let sqlite = Process()
        sqlite.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        sqlite.arguments = [database.path, "DELETE FROM sample WHERE n = 17"]
        try sqlite.run()
        sqlite.waitUntilExit()
        let bad = try ProgramRun(["audit"], environment: environment)
        #expect(bad.exitCode == 65)
        #expect(bad.output.contains("off by 1") && bad.output.contains("The audit fails"), "\(bad.output)")
    }

    @Test func anExportIsWrittenOnceAndReplacedOnlyWithForce() throws {
        let database = try RecordedDatabase()
        try database.record()
        let environment = ["EEGSYNC_DATABASE": database.path]
        let file = database.directory.appendingPathComponent("a.edf").path
        let first = try ProgramRun(["export", "1", "-o", file, "--json"], environment: environment)
        #expect(first.exitCode == 0, "\(first.errors)")
        #expect((try first.json()["files"] as? [[String: Any]])?.first?["path"] as? String == file)
        #expect(first.errors.isEmpty)
        let second = try ProgramRun(["export", "1", "-o", file], environment: environment)
        #expect(second.exitCode == 73)
        #expect(second.errors.contains("--force"))
        #expect(try ProgramRun(["export", "1", "-o", file, "--force"], environment: environment).exitCode == 0)
        let unknown = try ProgramRun(["export", "1", "-o", file, "--force", "--stream", "ppg"], environment: environment)
        #expect(unknown.exitCode == 66)
        #expect(unknown.errors.contains("choose from: eeg"))
    }

    @Test func anExportedDatabaseIsADatabaseLikeAnyOther() throws {
        let database = try RecordedDatabase()
        try database.record()
        let environment = ["EEGSYNC_DATABASE": database.path]
        let file = database.directory.appendingPathComponent("one.sqlite").path
        #expect(try ProgramRun(["export", "1", "-o", file], environment: environment).exitCode == 0)
        #expect(try ProgramRun(["export", "1", "-o", file], environment: environment).exitCode == 73)
        #expect(try ProgramRun(["export", "1", "-o", file, "--force"], environment: environment).exitCode == 0)
        let audit = try ProgramRun(["audit", "--database", file, "--json"])
        #expect(audit.exitCode == 0, "\(audit.errors)")
        #expect(((try audit.json()["streams"] as? [[String: Any]])?.first?["rows"] as? Int) == 2300)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: database.directory.path).allSatisfy { !$0.contains("partial") })
    }

    @Test func damagedAndForeignFilesAreRefusedUntouched() throws {
        let database = try RecordedDatabase()
        let garbage = Data("this is no database, whatever its name says".utf8)
        try garbage.write(to: URL(fileURLWithPath: database.path))
        for arguments in [["recordings"], ["audit"], ["record", "start", "a", "--model", "thinkgear"]] {
            let run = try ProgramRun(arguments, environment: ["EEGSYNC_DATABASE": database.path])
            #expect(run.exitCode == 65, "\(arguments) \(run.errors)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: database.path)) == garbage)
        #expect(try ProgramRun(["recordings"], environment: ["EEGSYNC_DATABASE": "/absent/a.sqlite"]).exitCode == 66)
        #expect(try ProgramRun(["recordings"], environment: ["EEGSYNC_DATABASE": database.path + "2"]).exitCode == 66)
    }
}
