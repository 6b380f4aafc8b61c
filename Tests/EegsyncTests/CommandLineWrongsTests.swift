import Foundation
import Glibc
import Testing

@testable import eegsync

/// Command lines that would do something else than their user meant.
@Suite struct CommandLineWrongsTests {
    private let database: RecordedDatabase

    init() throws {
        database = try RecordedDatabase()
        try database.record()
    }

    private func run(_ arguments: [String], under prefix: [String] = []) throws -> ProgramRun {
        try ProgramRun(arguments, environment: ["EEGSYNC_DATABASE": database.path], under: prefix)
    }

    // MARK: Where output goes

    @Test func whatIsNoFileIsNeverReplaced() throws {
        let pipe = database.directory.appendingPathComponent("pipe.edf").path
        #expect(mkfifo(pipe, 0o600) == 0)
        for command in [["export", "1", "-o", pipe], ["report", "1", "-o", pipe], ["backup", pipe]] {
            for force in [[], ["--force"]] {
                let refused = try run(command + force)
                #expect(refused.exitCode == 73 && refused.errors.contains("it is no regular file"), "\(refused.errors)")
                #expect(refused.errors.contains("no file was written") && !refused.errors.contains("--force"))
            }
        }
        var facts = stat()
        #expect(lstat(pipe, &facts) == 0 && facts.st_mode & S_IFMT == S_IFIFO)
    }

    @Test(arguments: [["gaps", "1"], ["recordings"], ["audit", "--json"], ["--help"], ["--version"], ["help", "mark"]])
    func outputThatIsLostIsNoSuccess(command: [String]) throws {
        let whole = try run(command)
        #expect(whole.exitCode == 0 && !whole.output.isEmpty && whole.errors.isEmpty, "\(whole.errors)")
        let lost = try run(command, under: ["/bin/sh", "-c", #"exec "$0" "$@" > /dev/full"#])
        #expect(lost.exitCode == 74, "\(lost.errors)")
        #expect(lost.errors.contains("standard output could not be written"), "\(lost.errors)")
    }

    /// Its exit code says what was found, whoever reads the rest.
    @Test func aCodeThatSaysMoreStays() throws {
        let lost = try run(["status"], under: ["/bin/sh", "-c", #"exec "$0" "$@" > /dev/full"#])
        #expect(try lost.exitCode == run(["status"]).exitCode)
        #expect(lost.errors.contains("standard output could not be written"), "\(lost.errors)")
    }

    /// A command that goes on until somebody ends it.
    @Test(.timeLimit(.minutes(1))) func whoOnlyShowsEndsWithItsOutput() throws {
        let lost = try run(["status", "--watch"], under: ["/bin/sh", "-c", #"exec "$0" "$@" > /dev/full"#])
        #expect(lost.exitCode == 74, "\(lost.errors)")
    }

    /// Whoever waits for a headset that nobody knows would wait for ever.
    @Test func whatNobodyKnowsIsNotWaitedFor() throws {
        let refused = try run(["tap", "lfet"])
        #expect(refused.exitCode == 66 && refused.errors.contains("there is no headset lfet"), "\(refused.errors)")
    }

    @Test(arguments: ["2> /dev/full", "2>&-", "0<&- 2>&-", "0<&- 1>&- 2>&-"], [["fly"], ["gaps", "9"], ["gaps", "1"]])
    func errorsThatNobodyCanReadChangeNoCode(redirection: String, command: [String]) throws {
        let silent = try run(command, under: ["/bin/sh", "-c", #"exec "$0" "$@" "# + redirection])
        #expect(try silent.exitCode == run(command).exitCode)
        #expect(silent.errors.isEmpty)
    }

    /// Its number would be that of the next file that is opened, and errors would go there.
    @Test func aClosedDescriptorIsNoFilesOwn() throws {
        let shell = ["/bin/sh", "-c", #"exec "$0" "$@" 0<&- 1>&- 2>&-"#]
        let copy = database.directory.appendingPathComponent("copy.sqlite").path
        #expect(try run(["backup", copy], under: shell).exitCode == 0)
        #expect(try run(["audit", "--database", copy]).exitCode == 0)
        let table = database.directory.appendingPathComponent("t.csv").path
        #expect(try run(["export", "1", "-o", table], under: shell).exitCode == 0)
        #expect(try run(["backup", copy], under: shell).exitCode == 73)
        #expect(try run(["verify", copy]).exitCode == 0)
    }

    // MARK: Databases

    @Test(arguments: [
        ["pause"], ["resume"], ["mark", "x"], ["record", "stop", "left"], ["marks", "edit", "1", "--text", "x"],
        ["marks", "delete", "1"], ["recordings", "edit", "1", "--notes", "x"], ["schedule", "remove", "1"],
        ["headsets", "rename", "left", "right"], ["headsets", "adopt", "left", "C0:EE:60:00:02:01"], ["machine", "moved"],
        ["machine", "copied"], ["refit"], ["ship", "--once", "--to", "postgresql://eegsync@127.0.0.1:1/study"],
    ])
    func aMistypedDatabaseIsNotMade(command: [String]) throws {
        let mistyped = database.path + "-mistyped"
        for run in [
            try ProgramRun(command + ["--database", mistyped]),
            try ProgramRun(command, environment: ["EEGSYNC_DATABASE": mistyped]),
        ] {
            #expect(run.exitCode == 66 && run.errors.contains("it is not there"), "\(command): \(run.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: mistyped))
    }

    @Test(arguments: [
        ["record", "start", "left", "--model", "muse"],
        ["schedule", "add", "left", "--model", "muse", "--at", "22:00", "--for", "8h"],
    ])
    func whatBeginsSomethingMakesADatabase(command: [String]) throws {
        let new = database.directory.appendingPathComponent("new.sqlite").path
        let run = try ProgramRun(command + ["--database", new])
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(FileManager.default.fileExists(atPath: new))
    }

    @Test func aPauseMayComeBeforeTheFirstStart() throws {
        let other = try RecordedDatabase()
        let file = try other.configure("central: {kind: auto}\nheadsets: [{name: left, model: muse}]")
        for command in ["pause", "resume"] {
            let run = try ProgramRun([command, "--config", file])
            #expect(run.exitCode == 0, "\(run.errors)")
        }
        #expect(FileManager.default.fileExists(atPath: other.path))
    }

    @Test func theDatabaseIsNoBackupOfItself() throws {
        let link = database.directory.appendingPathComponent("link.sqlite").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: database.path)
        for path in [database.path, link] {
            let same = try run(["verify", path])
            #expect(same.exitCode == 64 && same.errors.contains("is the database itself"), "\(same.errors)")
        }
        let absent = try run(["verify", database.path + "-not"])
        #expect(absent.exitCode == 66 && absent.errors.contains("eegsync backup FILE"), "\(absent.errors)")
        #expect(!absent.errors.contains("record start"), "\(absent.errors)")
    }

    // MARK: Values

    @Test(arguments: [
        ["schedule", "add", "left", "--model", "muse", "--at", "22:00", "--for", "8h", "--label"],
        ["record", "start", "right", "--model", "muse", "--label"], ["recordings", "edit", "1", "--label"],
    ])
    func aLabelHasBounds(command: [String]) throws {
        for label in ["", String(repeating: "x", count: 20_000)] {
            let refused = try run(command + [label])
            #expect(refused.exitCode == 64 && refused.errors.contains("label has \(label.count) characters"))
        }
        #expect(try run(["schedule", "list"]).output.contains("Nothing is scheduled"))
    }

    @Test func aDayThatIsNoneIsAWrongCommandLine() throws {
        let refused = try run(["recordings", "edit", "1", "--subject-birthdate", "2026-02-30"])
        #expect(refused.exitCode == 64 && refused.errors.contains("is no subject_birthdate"), "\(refused.errors)")
    }

    @Test(arguments: ["--json", "--watch"]) func aCheckIgnoresNothing(option: String) throws {
        let refused = try run(["status", "--check", option])
        #expect(refused.exitCode == 64 && refused.errors.contains("--check prints one line"), "\(refused.errors)")
    }

    // MARK: A centre

    /// libpq's message has two lines, of which a tab indents the second one. Where no libpq is there, it says so.
    @Test func aCentreThatCannotBeReachedIsSaidInPlainLines() throws {
        let fleet = try run(["fleet", "--from", "postgresql://eegsync@127.0.0.1:1/study?sslmode=disable"])
        #expect([69, 75].contains(fleet.exitCode), "\(fleet.errors)")
        #expect(!fleet.errors.contains("\u{FFFD}") && !fleet.errors.contains("\t"), "\(fleet.errors)")
    }
}
