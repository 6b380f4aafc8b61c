import Foundation
import GRDB
import Testing

@testable import eegsync

/// `eegsync manifest` and `--check`, as two people on two machines run them.
@Suite struct ManifestCommandTests {
    @Test func aCopyElsewhereIsComparedWithWhatWasSigned() throws {
        let directory = try RecordedDatabase()
        let path = directory.directory.appendingPathComponent("demo").path
        let demo = try ProgramRun(["demo", "--directory", path, "--seconds", "60", "--seed", "3"])
        #expect(demo.exitCode == 0, "\(demo.errors)")
        let (database, manifest) = (path + "/eegsync.sqlite", path + "/night.manifest")
        let (key, copy) = (path + "/machine.key", path + "/copy.sqlite")
        let written = try ProgramRun(["manifest", "1", "-o", manifest, "--key", key, "--database", database])
        #expect(written.exitCode == 0, "\(written.errors)")
        #expect(try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int == 0o600)
        let exported = try ProgramRun(["export", "1", "--format", "sqlite", "-o", copy, "--database", database])
        #expect(exported.exitCode == 0, "\(exported.errors)")

        let whole = try ProgramRun(["manifest", "--check", manifest, "--database", copy])
        #expect(whole.exitCode == 0, "\(whole.output) \(whole.errors)")
        #expect(whole.output.contains("is what the manifest says"))
        let publicKey = try #require(whole.output.split(separator: " ").last?.dropLast(3))
        #expect(try ProgramRun(["manifest", "--check", manifest, "--public-key", "x", "--database", copy]).exitCode == 65)
        let known = ["manifest", "--check", manifest, "--public-key", String(publicKey), "--database", copy]
        #expect(try ProgramRun(known).exitCode == 0)

        // Somebody who changes a value and computes all digests anew cannot sign.
        let text = try String(contentsOfFile: manifest, encoding: .utf8)
        try text.replacing("\"rows\":", with: "\"rows\":1").write(toFile: manifest, atomically: true, encoding: .utf8)
        #expect(try ProgramRun(known).exitCode == 65)
        // A manifest stays; another one needs another name.
        #expect(try ProgramRun(["manifest", "1", "-o", manifest, "--key", key, "--database", database]).exitCode == 73)
    }

    @Test func aRecordingThatDoesNotHoldIsNotSigned() throws {
        let directory = try RecordedDatabase()
        let path = directory.directory.appendingPathComponent("demo").path
        #expect(try ProgramRun(["demo", "--directory", path, "--seconds", "60", "--seed", "4"]).exitCode == 0)
        let database = path + "/eegsync.sqlite"
        let queue = try DatabaseQueue(path: database)
        try queue.write { db in try db.execute(sql: "UPDATE sample SET c1 = c1 + 1 WHERE n = 100") }
        try queue.close()
        let audit = try ProgramRun(["audit", "--database", database, "--json"])
        #expect(audit.exitCode == 65)
        let evidence = try audit.json()["evidence"] as? [[String: Any]] ?? []
        #expect(evidence.map { $0["evidence"] as? String } == ["arithmetic", "extent", "clock", "content", "file"])
        #expect(evidence.map { $0["result"] as? String } == ["holds", "holds", "holds", "fails", "holds"])
        let refused = try ProgramRun(["manifest", "1", "--key", path + "/key", "--database", database])
        #expect(refused.exitCode == 65)
        #expect(refused.errors.contains("no manifest is written"))
        #expect(try ProgramRun(["audit", "--quick", "--database", database]).exitCode == 0)
    }
}
