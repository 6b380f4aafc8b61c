import Acquisition
import ArgumentParser
import Foundation

/// Time zones as this machine knows them.
enum ZoneDatabase {
    static let utcOffset: UTCOffset = { zone, unix in
        TimeZone(identifier: zone).map { Int64($0.secondsFromGMT(for: Date(timeIntervalSince1970: Double(unix)))) }
    }

    /// Names of the tz database without a slash that mean one zone to everybody.
    private static let plainNames = ["UTC", "GMT"]

    /// True for a zone as a person may name it: by region and city, or UTC. Abbreviations mean several zones, of which
    /// Foundation takes one: BST is that of Bangladesh, and an offset such as GMT+1 has no summer.
    static func knows(_ zone: String) -> Bool {
        (zone.contains("/") || plainNames.contains(zone)) && TimeZone(identifier: zone) != nil
    }

    /// Refuses what is no zone as a person may name it.
    ///
    /// - Parameter zone: as it was given; nil for not at all.
    /// - Throws: `ValidationError`.
    static func check(_ zone: String?) throws {
        guard let zone, !knows(zone) else { return }
        let reason =
            TimeZone(identifier: zone) == nil && TimeZone(abbreviation: zone) == nil
            ? "is no time zone that this machine knows" : "is no full name of a time zone, and may mean another one"
        throw ValidationError("'\(zone)' \(reason); write it as Europe/Berlin, or UTC.")
    }
}
