import Acquisition
import ArgumentParser
import Foundation

/// Time zones as this machine knows them.
enum ZoneDatabase {
    static let utcOffset: UTCOffset = { zone, unix in
        TimeZone(identifier: zone).map { Int64($0.secondsFromGMT(for: Date(timeIntervalSince1970: Double(unix)))) }
    }

    /// What the environment says of the zone where Foundation does not understand it, and takes UTC without a word: rules of
    /// POSIX such as `CET-1CEST,M3.5.0,M10.5.0/3`, and misspelt names. Nil where there is nothing to say.
    static func misunderstood(_ environment: [String: String]) -> String? {
        guard let zone = environment["TZ"], !zone.isEmpty else { return nil }
        return zone == "UTC0" || TimeZone(identifier: zone) != nil ? nil : zone
    }

    /// Abbreviations that mean one zone to everybody.
    private static let plainAbbreviations = ["UTC", "GMT"]

    /// True for a zone as a person may name it: by region and city, or by a country, such as Japan, or UTC. Abbreviations mean
    /// several zones, of which Foundation takes one: BST is that of Bangladesh, and an offset such as GMT+1 has no summer.
    static func knows(_ zone: String) -> Bool {
        (zone.contains("/") || plainAbbreviations.contains(zone) || isWord(zone)) && TimeZone(identifier: zone) != nil
    }

    /// True for what is no abbreviation, those being capitals alone, and no offset.
    private static func isWord(_ zone: String) -> Bool {
        zone.utf8.count > 3 && zone.contains(where: \.isLowercase)
            && zone.allSatisfy { $0.isASCII && ($0.isLetter || $0 == "-") }
            && TimeZone.abbreviationDictionary[zone.uppercased()] == nil
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
        throw ValidationError("'\(zone)' \(reason); write it as Europe/Berlin, Japan, or UTC.")
    }
}
