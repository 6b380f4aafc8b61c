import Foundation
import Testing

@testable import eegsync

/// Times as people read them.
@Suite struct WallClockTests {
    private static func clock(_ zone: String) throws -> WallClock { WallClock(zone: try #require(TimeZone(identifier: zone))) }

    /// 2026-03-01 22:00:00.250 UTC.
    private static let winter: Int64 = 1_772_402_400_250_000_000

    @Test(arguments: [
        ("Europe/Berlin", "2026-03-01 23:00:00.250 UTC+1"), ("America/New_York", "2026-03-01 17:00:00.250 UTC-5"),
        ("Asia/Kolkata", "2026-03-02 03:30:00.250 UTC+5:30"), ("GMT", "2026-03-01 22:00:00.250 UTC"),
        ("Australia/Lord_Howe", "2026-03-02 09:00:00.250 UTC+11"),
    ])
    func aTimeSaysItsZone(zone: String, text: String) throws {
        #expect(try Self.clock(zone).text(Self.winter) == text)
    }

    @Test func aColumnSaysItOnceOrWithEachTimeWhereItChanges() throws {
        let clock = try Self.clock("Europe/Berlin")
        let once = clock.column("FROM", of: [Self.winter, nil])
        #expect(once.heading == "FROM (UTC+1)" && once.text(Self.winter) == "2026-03-01 23:00:00.250")
        // 25 October 2026: 02:30 comes twice.
        let first: Int64 = 1_792_888_200_000_000_000
        let both = clock.column("FROM", of: [first, first + 3_600_000_000_000])
        #expect(both.heading == "FROM (Europe/Berlin)")
        #expect(both.text(first) == "2026-10-25 02:30:00.000 UTC+2")
        #expect(both.text(first + 3_600_000_000_000) == "2026-10-25 02:30:00.000 UTC+1")
    }

    @Test func timesThatNoClockShowsDoNotEndTheProgram() throws {
        for time in [Int64.min, .max, 0] { _ = try Self.clock("Asia/Kolkata").text(time) }
    }

    @Test func documentsForProgramsAreUTC() {
        #expect(Quantity.utc(unixNanoseconds: Self.winter) == "2026-03-01T22:00:00.250Z")
    }

    @Test(arguments: [
        (0.0, "0:00:00.000"), (62.25, "0:01:02.250"), (86_400, "24:00:00.000"), (-1.5, "-0:00:01.500"), (.nan, "unknown"),
    ])
    func positionsHaveHours(seconds: Double, text: String) {
        #expect(Quantity.position(seconds) == text)
    }

    @Test func peopleReadLocalTimeUnlessTheyAskForUTC() throws {
        let database = try RecordedDatabase()
        try database.record()
        func run(_ arguments: String...) throws -> ProgramRun {
            try ProgramRun(arguments, environment: ["EEGSYNC_DATABASE": database.path, "TZ": "Asia/Kolkata"])
        }
        let local = try run("recordings")
        #expect(local.output.contains("FROM (UTC+5:30)"), "\(local.output)")
        let universal = try run("recordings", "--utc")
        #expect(universal.output.contains("FROM (UTC)"), "\(universal.output)")
        let mark = try run("mark", "spoke", "--at", "-1s")
        #expect(mark.output.contains(" UTC+5:30."), "\(mark.output) \(mark.errors)")
        let marks = try run("marks", "left", "--json")
        let onset = try #require(marks.output.firstMatch(of: /"onset" : "([^"]*)"/)).1
        #expect(onset.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(marks.output)")
    }
}
