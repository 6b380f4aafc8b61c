import GRDB

/// The view for people of one stream of one recording, such as `eeg_12`: `n`, `time`, `unix_ns`, then the channels by name
/// in physical units; all banks of the stream side by side.
///
/// Sample rows are searched by their key, also through `WHERE n BETWEEN`; the time is computed per row from the segment
/// that holds it, and only where a query asks for it. Scales are read from `channel` when a query runs, so corrections apply.
///
/// Its companion, such as `eeg_12_minute`, has the column `minute` before these and finds rows by time: see ``StreamMinutes``.
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

    /// The name of the companion by time. Names of views end with the recording's number, so no stream can have it.
    static func minuteName(of view: String) -> String { view + "_minute" }

    /// Creates the view and its companion from the streams that bear its name, instead of earlier ones with fewer banks.
    static func create(_ name: String, recording: RecordingID, in db: Database) throws {
        let banks = try banks(of: name, recording: recording, in: db)
        let names = try banks.map { bank in
            try String.fetchAll(db, sql: "SELECT name FROM channel WHERE stream_id = ? ORDER BY number", arguments: [bank])
        }
        for (view, text) in texts(name, banks: banks, names: names).sorted(by: { $0.key < $1.key }) {
            try db.execute(sql: "DROP VIEW IF EXISTS \(quoted(view))")
            try db.execute(sql: text)
        }
    }

    /// Removes the view and its companion.
    static func drop(_ name: String, in db: Database) throws {
        for view in [name, minuteName(of: name)] { try db.execute(sql: "DROP VIEW IF EXISTS \(quoted(view))") }
    }

    private static func banks(of name: String, recording: RecordingID, in db: Database) throws -> [Int64] {
        try Int64.fetchAll(
            db, sql: "SELECT id FROM stream WHERE recording_id = ? AND view_name = ? ORDER BY bank LIMIT \(banksShown)",
            arguments: [recording.rawValue, name])
    }

    /// The statements that make the view and its companion, by name.
    private static func texts(_ name: String, banks: [Int64], names: [[String]]) -> [String: String] {
        func text(_ view: String, _ own: Set<String>, _ arm: (Int, [Int64], [[String]]) -> String) -> String {
            let columns = columns(names, beside: own)
            let arms = banks.indices.map { arm($0, banks, columns) }
            return "CREATE VIEW \(quoted(view)) AS\n" + arms.joined(separator: "\nUNION ALL\n")
        }
        let minute = minuteName(of: name)
        return [
            name: text(name, ["n", "time", "unix_ns"], arm),
            minute: text(minute, ["minute", "n", "time", "unix_ns"], StreamMinutes.arm),
        ]
    }

    /// The statements that may have made them: a view has the names that its channels had when it was made, and people may have
    /// corrected these since.
    static func possibleTexts(_ name: String, recording: RecordingID, in db: Database) throws -> [[String: String]] {
        let banks = try banks(of: name, recording: recording, in: db)
        var names = try banks.map { bank in
            try String.fetchAll(
                db, sql: "SELECT name FROM channel_declaration WHERE stream_id = ? ORDER BY number", arguments: [bank])
        }
        var possible = [texts(name, banks: banks, names: names)]
        let corrections = try Row.fetchAll(
            db, sql: "SELECT stream_id, number, name FROM channel_correction WHERE name IS NOT NULL ORDER BY id")
        for correction in corrections {
            guard let bank = banks.firstIndex(of: correction[0]), names[bank].indices.contains((correction[1] as Int) - 1)
            else {
                continue
            }
            names[bank][(correction[1] as Int) - 1] = correction[2]
            possible.append(texts(name, banks: banks, names: names))
        }
        return possible
    }

    /// Creates all views of streams anew, after a migration that changes what they are made of.
    static func createAll(in db: Database) throws {
        let views = try Row.fetchAll(db, sql: "SELECT DISTINCT recording_id, view_name FROM stream ORDER BY id")
        for view in views { try create(view[1], recording: RecordingID(rawValue: view[0]), in: db) }
    }

    /// The channels' names of each bank, as columns that differ from each other and from the view's own.
    private static func columns(_ names: [[String]], beside own: Set<String>) -> [[String]] {
        var used = own
        return names.map { $0.map { unique(cleaned($0, fallback: "channel"), among: &used) } }
    }

    /// The rows whose first bank that is there is `driver`.
    private static func arm(of driver: Int, banks: [Int64], columns: [[String]]) -> String {
        let unixTime = unixTime(stream: banks[driver], row: "s\(driver)")
        let values =
            ["s\(driver).n AS n", "\(text(ofUnixTime: unixTime)) AS time", "\(unixTime) AS unix_ns"]
            + values(of: driver, banks: banks, columns: columns)
        return """
            SELECT \(values.joined(separator: ",\n    "))
            FROM sample AS s\(driver)\(joins(of: driver, banks: banks))
            WHERE s\(driver).stream_id = \(banks[driver])\(absences(before: driver, banks: banks))
            """
    }

    /// The channels in physical units, by name.
    static func values(of driver: Int, banks: [Int64], columns: [[String]]) -> [String] {
        var values: [String] = []
        for (bank, names) in columns.enumerated() {
            for (index, name) in names.enumerated() {
                let channel = "FROM channel WHERE stream_id = \(banks[bank]) AND number = \(index + 1)"
                let value = """
                    s\(bank).c\(index + 1) * (SELECT scale \(channel)) + (SELECT "offset" \(channel))
                    """
                values.append("\(bank < driver ? "NULL" : value) AS \(quoted(name))")
            }
        }
        return values
    }

    /// The rows of the further banks.
    static func joins(of driver: Int, banks: [Int64]) -> String {
        banks.indices.filter { $0 > driver }.map { bank in
            "\nLEFT JOIN sample AS s\(bank) ON s\(bank).stream_id = \(banks[bank]) AND s\(bank).n = s\(driver).n"
        }.joined()
    }

    /// That no earlier bank has the row.
    static func absences(before driver: Int, banks: [Int64]) -> String {
        banks[..<driver].map { bank in
            "\n    AND NOT EXISTS (SELECT 1 FROM sample WHERE stream_id = \(bank) AND n = s\(driver).n)"
        }.joined()
    }

    /// ISO 8601 with milliseconds.
    static func text(ofUnixTime expression: String) -> String {
        "strftime('%Y-%m-%dT%H:%M:%fZ', (\(expression)) / 1e9, 'unixepoch')"
    }

    /// UTC of a row, by the last segment that begins at or before it, or the first one; NULL without a segment, and where the
    /// clock of that segment's host boot is not known: another boot's clock would give a time that is wrong.
    private static func unixTime(stream: Int64, row: String) -> String {
        """
        (SELECT k.offset_ns + g.reference_boottime_ns + CAST(round((\(row).n - g.reference_n) * g.period_ns) AS INTEGER) \
        FROM segment AS g JOIN host_boot_clock AS k ON k.host_boot_id = g.host_boot_id \
        WHERE g.stream_id = \(stream) AND g.first_n = coalesce(\
        (SELECT max(first_n) FROM segment WHERE stream_id = \(stream) AND first_n <= \(row).n), \
        (SELECT min(first_n) FROM segment WHERE stream_id = \(stream))))
        """
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
