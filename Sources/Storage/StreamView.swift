import GRDB

/// The view for people of one stream of one recording, such as `eeg_12`: `n`, `time`, `unix_ns`, then the channels by name
/// in physical units; all banks of the stream side by side.
///
/// Sample rows are searched by their key, also through `WHERE n BETWEEN`; the time is computed per row from the segment
/// that holds it, and only where a query asks for it. Scales are read from `channel` when a query runs, so corrections apply.
enum StreamView {
    /// SQLite joins at most 64 tables; 16 banks are 128 channels. Banks beyond are in `sample_long` only.
    static let banksShown = 16
    /// Longer names of streams and channels are cut in views.
    static let nameLengthLimit = 64

    /// The view's name for a stream: `<stream>_<recording>`, or with the position in between where two names differ only in
    /// letter case or in characters that identifiers cannot have.
    static func name(for stream: String, recording: RecordingID, position: Int, in db: Database) throws -> String {
        var base = cleaned(stream, fallback: "stream")
        // SQLite keeps such names for itself.
        if base.lowercased().hasPrefix("sqlite_") { base = "_" + base }
        let name = "\(base)_\(recording.rawValue)"
        let owner = try String.fetchOne(
            db, sql: "SELECT name FROM stream WHERE recording_id = ? AND view_name = ? COLLATE NOCASE",
            arguments: [recording.rawValue, name])
        return owner == nil || owner == stream ? name : "\(base)_\(position)_\(recording.rawValue)"
    }

    /// Creates the view from the streams that bear its name, in place of an earlier one with fewer banks.
    static func create(_ name: String, recording: RecordingID, in db: Database) throws {
        let banks = try Int64.fetchAll(
            db, sql: "SELECT id FROM stream WHERE recording_id = ? AND view_name = ? ORDER BY bank LIMIT \(banksShown)",
            arguments: [recording.rawValue, name])
        var used: Set<String> = ["n", "time", "unix_ns"]
        var columns: [[String]] = []
        for bank in banks {
            let names = try String.fetchAll(
                db, sql: "SELECT name FROM channel WHERE stream_id = ? ORDER BY number", arguments: [bank])
            columns.append(names.map { unique(cleaned($0, fallback: "channel"), among: &used) })
        }
        try db.execute(sql: "DROP VIEW IF EXISTS \(quoted(name))")
        let arms = banks.indices.map { arm(of: $0, banks: banks, columns: columns) }
        try db.execute(sql: "CREATE VIEW \(quoted(name)) AS\n" + arms.joined(separator: "\nUNION ALL\n"))
    }

    /// The rows whose first bank that is there is `driver`.
    private static func arm(of driver: Int, banks: [Int64], columns: [[String]]) -> String {
        let unixTime = unixTime(stream: banks[driver], row: "s\(driver)")
        var values = [
            "s\(driver).n AS n",
            "strftime('%Y-%m-%dT%H:%M:%fZ', (\(unixTime)) / 1e9, 'unixepoch') AS time",
            "\(unixTime) AS unix_ns",
        ]
        for (bank, names) in columns.enumerated() {
            for (index, name) in names.enumerated() {
                let channel = "FROM channel WHERE stream_id = \(banks[bank]) AND number = \(index + 1)"
                let value = """
                    s\(bank).c\(index + 1) * (SELECT scale \(channel)) + (SELECT "offset" \(channel))
                    """
                values.append("\(bank < driver ? "NULL" : value) AS \(quoted(name))")
            }
        }
        var text = "SELECT \(values.joined(separator: ",\n    "))\nFROM sample AS s\(driver)"
        for bank in banks.indices where bank > driver {
            text += "\nLEFT JOIN sample AS s\(bank) ON s\(bank).stream_id = \(banks[bank]) AND s\(bank).n = s\(driver).n"
        }
        text += "\nWHERE s\(driver).stream_id = \(banks[driver])"
        for bank in banks.indices where bank < driver {
            text += "\n    AND NOT EXISTS (SELECT 1 FROM sample WHERE stream_id = \(banks[bank]) AND n = s\(driver).n)"
        }
        return text
    }

    /// UTC of a row, by the last segment that begins at or before it, or the first one; NULL without a segment.
    private static func unixTime(stream: Int64, row: String) -> String {
        let time = """
            SELECT k.offset_ns + g.reference_boottime_ns + CAST(round((\(row).n - g.reference_n) * g.period_ns) AS INTEGER) \
            FROM segment AS g JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id WHERE g.stream_id = \(stream)
            """
        return "coalesce((\(time) AND g.first_n <= \(row).n ORDER BY g.first_n DESC LIMIT 1), "
            + "(\(time) ORDER BY g.first_n LIMIT 1))"
    }

    /// A name without control characters, cut to a bearable length.
    private static func cleaned(_ name: String, fallback: String) -> String {
        let scalars = name.unicodeScalars.prefix(nameLengthLimit).map { $0.value < 32 || $0.value == 127 ? "_" : $0 }
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        return text.isEmpty ? fallback : text
    }

    /// SQLite compares column names without regard to ASCII letter case.
    private static func unique(_ name: String, among used: inout Set<String>) -> String {
        var candidate = name
        var number = 2
        while !used.insert(candidate.lowercased()).inserted {
            candidate = "\(name)_\(number)"
            number += 1
        }
        return candidate
    }

    /// An SQL identifier: quoted, with quotes in it doubled (https://www.sqlite.org/lang_keywords.html).
    static func quoted(_ identifier: String) -> String {
        "\"" + identifier.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
