import Foundation
import Testing

@testable import eegsync

/// When, and how fast, samples are sent to a centre.
@Suite struct ShippingHoursTests {
    private static func berlin() throws -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "Europe/Berlin"))
        return calendar
    }

    private static func instant(_ text: String) throws -> Date {
        try Date(text, strategy: .iso8601)
    }

    @Test(arguments: [
        ("2026-01-10T20:59:59Z", false), ("2026-01-10T21:00:00Z", true), ("2026-01-10T23:30:00Z", true),
        ("2026-01-11T04:59:59Z", true), ("2026-01-11T05:00:00Z", false), ("2026-01-11T12:00:00Z", false),
        // In summer the same hours begin an hour earlier in UTC; the night in which clocks go back has three o'clock twice.
        ("2026-07-10T20:00:00Z", true), ("2026-07-10T19:59:59Z", false), ("2026-10-25T00:30:00Z", true),
        ("2026-10-25T01:30:00Z", true),
    ]) func aNightIsAStretchOverMidnight(_ text: String, _ expected: Bool) throws {
        let hours = try #require(ShippingHours("22:00-06:00"))
        #expect(try hours.contains(Self.instant(text), in: Self.berlin()) == expected)
    }

    @Test func aDayIsAStretchToo() throws {
        let hours = try #require(ShippingHours("9:00-17:30"))
        #expect(hours.text == "09:00-17:30")
        let calendar = try Self.berlin()
        #expect(try hours.contains(Self.instant("2026-01-10T08:00:00Z"), in: calendar))
        #expect(try !hours.contains(Self.instant("2026-01-10T16:30:00Z"), in: calendar))
        #expect(try !hours.contains(Self.instant("2026-01-10T07:59:00Z"), in: calendar))
    }

    @Test(arguments: ["", "22:00", "22:00-", "22-06", "22:00-06:00-07:00", "24:00-06:00", "22:00-22:00", "22:60-06:00"])
    func whatIsNoStretchOfTheDayIsRefused(_ text: String) {
        #expect(ShippingHours(text) == nil)
    }

    @Test(arguments: [("1k", 1_000), ("50k", 50_000), ("2M", 2_000_000), ("100000k", 100_000_000)])
    func ratesAreRead(_ text: String, _ bytes: Int64) { #expect(ByteRate(text)?.bytesPerSecond == bytes) }

    @Test(arguments: ["", "k", "0k", "-1k", "+1k", "1", "1K", "1m", "1.5M", "1 M", "99999999999999999999M", "200000M"])
    func whatIsNoRateIsRefused(_ text: String) { #expect(ByteRate(text) == nil) }

    @Test func theConfigurationHasBoth() throws {
        let ship = try parse(
            """
            database: /d.sqlite
            ship: {to: "postgresql://pi@study.example.org/study", max_rate: 100k, hours: "22:00-06:00", live: true}
            headsets: [{name: left, model: muse}]
            """
        ).ship
        #expect(ship?.isLive == true)
        #expect(ship?.maxRate?.bytesPerSecond == 100_000 && ship?.hours?.text == "22:00-06:00")
        let wrong = problems(
            """
            database: /d.sqlite
            ship: {to: "postgresql://pi@study.example.org/study", max_rate: fast, hours: night}
            headsets: [{name: left, model: muse}]
            """)
        #expect(
            wrong == [
                "line 2, column 65: ship.max_rate: 'fast' is no rate; allowed are bytes a second, such as 50k or 2M, "
                    + "of at least 1k",
                "line 2, column 78: ship.hours: 'night' is no stretch of the day; allowed are two times of the day, such as "
                    + "22:00-06:00",
            ])
    }
}
