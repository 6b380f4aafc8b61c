import Foundation
import Testing

@testable import eegsync

/// `eegsync configuration`, as a person and a service run it.
@Suite struct ConfigurationCommandTests {
    private let directory: TestDirectory
    private static let right = "database: /nowhere/a.sqlite\nheadsets: [{name: left, model: muse, serial: S1}]\n"

    init() throws { directory = try TestDirectory() }

    @Test func aRightOneIsRightAndNothingElseIsLookedAt() throws {
        let file = try directory.write(Self.right, to: "a.yaml")
        // Neither the environment's database nor one of the file is opened.
        let run = try ProgramRun(["configuration", "check", file], environment: ["EEGSYNC_DATABASE": "/absent/b.sqlite"])
        #expect(run.exitCode == 0 && run.output.contains("a.yaml is right."), "\(run.errors)")
        let json = try ProgramRun(["configuration", "check", file, "--json"]).json()
        #expect(json["is_right"] as? Bool == true && json["database"] as? String == "/nowhere/a.sqlite")
        #expect((json["headsets"] as? [[String: Any]])?.first?["is_bound"] as? Bool == true)
    }

    @Test func everyMistakeHasItsLineAndColumn() throws {
        let file = try directory.write("databse: a\nheadsets:\n  - {name: left, model: muze}\nlog_level: loud\n", to: "a.yaml")
        let run = try ProgramRun(["configuration", "check", file])
        #expect(run.exitCode == 65 && run.errors.isEmpty)
        #expect(run.output.contains("has 4 mistakes:"), "\(run.output)")
        for line in [
            "line 1, column 1: databse: unknown key; did you mean 'database'?", "line 3, column 25: headsets[0].model:",
        ] {
            #expect(run.output.contains(line), "\(run.output)")
        }
        let json = try ProgramRun(["configuration", "check", file, "--json"]).json()
        #expect(json["is_right"] as? Bool == false)
        #expect((json["problems"] as? [[String: Any]])?.allSatisfy { $0["line"] is Int && $0["column"] is Int } == true)
    }

    /// `run` records in spite of them; who checks a file, or puts one on a card, hears of them.
    @Test func mistakesOfAlertsAloneCountHere() throws {
        let text = Self.right + "alerts: {wayz: 1}\n"
        let run = try ProgramRun(["configuration", "check", try directory.write(text, to: "a.yaml")])
        #expect(run.exitCode == 65 && run.output.contains("alerts.wayz"), "\(run.output)")
        #expect(try provision(text).exitCode == 65)
        #expect(directory.text("etc/eegsync.yaml") == nil)
    }

    @Test func damagedOnesAreNamedAndAbsentOnesAreNotThere() throws {
        for text in ["a: [", "\u{0}\u{1}", "&a [*a]", ""] {
            let run = try ProgramRun(["configuration", "check", try directory.write(text, to: "a.yaml")])
            #expect(run.exitCode == 65, "\(text): \(run.output)")
        }
        #expect(try ProgramRun(["configuration", "check", directory.path("absent.yaml")]).exitCode == 66)
        #expect(try ProgramRun(["configuration", "check", directory.url.path]).exitCode == 66)
    }

    // MARK: The boot partition

    private func provision(_ text: String, name: String = "boot/eegsync.yaml") throws -> ProgramRun {
        let file = try directory.write(text, to: name, mode: 0o755)
        try directory.write("", to: "etc/x")
        return try ProgramRun(["configuration", "provision", file, "--to", directory.path("etc/eegsync.yaml")])
    }

    private func mode(_ name: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: directory.path(name))[.posixPermissions] as? Int ?? 0
    }

    private func boot() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path("boot")).sorted()
    }

    @Test func aGoodOneIsInstalledOnceAndSetAside() throws {
        let run = try provision(Self.right)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(directory.text("etc/eegsync.yaml") == Self.right)
        #expect(try mode("etc/eegsync.yaml") == 0o644)
        #expect(try boot() == ["eegsync-installed.txt", "eegsync-result.txt"])
        #expect(directory.text("boot/eegsync-result.txt")?.contains("Headsets: left") == true)
        #expect(directory.text("boot/eegsync-installed.txt") == Self.right)
        // A second one keeps the first; nothing is left over of either.
        let second = Self.right.replacingOccurrences(of: "left", with: "right")
        #expect(try provision("\u{FEFF}" + second).exitCode == 0)
        #expect(directory.text("etc/eegsync.yaml") == second)
        #expect(directory.text("etc/eegsync.yaml-before-provisioning") == Self.right)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path("etc")).sorted()
                == ["eegsync.yaml", "eegsync.yaml-before-provisioning", "x"])
    }

    @Test func secretsDoNotStayOnTheBootPartition() throws {
        for secret in ["passkey: 123456", "\"pass\\u006bey\": 123456", "passkey: 0x1E240", "passkey:\n        123456"] {
            let text = "database: /nowhere/a.sqlite\nheadsets:\n  - name: left\n    model: muse\n    \(secret)\n"
            let run = try provision(text)
            #expect(run.exitCode == 0, "\(secret): \(run.output) \(run.errors)")
            #expect(directory.text("etc/eegsync.yaml") == text)
            #expect(try mode("etc/eegsync.yaml") & 0o007 == 0)
            for file in try boot() {
                let kept = directory.text("boot/\(file)") ?? ""
                #expect(!kept.contains("123456") && !kept.contains("1E240"), "\(file): \(kept)")
            }
            try FileManager.default.removeItem(atPath: directory.path("etc"))
        }
    }

    @Test func aDamagedOneIsRefusedWithItsMistakesBesideIt() throws {
        let text = "database: a\nheadsets:\n  - {name: left, model: muze, passkey: 654321}\n  - {passkey: '1234'}\n"
        try directory.write(Self.right, to: "etc/eegsync.yaml", mode: 0o640)
        let run = try provision(text)
        #expect(run.exitCode == 65)
        #expect(directory.text("etc/eegsync.yaml") == Self.right)
        #expect(try boot() == ["eegsync-refused.yaml", "eegsync-result.txt"])
        let note = try #require(directory.text("boot/eegsync-result.txt"))
        #expect(note.contains("NOT installed") && note.contains("line 1, column 11") && note.contains("muze"), "\(note)")
        let kept = try #require(directory.text("boot/eegsync-refused.yaml"))
        #expect(
            kept.contains("model: muze, passkey: REMOVED}") && !kept.contains("654321") && !kept.contains("1234"), "\(kept)")
    }

    /// Nothing that somebody puts there gets root to read or write anything else.
    @Test func hostileOnesAreRefused() throws {
        for text in [
            String(repeating: "a: b\n", count: 300_000), "&a [*a, *a]", "\u{0}", "- \u{1B}[31m", "passkey: |\n  1\n  2\n",
        ] {
            #expect(try provision(text).exitCode == 65)
            #expect(directory.text("etc/eegsync.yaml") == nil)
            #expect(directory.text("boot/eegsync-result.txt")?.contains("\u{1B}") == false)
        }
        // A link is not followed, neither to read nor to write the note.
        let victim = try directory.write("mine", to: "victim")
        try FileManager.default.removeItem(atPath: directory.path("boot/eegsync-result.txt"))
        for name in ["eegsync-result.txt", "eegsync-installed.txt"] {
            try FileManager.default.createSymbolicLink(atPath: directory.path("boot/\(name)"), withDestinationPath: victim)
        }
        #expect(try provision(Self.right).exitCode == 0)
        #expect(directory.text("victim") == "mine")
        try FileManager.default.createSymbolicLink(atPath: directory.path("boot/eegsync.yaml"), withDestinationPath: victim)
        let target = directory.path("etc/eegsync.yaml")
        let link = try ProgramRun(["configuration", "provision", directory.path("boot/eegsync.yaml"), "--to", target])
        #expect(link.exitCode == 74, "\(link.errors)")
        #expect(directory.text("etc/eegsync.yaml") == Self.right && directory.text("victim") == "mine")
        try FileManager.default.removeItem(atPath: directory.path("boot/eegsync.yaml"))
        #expect(mkfifo(directory.path("boot/eegsync.yaml"), 0o600) == 0)
        let pipe = try ProgramRun(["configuration", "provision", directory.path("boot/eegsync.yaml"), "--to", target])
        #expect(pipe.exitCode == 74 && pipe.errors.contains("no regular file"), "\(pipe.errors)")
    }

    @Test func whatCannotBeSetAsideIsNotInstalled() throws {
        let file = try directory.write(Self.right, to: "boot/eegsync.yaml")
        try directory.write("", to: "etc/x")
        // Stands where the note would: a partition that takes nothing.
        let note = directory.path("boot/eegsync-result.txt")
        try FileManager.default.createDirectory(atPath: note, withIntermediateDirectories: true)
        let run = try ProgramRun(["configuration", "provision", file, "--to", directory.path("etc/eegsync.yaml")])
        #expect(run.exitCode == 74, "\(run.errors)")
        #expect(directory.text("etc/eegsync.yaml") == nil && directory.text("boot/eegsync.yaml") == Self.right)
    }
}
