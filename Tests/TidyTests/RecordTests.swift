import Foundation
import Testing

/// The changelog, the decisions and the subjects of commits; each rule bites on a planted defect.
@Suite struct RecordTests {
    private static let head = "# Changes\n\nWhat a user notices.\n\n"

    private func changelog(_ text: String) -> [Int] {
        Records.changelog(SourceText(path: "CHANGELOG.md", text: text)).map(\.line)
    }

    @Test func theChangelogIsKept() throws {
        let findings = Records.changelog(SourceText(path: "CHANGELOG.md", text: try Tree.text("CHANGELOG.md")))
        #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
    }

    @Test func aChangelogOutOfFormIsFound() {
        let sound = "## Unreleased\n\n- `eegsync` does\n  more.\n\n## 1.1.0 - 2027-01-02\n\n- A.\n\n## 1.0.0 - 2026-12-01\n"
        #expect(changelog(Self.head + sound) == [])
        #expect(changelog("# News\n\nWhat.\n\n## Unreleased\n") == [1])
        #expect(changelog(Self.head + "## Next\n\n- A.\n") == [5])
        #expect(changelog(Self.head + "## Unreleased\n\n## 1.0.0 - 2026-12-01\n\n## 1.1.0 - 2027-01-02\n") == [9])
        #expect(changelog(Self.head + "## Unreleased\n\n## 1.0.0\n") == [7])
        #expect(changelog(Self.head + "## Unreleased\n\nProse.\n- No full stop\n- B.\n") == [7, 8])
        #expect(changelog(Self.head + "## Unreleased\n\n- `StreamAssembler` is.\n- See Tests/Lab.\n- A.swift.\n") == [7, 8, 9])
    }

    @Test func everyDecisionIsDatedAndListed() throws {
        let index = try Tree.text("Sources/eegsync/eegsync.docc/eegsync.md")
        let files = Tree.files(below: "Sources/eegsync/eegsync.docc/Decisions", withExtensions: ["md"])
        #expect(files.count > 5)
        let findings = files.flatMap { Records.decision($0, index: index) }
        #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
    }

    @Test func aDecisionOutOfFormIsFound() {
        let sound = "# T\n\nDecided on 2026-11-21: so.\n\n## Why\n\n## What it costs\n\n## To reverse it\n"
        func count(_ text: String, index: String = "- <doc:Planted>") -> Int {
            Records.decision(SourceText(path: "Decisions/Planted.md", text: text), index: index).count
        }
        #expect(count(sound) == 0)
        #expect(count(sound, index: "") == 1)
        #expect(count(sound.replacing(" on 2026-11-21", with: "")) == 1)
        #expect(count(sound.replacing("## What it costs", with: "")) == 1)
    }

    @Test func thePagesForContributorsNameWhatExists() throws {
        let unit = try Tree.text("Deploy/eegsync.service")
        for page in ["SECURITY.md", "CONTRIBUTING.md"] {
            let file = SourceText(path: page, text: try Tree.text(".github/\(page)"))
            let findings = Records.names(file, tests: Tree.tests, unit: unit) {
                FileManager.default.fileExists(atPath: Tree.top.appendingPathComponent($0).path)
            }
            #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
        }
    }

    @Test func aNameOfNothingIsFound() {
        let tests = [SourceText(path: "Tests/A/LinkTests.swift", text: "")]
        func count(_ text: String) -> Int {
            Records.names(SourceText(path: "P.md", text: text), tests: tests, unit: "User=eegsync\n") { $0 == "Tests/A" }.count
        }
        #expect(count("`LinkTests` in `Tests/A`, `./Tests/A --keep` as `User=eegsync`, Tests/B, `a=b`") == 0)
        for defect in ["`LostTests`", "`Tests/B`", "`./Tests/B`", "`User=root`"] { #expect(count(defect) == 1, "\(defect)") }
    }

    @Test(arguments: [
        ("Store the epochs of a stream", true), ("Use EDF+: gaps survive it", true), ("Record for 1 h", true),
        ("WIP", false), ("wip: perform", false), ("Merge main", false), ("Merge branch 'a' of /b/a", false),
        ("fixup! Store", false), ("Lab: boot a machine", false), ("store rows", false), ("Tests", false),
        ("Store rows.", false), ("Store " + String(repeating: "rows ", count: 30), false),
    ]) func aSubjectThatSaysNothingIsRefused(subject: String, isAccepted: Bool) throws {
        let process = Process()
        process.executableURL = Tree.top.appendingPathComponent("Tests/Commits/check")
        process.arguments = ["-"]
        let input = Pipe()
        process.standardInput = input
        process.standardError = FileHandle.nullDevice
        try process.run()
        input.fileHandleForWriting.write(Data("Say what changed\n\(subject)\n".utf8))
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect((process.terminationStatus == 0) == isAccepted)
    }
}
