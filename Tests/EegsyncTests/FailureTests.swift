import Storage
import Testing
import YAMLReading

@testable import eegsync

@Suite struct FailureTests {
    private static let storageErrors: [(StorageError, Int32)] = [
        (.cannotOpen(path: "/a", reason: "r"), 66), (.directoryMissing(path: "/a"), 66),
        (.newerSchema(path: "/a", unknownMigrations: ["m9"]), 65), (.corrupt(path: "/a", detail: "d"), 65),
        (.diskFull(detail: "d"), 74), (.readOnly(detail: "d"), 77), (.busy(detail: "d"), 75), (.inUse(path: "/a", pid: 7), 75),
        (.constraint(detail: "d"), 70), (.sqlite(code: 1, detail: "d"), 74), (.notFound(what: "recording 3"), 66),
        (.denied(path: "/a", group: "eegsync"), 77), (.denied(path: "/a", group: nil), 77),
        (.readOnlyFileSystem(path: "/a"), 77), (.leftJournal(path: "/a"), 65),
        (.alreadyRecording(headset: "left", recording: 3), 75), (.refused(reason: "r"), 64),
    ]

    @Test(arguments: storageErrors) func eachErrorOfTheDatabaseHasItsExitCode(error: StorageError, code: Int32) {
        let failure = Failure(error)
        #expect(failure.code.rawValue == code)
        #expect(!failure.consequence.isEmpty && !failure.remedy.isEmpty)
    }

    @Test func theMessageSaysWhatHappenedWhatHappensAndWhatToDo() {
        let message = Failure(StorageError.inUse(path: "/d.sqlite", pid: 42)).message(style: .plain)
        #expect(
            message == """
                eegsync: process 42 already acquires into /d.sqlite.
                  What happens now: this process stops; that one goes on.
                  What you can do: use that one, or stop it first (systemctl stop eegsync, or kill 42).
                """)
    }

    @Test func aWrongConfigurationExitsWith78() {
        let problem = YAMLProblem(line: 3, column: 1, key: "database", why: "unknown key", hint: "x")
        let wrong = ConfigurationError.wrong(file: "f", .invalid([problem]))
        for error: ConfigurationError in [
            .unreadable(file: "f", reason: "r"), .wrong(file: "f", .malformed(line: nil, column: nil, reason: "r")),
            .noDatabase(file: "f"), wrong,
        ] {
            #expect(Failure(error).code == .configuration)
        }
        #expect(Failure(wrong).problem.contains("line 3, column 1: database: unknown key; x"))
    }

    @Test func anUnknownErrorIsADefect() {
        struct Surprise: Error {}
        #expect(Failure(Surprise()).code == .software)
    }

    @Test func textFromElsewhereCannotSteerTheTerminal() {
        let message = Failure(StorageError.corrupt(path: "/a\u{1B}[2J", detail: "d")).message(style: .plain)
        #expect(!message.contains("\u{1B}"))
    }
}
