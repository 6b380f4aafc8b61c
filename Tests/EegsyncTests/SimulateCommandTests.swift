import Foundation
import Rehearsal
import Storage
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

    @Test func aDatabaseIsKeptOfTheSameRun() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString).sqlite").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Of this one the disk is full for a while, which only a spool and a reserve meet.
        let arguments = ["simulate", "--seeds", "31296751..31296751", "--json"]
        let facts = try ProgramRun(arguments).json()
        let kept = try ProgramRun(arguments + ["--keep", path]).json()
        for key in ["rows", "missing", "recovered"] {
            #expect(try #require(facts[key] as? Int) > 0)
            #expect(facts[key] as? Int == kept[key] as? Int)
        }
        let store = try ReadOnlyStore(path: path, hostBoot: try HostBoot.current())
        defer { try? store.close() }
        let stored = try store.recordings().reduce(0) { sum, recording in
            try store.audit(recording: RecordingID(rawValue: recording.id)).streams.reduce(sum) { $0 + Int($1.rows) }
        }
        #expect(stored == facts["rows"] as? Int)
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
