import ArgumentParser
import Foundation
import GRDB
import Testing

@testable import Storage
@testable import eegsync

/// `eegsync backup`, `verify`, `delete`, `prune`, `forget` and `compact`, as scripts run them.
@Suite struct HousekeepingCommandTests {
    /// A demo's database: one recording that has ended.
    private static func demo(seed: Int) throws -> (directory: RecordedDatabase, database: String) {
        let directory = try RecordedDatabase()
        let path = directory.directory.appendingPathComponent("demo").path
        let demo = try ProgramRun(["demo", "--directory", path, "--seconds", "40", "--seed", "\(seed)"])
        #expect(demo.exitCode == 0, "\(demo.errors)")
        return (directory, path + "/eegsync.sqlite")
    }

    @Test func aBackupIsOneFileThatIsVerifiedAndAudited() throws {
        let (directory, database) = try Self.demo(seed: 5)
        let copy = directory.directory.appendingPathComponent("copy.sqlite").path
        let written = try ProgramRun(["backup", copy, "--database", database, "--json"])
        #expect(written.exitCode == 0, "\(written.errors)")
        #expect(try written.json()["has_keys"] as? Bool == false)
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect((try written.json()["bytes"] as? NSNumber) == attributes[.size] as? NSNumber)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.directory.path).sorted() == ["copy.sqlite", "demo"])
        #expect(try ProgramRun(["audit", "--database", copy]).exitCode == 0)
        let verified = try ProgramRun(["verify", copy, "--database", database])
        #expect(verified.exitCode == 0, "\(verified.output) \(verified.errors)")
        // Nothing is replaced unless it is asked for, and the database never.
        #expect(try ProgramRun(["backup", copy, "--database", database]).exitCode == 73)
        #expect(try ProgramRun(["backup", copy, "--force", "--database", database]).exitCode == 0)
        #expect(try ProgramRun(["backup", database, "--force", "--database", database]).exitCode == 73)
        let queue = try DatabaseQueue(path: copy)
        try queue.write { db in try db.execute(sql: "UPDATE sample SET c1 = c1 + 1 WHERE n = 100") }
        try queue.close()
        let spoiled = try ProgramRun(["verify", copy, "--database", database, "--json"])
        #expect(spoiled.exitCode == 65)
        #expect(try spoiled.json()["is_same"] as? Bool == false)
        #expect(try ProgramRun(["backup", copy, "--database", directory.path]).exitCode == 66)
    }

    @Test func aRecordingIsDeletedOnlyWhereSomebodySaysYes() throws {
        let (directory, database) = try Self.demo(seed: 6)
        defer { withExtendedLifetime(directory) {} }
        let unsaid = try ProgramRun(["delete", "1", "--database", database])
        #expect(unsaid.exitCode == 64 && unsaid.errors.contains("--yes"), "\(unsaid.errors)")
        #expect(try ProgramRun(["recordings", "--database", database]).output.contains("demo"))
        let gone = try ProgramRun(["delete", "1", "--yes", "--database", database])
        #expect(gone.exitCode == 0, "\(gone.errors)")
        let again = try ProgramRun(["delete", "1", "--yes", "--database", database])
        #expect(again.exitCode == 66, "\(again.errors)")
        let audit = try ProgramRun(["audit", "--database", database])
        #expect(audit.exitCode == 0, "\(audit.output)")
        let compacted = try ProgramRun(["compact", "--database", database, "--json"])
        #expect(compacted.exitCode == 0, "\(compacted.errors)")
        let facts = try compacted.json()
        #expect(try #require(facts["bytes_after"] as? Int) < #require(facts["bytes_before"] as? Int))
        #expect(try ProgramRun(["audit", "--database", database]).exitCode == 0)
    }

    @Test func aRuleIsShownBeforeItIsFollowed() throws {
        let (directory, database) = try Self.demo(seed: 7)
        defer { withExtendedLifetime(directory) {} }
        let nothing = try ProgramRun(["prune", "--database", database])
        #expect(nothing.exitCode == 64, "\(nothing.errors)")
        let dry = try ProgramRun(["prune", "--before", "2200-01-01", "--dry-run", "--database", database, "--json"])
        #expect(dry.exitCode == 0, "\(dry.errors)")
        #expect((try dry.json()["pruned"] as? [[String: Any]])?.first?["recording"] as? Int == 1)
        #expect(try ProgramRun(["prune", "--before", "1990-01-01", "--yes", "--database", database]).exitCode == 0)
        #expect(try ProgramRun(["recordings", "--database", database]).output.contains("demo"))
        let pruned = try ProgramRun(["prune", "--before", "2200-01-01", "--yes", "--database", database])
        #expect(pruned.exitCode == 0, "\(pruned.errors)")
        #expect(pruned.output.contains("Deleted: 1 recording"), "\(pruned.output)")
        #expect(try ProgramRun(["audit", "--database", database]).exitCode == 0)
    }

    @Test func theRuleOfTheConfigurationIsFollowedAndWhatNobodyConfirmedStays() throws {
        let (directory, database) = try Self.demo(seed: 8)
        let file = directory.directory.appendingPathComponent("eegsync.yaml").path
        let text = """
            database: \(database)
            headsets: [{name: left, model: muse}]
            retention: {keep_days: 1, require_confirmed: true}
            """
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let kept = try ProgramRun(["prune", "--yes", "--before", "2200-01-01", "--config", file, "--json"])
        #expect(kept.exitCode == 0, "\(kept.errors)")
        #expect((try kept.json()["pruned"] as? [Any])?.isEmpty == true)
        #expect((try kept.json()["unconfirmed"] as? [Any])?.count == 1)
    }

    @Test func aParticipantIsErasedByName() throws {
        let (directory, database) = try Self.demo(seed: 9)
        defer { withExtendedLifetime(directory) {} }
        let named = try ProgramRun(["recordings", "edit", "1", "--subject", "P07-secret", "--database", database])
        #expect(named.exitCode == 0, "\(named.errors)")
        #expect(try ProgramRun(["forget", "nobody", "--yes", "--database", database]).exitCode == 66)
        let erased = try ProgramRun(["forget", "P07-secret", "--yes", "--database", database])
        #expect(erased.exitCode == 0, "\(erased.errors)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: database))
        #expect(bytes.range(of: Data("P07-secret".utf8)) == nil)
        #expect(try ProgramRun(["audit", "--database", database]).exitCode == 0)
    }

    @Test func anErasureThatIsHinderedSaysSoAndIsGoneOnWith() throws {
        let (directory, database) = try Self.demo(seed: 9)
        defer { withExtendedLifetime(directory) {} }
        let named = try ProgramRun(["recordings", "edit", "1", "--subject", "P07-secret", "--database", database])
        #expect(named.exitCode == 0, "\(named.errors)")
        var configuration = GRDB.Configuration()
        configuration.allowsUnsafeTransactions = true
        let reader = try DatabaseQueue(path: database, configuration: configuration)
        try reader.inDatabase { db in
            try db.execute(sql: "BEGIN")
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM recording")
        }
        let hindered = try ProgramRun(["forget", "P07-secret", "--yes", "--database", database])
        #expect(hindered.exitCode == 75, "\(hindered.output) \(hindered.errors)")
        #expect(hindered.errors.contains("recording 1 is deleted"), "\(hindered.errors)")
        #expect(hindered.errors.contains("run the same command again"), "\(hindered.errors)")
        #expect(!hindered.errors.contains("nothing was written"), "\(hindered.errors)")
        try reader.inDatabase { db in try db.execute(sql: "COMMIT") }
        try reader.close()
        let finished = try ProgramRun(["forget", "P07-secret", "--yes", "--database", database])
        #expect(finished.exitCode == 0, "\(finished.errors)")
        #expect(finished.output.contains("Nothing of P07-secret is left; the file was rewritten"), "\(finished.output)")
        let beside = URL(fileURLWithPath: database).deletingLastPathComponent()
        for file in try FileManager.default.contentsOfDirectory(at: beside, includingPropertiesForKeys: nil) {
            #expect(try Data(contentsOf: file).range(of: Data("P07-secret".utf8)) == nil, "\(file.lastPathComponent)")
        }
        #expect(try ProgramRun(["audit", "--database", database]).exitCode == 0)
    }

    @Test func anAgeThatIsCountedFromNowNeedsAClockThatIsRight() throws {
        let day: Int64 = 86_400_000_000_000
        let now = 100 * day
        let days = try Prune.parse(["--keep-days", "30"])
        let known = try #require(days.rule(nil, now: now, isSynchronised: true))
        #expect(known.before == 70 * day && !known.skipsAge && days.exitCode(known) == nil)
        for arguments in [["--keep-days", "30"], ["--before", "30d"], ["--keep-days", "30", "--max-size", "20G"]] {
            let prune = try Prune.parse(arguments)
            let rule = try #require(prune.rule(nil, now: now, isSynchronised: false))
            #expect(rule.skipsAge && prune.exitCode(rule) == .temporary, "\(arguments)")
        }
        // An instant that a person names, and a size, need no clock.
        for arguments in [["--before", "2026-01-01T00:00Z"], ["--max-size", "20G"]] {
            let prune = try Prune.parse(arguments)
            let rule = try #require(prune.rule(nil, now: now, isSynchronised: false))
            #expect(!rule.skipsAge && prune.exitCode(rule) == nil, "\(arguments)")
        }
        // The timer comes again in an hour.
        let automatic = try Prune.parse(["--yes"])
        let retention = eegsync.Configuration.Retention(keepDays: 30)
        let rule = try #require(automatic.rule(retention, now: now, isSynchronised: false))
        #expect(rule.skipsAge && automatic.exitCode(rule) == nil)
    }

    @Test func timesOfAPlanAreThoseOfTheClockThatBeforeReads() throws {
        let (directory, database) = try Self.demo(seed: 10)
        defer { withExtendedLifetime(directory) {} }
        func prune(_ arguments: String...) throws -> ProgramRun {
            try ProgramRun(
                ["prune", "--before", "2200-01-01", "--dry-run", "--database", database] + arguments,
                environment: ["TZ": "Asia/Kolkata"])
        }
        let local = try prune()
        #expect(local.exitCode == 0 && local.output.contains("ENDED (UTC+5:30)"), "\(local.output) \(local.errors)")
        #expect(try prune("--utc").output.contains("ENDED (UTC)"))
        let pruned = try prune("--json").json()["pruned"] as? [[String: Any]]
        let ended = try #require(pruned?.first?["ended"] as? String)
        #expect(ended.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(ended)")
    }

    @Test func whatStaysBecauseOfAClockIsNamed() throws {
        let candidate = PruningCandidate(
            recording: RecordingID(rawValue: 3), headset: "left", label: nil, statedEndUnixNanoseconds: 1, isEndKnown: false,
            rows: 10, bytes: 100)
        var facts = PruneFacts(PruningPlan(pruned: [], untimed: [candidate]), isDryRun: true)
        facts.skipsAge = true
        let text = facts.lines(style: .plain).joined(separator: "\n")
        #expect(text.contains("no synchronised clock says when it ended: recording 3."), "\(text)")
        #expect(text.contains("the clock of this machine is not synchronised"), "\(text)")
        #expect(try facts.json().contains("\"skips_age\" : true"))
    }

    @Test(arguments: [("500M", 500_000_000), ("20G", 20_000_000_000), ("1.5t", 1_500_000_000_000)])
    func sizesAreThoseOfDisks(text: String, bytes: Int64) {
        #expect(ByteSize(text)?.bytes == bytes)
    }

    @Test(arguments: ["", "20", "G", "-1G", "0.1M", "1e3G", "1.G", ".5G", "inf G", "nanG", "9999999T"])
    func otherSizesAreRefused(text: String) {
        #expect(ByteSize(text) == nil)
    }

    @Test func consentIsAskedForAndTakenLiterally() throws {
        #expect(throws: Failure.self) { try Consent.ask("Really?", isTerminal: false) }
        #expect(throws: Never.self) { try Consent.ask("Really?", isTerminal: true) { "y" } }
        for answer in ["n", "", "yes please", nil] {
            #expect(throws: (any Error).self) { try Consent.ask("Really?", isTerminal: true) { answer } }
        }
        #expect(Requester.name(user: "root", environment: ["SUDO_USER": "anna"]) == "root (sudo of anna)")
        #expect(Requester.name(user: "anna", environment: [:]) == "anna")
        let served = ["EEGSYNC_CONTROL_USER": "anna", "SUDO_USER": "bob"]
        #expect(Requester.name(user: "eegsync", environment: served) == "eegsync (control service, for anna)")
    }
}
