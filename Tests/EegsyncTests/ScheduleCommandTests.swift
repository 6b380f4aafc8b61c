import ArgumentParser
import Bluetooth
import Foundation
import Storage
import Testing

@testable import eegsync

/// `eegsync schedule` and `eegsync record start --for`, as a person uses them.
@Suite struct ScheduleCommandTests {
    private let database: RecordedDatabase

    init() throws { database = try RecordedDatabase() }

    private func run(_ arguments: String...) throws -> ProgramRun {
        try ProgramRun(arguments, environment: ["EEGSYNC_DATABASE": database.path, "TZ": "Europe/Berlin"])
    }

    @Test func whatIsScheduledIsListedUntilItIsRemoved() throws {
        #expect(try run("record", "start", "left", "--model", "muse").exitCode == 0)
        #expect(try run("schedule").output == "Nothing is scheduled. See: eegsync schedule add --help\n")
        let added = try run(
            "schedule", "add", "left", "--model", "muse", "--at", "22:00", "--for", "8h", "--days", "mon-fri", "--json")
        #expect(added.exitCode == 0, "\(added.errors)")
        let schedule = try #require((try added.json()["schedules"] as? [[String: Any]])?.first)
        #expect(schedule["at"] as? String == "22:00" && schedule["days"] as? String == "mon-fri")
        #expect(schedule["time_zone"] as? String == "Europe/Berlin" && schedule["duration_seconds"] as? Int == 28_800)
        let next = try #require(schedule["next"] as? String)
        #expect(next.wholeMatch(of: /\d{4}-\d\d-\d\dT2[01]:00:00\.000Z/) != nil, "\(next)")
        let listed = try run("schedule", "list")
        #expect(listed.output.contains("22:00") && listed.output.contains("Nothing begins"), "\(listed.output)")
        #expect(try run("schedule", "remove", "1").exitCode == 0)
        #expect(try run("schedule", "remove", "1").exitCode == 66)
    }

    @Test(arguments: [
        ["--at", "24:00"], ["--at", "2200"], ["--for", "0s"], ["--for", "-8h"], ["--for", "9999d"], ["--days", "mon-"],
        ["--days", "mo"], ["--days", ""], ["--time-zone", "Berlin"],
        ["--time-zone", "BST"],
    ])
    func whatIsNoTimeIsRefused(wrong: [String]) throws {
        var arguments = ["--at": "22:00", "--for": "8h", "--days": "daily"]
        arguments[wrong[0]] = wrong[1]
        let run = try ProgramRun(
            ["schedule", "add", "left", "--model", "muse"] + arguments.flatMap { ["\($0.key)=\($0.value)"] },
            environment: ["EEGSYNC_DATABASE": database.path])
        #expect(run.exitCode == 64, "\(wrong): \(run.errors)")
    }

    @Test(arguments: [
        "Europe/Berlin", "America/Argentina/Buenos_Aires", "UTC", "GMT", "Etc/UTC", "Etc/GMT-3", "Japan", "Singapore", "Israel",
        "Cuba",
    ])
    func aTimeZoneHasItsFullName(name: String) throws {
        #expect(ZoneDatabase.knows(name))
        try ZoneDatabase.check(name)
        try ZoneDatabase.check(nil)
    }

    /// BST is that of London to some, and was taken for that of Bangladesh.
    @Test(arguments: [
        "BST", "CST", "IST", "EST", "CET", "Bst", "CEST", "Cest", "GMT+1", "Gmt+1", "EST5EDT", "Berlin", "Europe/Nowhere", "",
    ])
    func anAbbreviationIsNoTimeZone(name: String) throws {
        #expect(!ZoneDatabase.knows(name))
        #expect(throws: ValidationError.self) { try ZoneDatabase.check(name) }
        #expect(throws: (any Error).self) { try RecordingDetailOptions.parse(["--time-zone", name]) }
    }

    @Test(arguments: [
        ("daily", 0b111_1111, "daily"), ("mon-fri", 0b001_1111, "mon-fri"), ("sat,sun", 0b110_0000, "sat,sun"),
        ("fri-mon", 0b111_0001, "mon,fri,sat,sun"), ("Wed", 0b000_0100, "wed"),
    ])
    func daysAreWordsOrRanges(text: String, bits: Int, words: String) {
        #expect(DaysOfWeek(argument: text)?.bits == bits)
        #expect(DaysOfWeek(bits: bits).words == words)
    }

    @Test func aRecordingMayHaveAnEnd() throws {
        let run = try run("record", "start", "left", "--model", "muse", "--for", "8h", "--json")
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect((try run.json()["ends"] as? String)?.hasSuffix("Z") == true)
        let store = try ReadOnlyStore(path: database.path, hostBoot: try HostBoot.current())
        let open = try #require(try store.openRecordings().first)
        let status = try self.run("status")
        #expect(status.output.contains(/ends \d{4}-\d\d-\d\d \d\d:\d\d UTC\+[12]\n/), "\(status.output)")
        #expect(try self.run("status", "--utc").output.contains(/ends .* UTC\n/))
        let rest = try #require(open.end).at - HostClock.now
        #expect(rest > .seconds(8 * 3600 - 120) && rest <= .seconds(8 * 3600))
    }

    @Test func whoWaitsForSamplesLearnsAtOnceThatNothingRuns() throws {
        let run = try run("record", "start", "left", "--model", "muse", "--wait")
        #expect(run.exitCode == 69 && run.errors.contains("eegsync run does not run"), "\(run.errors)")
        #expect(try self.run("record", "start", "left", "--model", "muse").exitCode == 75)
        #expect(try self.run("record", "start", "right", "--model", "muse", "--wait-seconds", "0").exitCode == 64)
    }
}
