import Foundation
import Rehearsal
import Testing

@testable import eegsync

/// `eegsync simulate`, as the built program.
@Suite struct SimulateCommandTests {
    @Test func aCalmSeedKeepsEveryPromise() throws {
        let run = try ProgramRun(["simulate", "--seeds", "1..1", "--faults", "none", "--json"])
        #expect(run.exitCode == 0, "\(run.errors)")
        let facts = try run.json()
        #expect(facts["seeds"] as? Int == 1)
        #expect((facts["violations"] as? [Any])?.isEmpty == true)
        #expect(try #require(facts["rows"] as? Int) > 170 * 250)
    }

    @Test func aPlantedDefectExitsWith65AndSaysHowToReplayIt() throws {
        let run = try ProgramRun(["simulate", "--seeds", "1", "--faults", "none", "--plant", "shiftChannel"])
        #expect(run.exitCode == 65)
        #expect(run.output.contains("storedIsSampled"))
        #expect(run.output.contains("eegsync simulate --seeds 1..1 --faults none --plant shiftChannel"))
    }

    @Test func theHelpNamesTheUsualSeedsAndEveryDefect() throws {
        let words = try ProgramRun(["simulate", "--help"]).output.split { $0.isWhitespace }.joined(separator: " ")
        #expect(words.contains("Without it: 1..50."))
        for defect in PlantedDefect.allCases { #expect(words.contains(defect.rawValue)) }
    }

    @Test func whatCannotBeKeptIsSaidBeforeAnythingIsMade() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appendingPathComponent("kept.sqlite").path
        try Data("precious".utf8).write(to: URL(fileURLWithPath: file))
        for (path, code) in [(file, 73), (directory.path + "/absent/kept.sqlite", 73), ("", 64), (directory.path + "/", 64)] {
            let run = try ProgramRun(["simulate", "--seeds", "1", "--faults", "none", "--keep", path])
            #expect(Int(run.exitCode) == code, "\(path): \(run.errors)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["kept.sqlite"])
    }

    @Test func wrongSeedsAndDefectsExitWith64() throws {
        for arguments in [
            ["--seeds", "5..1"], ["--seeds", "x"], ["--seeds", "0..18446744073709551615"], ["--plant", "gremlins"],
            ["--seeds", "1..2", "--keep", "/tmp/absent.sqlite"],
        ] {
            #expect(try ProgramRun(["simulate"] + arguments).exitCode == 64, "\(arguments)")
        }
    }
}
