import ArgumentParser
import Foundation
import Storage
import Testing

@testable import eegsync

/// What people who tried the program stumbled over.
@Suite struct SmallWrongsTests {
    private let database: RecordedDatabase

    init() throws {
        database = try RecordedDatabase()
        try database.record()
    }

    private func run(_ arguments: String...) throws -> ProgramRun {
        try ProgramRun(arguments, environment: ["EEGSYNC_DATABASE": database.path])
    }

    @Test(arguments: [["gaps"], ["recordings", "show"], ["audit", "--quick"], ["export", "-o", "@"]])
    func theNewestRecordingHasANameToo(command: [String]) throws {
        for (index, name) in ["left", "latest", "1"].enumerated() {
            let file = database.directory.appendingPathComponent("\(index).csv").path
            let run = try ProgramRun(
                command.map { $0 == "@" ? file : $0 } + [name], environment: ["EEGSYNC_DATABASE": database.path])
            #expect(run.exitCode == 0, "\(run.errors)")
        }
        let unknown = try ProgramRun(
            command.map { $0 == "@" ? "/tmp/never.csv" : $0 } + ["right"], environment: ["EEGSYNC_DATABASE": database.path])
        #expect(unknown.exitCode == 66 && unknown.errors.contains("recording of a headset right"), "\(unknown.errors)")
    }

    @Test func anExplicitConfigurationBeatsTheEnvironment() throws {
        let other = try RecordedDatabase()
        let file = try other.configure("central: {kind: auto}\nheadsets: [{name: left, model: muse}]")
        let options = try DatabaseOptions.parse(["--config", file])
        #expect(try options.databasePath(environment: ["EEGSYNC_DATABASE": database.path]) == other.path)
        let both = try DatabaseOptions.parse(["--config", file, "--database", "/d.sqlite"])
        #expect(try both.databasePath(environment: ["EEGSYNC_DATABASE": database.path]) == "/d.sqlite")
        #expect(try DatabaseOptions.parse([]).databasePath(environment: ["EEGSYNC_DATABASE": database.path]) == database.path)
    }

    @Test(arguments: [
        (["-o", "-", "--format", "csv"], "standard output"),
        (["-o", "/tmp/never.edf", "--values", "raw"], "--values is for CSV"),
        (["-o", "/tmp/never.csv", "--gaps", "fill"], "missing samples are absent rows"),
        (["-o", "/tmp/never.sqlite", "--gaps", "segments"], "missing samples are absent rows"),
    ])
    func whatWouldBeIgnoredIsRefused(options: [String], words: String) throws {
        let run = try ProgramRun(["export", "1"] + options, environment: ["EEGSYNC_DATABASE": database.path])
        #expect(run.exitCode == 64 && run.errors.contains(words), "\(run.errors)")
    }

    @Test func aMarkOfBlanksIsRefused() throws {
        #expect(try run("mark", "  \t ").exitCode == 64)
        #expect(try run("mark", "said", "--at", "-1s").exitCode == 0)
        let edit = try run("marks", "edit", "1", "--text", " \u{A0}\n")
        #expect(edit.exitCode == 64 && edit.errors.contains("is empty"), "\(edit.errors)")
    }

    @Test func theNewestRecordingHasANameWhereverOneIsAskedFor() throws {
        let file = database.directory.appendingPathComponent("events.tsv")
        try Data("onset\tduration\ttrial_type\n1\tn/a\tgo\n".utf8).write(to: file)
        for name in ["left", "latest", "1"] {
            for command in [
                ["mark", "spoke", "--at", "-1s", "--recording", name], ["marks", "list", name], ["marks", name],
                ["marks", "import", name, file.path], ["refit", "--dry-run", name],
                ["recordings", "edit", name, "--notes", "n"],
            ] {
                let run = try ProgramRun(command, environment: ["EEGSYNC_DATABASE": database.path])
                #expect(run.exitCode == 0, "\(command): \(run.errors)")
            }
        }
        let unknown = try run("marks", "right")
        #expect(unknown.exitCode == 66 && unknown.errors.contains("recording of a headset right"), "\(unknown.errors)")
    }

    @Test func onlyANearOptionIsSuggested() throws {
        let range = try run("export", "1", "-o", "/tmp/never.csv", "--from", "10s")
        #expect(range.exitCode == 64 && range.errors.contains("'10s' of --from is no time"), "\(range.errors)")
        let far = try run("export", "1", "-o", "/tmp/never.csv", "--fort")
        #expect(far.exitCode == 64 && far.errors.contains("Unknown option '--fort'."), "\(far.errors)")
        #expect(!far.errors.contains("Did you mean"), "\(far.errors)")
        let near = try run("export", "1", "-o", "/tmp/never.csv", "--fromat", "csv")
        #expect(near.exitCode == 64 && near.errors.contains("Did you mean '--format'?"), "\(near.errors)")
    }

    @Test func aHeadsetThatTheConfigurationDoesNotNameIsRefusedWhateverItsModel() throws {
        let file = try database.configure(
            """
            central: {kind: simulation, headsets: []}
            headsets: [{name: right, model: buffered-eeg}]
            """)
        for (name, model) in [("ghost", "ganglion"), ("right", "ganglion")] {
            let refused = try ProgramRun(["record", "start", name, "--model", model, "--config", file])
            #expect(refused.exitCode == 66 && refused.errors.contains("names no headset \(name)"), "\(refused.errors)")
        }
        #expect(try ProgramRun(["record", "start", "right", "--model", "buffered-eeg", "--config", file]).exitCode == 0)
        let unproven = try run("record", "start", "ghost", "--model", "ganglion")
        #expect(unproven.exitCode == 0)
        #expect(unproven.output.contains("No configuration of this database was found here."), "\(unproven.output)")
    }

    @Test func aSlipInTheConfigurationIsNoMatterOfBluetooth() {
        var facts = HostFacts()
        facts.configuration = .wrong(path: "/c.yaml", problems: ["line 3: unknown key"])
        let checks = Diagnosis.findings(of: facts).map(\.check)
        #expect(checks.contains("configuration") && checks.contains("clock"))
        #expect(!checks.contains { $0.hasPrefix("adapter") || $0 == "bluetoothd" || $0 == "permission" }, "\(checks)")
    }
}
