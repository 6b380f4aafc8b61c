import Foundation
import Storage
import Testing

@testable import Acquisition

/// Times of the day where clocks are set forward and back.
struct CivilTimeTests {
    private static let zones = Dictionary(
        uniqueKeysWithValues: ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC", "Pacific/Kiritimati"].map {
            ($0, TimeZone(identifier: $0))
        })
    static let utcOffset: UTCOffset = { zone, unix in
        (zones[zone]??.secondsFromGMT(for: Date(timeIntervalSince1970: Double(unix)))).map(Int64.init)
    }

    /// An instant such as `2026-03-29T01:00:00Z`.
    static func unix(_ text: String) throws -> Int64 {
        Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970)
    }

    private static func start(_ minute: Int, _ zone: String, after text: String) throws -> Int64? {
        DailyTime(minuteOfDay: minute, timeZone: zone).next(after: try unix(text), utcOffset: utcOffset)
    }

    @Test(
        "A time that is left out means the moment at which clocks are set; one that comes twice means the first",
        arguments: [
            // Europe/Berlin, 29 March 2026: 2:00 is 3:00; 25 October 2026: 3:00 is 2:00 again.
            ("Europe/Berlin", 2 * 60 + 30, "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"),
            ("Europe/Berlin", 1 * 60 + 59, "2026-03-28T12:00:00Z", "2026-03-29T00:59:00Z"),
            ("Europe/Berlin", 3 * 60, "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"),
            ("Europe/Berlin", 2 * 60 + 30, "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"),
            ("Europe/Berlin", 3 * 60, "2026-10-24T12:00:00Z", "2026-10-25T02:00:00Z"),
            // America/New_York, 8 March and 1 November 2026.
            ("America/New_York", 2 * 60 + 30, "2026-03-07T12:00:00Z", "2026-03-08T07:00:00Z"),
            ("America/New_York", 1 * 60 + 30, "2026-10-31T12:00:00Z", "2026-11-01T05:30:00Z"),
            // Australia/Lord_Howe moves by half an hour: 4 October 2026, 2:00 is 2:30; 5 April 2026, 2:00 is 1:30 again.
            ("Australia/Lord_Howe", 2 * 60 + 15, "2026-10-03T00:00:00Z", "2026-10-03T15:30:00Z"),
            ("Australia/Lord_Howe", 2 * 60 + 30, "2026-10-03T00:00:00Z", "2026-10-03T15:30:00Z"),
            ("Australia/Lord_Howe", 1 * 60 + 45, "2026-04-04T00:00:00Z", "2026-04-04T14:45:00Z"),
            // Without any of it, and beyond the date line.
            ("UTC", 0, "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"),
            ("Pacific/Kiritimati", 30, "2026-06-01T00:00:00Z", "2026-06-01T10:30:00Z"),
        ])
    func changes(zone: String, minute: Int, after: String, expected: String) throws {
        #expect(try Self.start(minute, zone, after: after) == Self.unix(expected))
    }

    @Test(
        "Each day of a year has one start, and the latest is the next of before",
        arguments: ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"], [0, 90, 105, 135, 150, 180, 1439])
    func onceADay(zone: String, minute: Int) throws {
        let time = DailyTime(minuteOfDay: minute, timeZone: zone)
        // Local midnight of the new year is within the day before in UTC, or after it: a whole year from noon to noon.
        var instant = try Self.unix("2026-01-01T12:00:00Z")
        let end = try Self.unix("2027-01-01T12:00:00Z")
        var starts: [Int64] = []
        while let next = time.next(after: instant, utcOffset: Self.utcOffset), next <= end {
            #expect(time.latest(upTo: next, utcOffset: Self.utcOffset) == next)
            #expect(
                time.latest(upTo: next - 1, utcOffset: Self.utcOffset) == starts.last
                    ?? time.latest(
                        upTo: instant, utcOffset: Self.utcOffset))
            starts.append(next)
            instant = next
        }
        #expect(starts.count == 365)
        #expect(zip(starts, starts.dropFirst()).allSatisfy { 22 * 3600...26 * 3600 ~= $1 - $0 })
    }

    @Test("Days of the week are those of the time zone")
    func daysOfTheWeek() throws {
        // Friday alone, at 0:30 in Berlin: Thursday in UTC.
        let friday = DailyTime(minuteOfDay: 30, days: 1 << 4, timeZone: "Europe/Berlin")
        let next = friday.next(after: try Self.unix("2026-07-01T00:00:00Z"), utcOffset: Self.utcOffset)
        #expect(next == (try Self.unix("2026-07-02T22:30:00Z")))
        let unknown = DailyTime(minuteOfDay: 30, timeZone: "Nowhere/At_All")
        #expect(unknown.next(after: 0, utcOffset: Self.utcOffset) == nil)
    }
}
