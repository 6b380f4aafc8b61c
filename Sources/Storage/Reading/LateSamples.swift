import Bluetooth
import GRDB

/// The samples of a stream that were missing at one moment, by the ledger and the rows of that moment. A reader that began then
/// does not see them, should they arrive from the headset's memory while it reads.
struct LateSamples {
    private var rows = AscendingRanges()
    /// By channel, from 1.
    private var channels: [Int: AscendingRanges] = [:]

    /// Whether single channels of rows are missing somewhere.
    var hasChannels: Bool { !channels.isEmpty }

    /// Whether a row is one of them. To be asked in ascending order of n.
    @inline(__always)
    mutating func holdsRow(_ n: Int64) -> Bool { rows.contains(n) }

    /// Whether a channel of a row is one of them. To be asked in ascending order of n.
    mutating func holdsChannel(_ channel: Int, of n: Int64) -> Bool { channels[channel]?.contains(n) ?? false }

    /// What is missing now in each stream of a recording. Nothing arrives for one that the acquisition has ended.
    static func find(of contents: RecordingContents, in db: Database) throws -> [StreamID: LateSamples] {
        let hasEnded = try Bool.fetchOne(
            db, sql: "SELECT stopped_host_boot_id IS NOT NULL FROM recording WHERE id = ?", arguments: [contents.id.rawValue])
        guard hasEnded != true else { return [:] }
        var found: [StreamID: LateSamples] = [:]
        for stream in contents.streams {
            var late = LateSamples()
            try late.findRows(of: stream.id, in: db)
            try late.findChannels(of: stream.id, in: db)
            found[stream.id] = late
        }
        return found
    }

    private mutating func findRows(of stream: StreamID, in db: Database) throws {
        let cursor = try Row.fetchCursor(
            db,
            sql: """
                SELECT g.first_n, g.count, s.n FROM gap AS g
                LEFT JOIN sample AS s ON s.stream_id = g.stream_id AND s.n >= g.first_n AND s.n < g.first_n + g.count
                WHERE g.stream_id = ? AND g.channel = 0 AND g.recovered < g.count ORDER BY g.first_n, s.n
                """, arguments: [stream.rawValue])
        // What of the gap before is not spoken of yet.
        var rest: Range<Int64>?
        while let row = try cursor.next() {
            let first: Int64 = row[0]
            let gap = first..<max(first, first.addingClamped(row[1]))
            if rest?.upperBound != gap.upperBound {
                if let rest { rows.append(rest) }
                rest = gap
            }
            guard let n: Int64 = row[2], let lower = rest?.lowerBound else { continue }
            rows.append(lower..<n)
            // The upper bound is behind n, which lies in the gap.
            rest = min(n.addingClamped(1), gap.upperBound)..<gap.upperBound
        }
        if let rest { rows.append(rest) }
    }

    private mutating func findChannels(of stream: StreamID, in db: Database) throws {
        let cursor = try Row.fetchCursor(
            db,
            sql: """
                SELECT g.channel, s.n FROM gap AS g
                JOIN sample AS s ON s.stream_id = g.stream_id AND s.n >= g.first_n AND s.n < g.first_n + g.count
                WHERE g.stream_id = ? AND g.channel > 0 AND g.recovered < g.count
                    AND CASE g.channel WHEN 1 THEN s.c1 WHEN 2 THEN s.c2 WHEN 3 THEN s.c3 WHEN 4 THEN s.c4
                        WHEN 5 THEN s.c5 WHEN 6 THEN s.c6 WHEN 7 THEN s.c7 ELSE s.c8 END IS NULL
                ORDER BY g.channel, s.n
                """, arguments: [stream.rawValue])
        while let row = try cursor.next() {
            let n: Int64 = row[1]
            channels[row[0], default: AscendingRanges()].append(n..<n + 1)
        }
    }
}

/// Ranges in ascending order, and a search that goes on where the last one ended.
private struct AscendingRanges {
    private var ranges: [Range<Int64>] = []
    private var next = 0

    /// Adds a range behind the others, or makes the last one longer.
    mutating func append(_ range: Range<Int64>) {
        if range.isEmpty { return }
        if let last = ranges.last, last.upperBound == range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
        } else {
            ranges.append(range)
        }
    }

    @inline(__always)
    mutating func contains(_ n: Int64) -> Bool {
        while next < ranges.count, ranges[next].upperBound <= n { next += 1 }
        return next < ranges.count && ranges[next].lowerBound <= n
    }
}
