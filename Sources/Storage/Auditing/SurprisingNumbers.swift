import GRDB
import Headsets

/// Numbers that no recording comes to. Another program has written them, and sums with them may fit nowhere: they are looked
/// for before anything is computed of them.
enum SurprisingNumbers {
    /// Sums of numbers below it fit wherever they are computed; a stream of 1 MHz reaches it in 140 years.
    static let bound: Int64 = 1 << 52
    /// Of instants and lengths of time that lie within it, in nanoseconds, the difference of any two fits: 146 years.
    static let nanoseconds: ClosedRange<Int64> = -(1 << 62) + 1...(1 << 62) - 1
    /// In hertz; nothing samples faster.
    private static let frequencyMaximum = StreamDescription.samplingFrequencies.upperBound
    /// Channels of a stream: as many as a row of samples has columns.
    static let channelCounts: ClosedRange<Int64> = 1...8
    /// Between two samples lies less, in nanoseconds.
    private static let periodMaximum: Int64 = 1_000_000_000_000

    /// The tables of which an audit adds numbers up.
    static let summed: Set = ["stream", "epoch", "segment", "gap", "block", "undigested_rows", "arrival", "sample"]
    /// The tables by which an audit divides rows into ranges.
    static let dividing: Set = ["block", "undigested_rows", "sample"]
    /// The tables that a reader of a recording computes with.
    private static let exported: Set = ["stream", "channel", "epoch", "segment", "gap", "annotation", "sample"]

    /// What is looked for in the rows of one table.
    private struct Look {
        let table: String
        /// The column with the key of the stream.
        let key: String
        /// True where a reader takes the nearest number instead.
        let isClamped: Bool
        /// What a row has, in words, and SQL that is true of it.
        var conditions: [(words: String, sql: String)] = []

        init(_ table: String, key: String = "stream_id", isClamped: Bool = false) {
            self.table = table
            self.key = key
            self.isClamped = isClamped
        }

        /// Columns that lie within the bound, below and above 0.
        func columns(_ names: [String], within bound: Int64 = SurprisingNumbers.bound) -> Look {
            var look = self
            for name in names {
                look.conditions.append((SurprisingNumbers.words(name, bound), "\(name) NOT BETWEEN \(-bound) AND \(bound)"))
            }
            return look
        }

        /// Rows of which SQL is true.
        func rows(_ words: String, _ sql: String) -> Look {
            var look = self
            look.conditions.append((words, sql))
            return look
        }
    }

    private static func words(_ column: String, _ bound: Int64) -> String {
        let isVowel = column == "n" || column.hasPrefix("o") || column.hasPrefix("u")
        return "\(isVowel ? "an" : "a") \(column) beyond \(bound)"
    }

    /// What belongs to a stream.
    private static let ofStream: [Look] = {
        let longest = nanoseconds.upperBound
        func time(_ column: String) -> String { "abs((\(column) - reference_n) * period_ns) > \(longest)" }
        return [
            Look("stream", key: "id").rows("a sampling_frequency below 0.001", "sampling_frequency < 0.001")
                .rows("a sampling_frequency beyond \(frequencyMaximum)", "sampling_frequency > \(frequencyMaximum)")
                .rows(
                    "a channel_count beyond \(channelCounts.upperBound)",
                    "channel_count NOT BETWEEN \(channelCounts.lowerBound) AND \(channelCounts.upperBound)"),
            Look("channel").rows("a raw_minimum beyond its raw_maximum", "raw_minimum > raw_maximum"),
            Look("channel", isClamped: true)
                .rows("a raw_minimum beyond 32 bits", "raw_minimum NOT BETWEEN -2147483648 AND 2147483647")
                .rows("a raw_maximum beyond 32 bits", "raw_maximum NOT BETWEEN -2147483648 AND 2147483647"),
            Look("epoch").columns(["first_n", "first_index"]),
            Look("segment").columns(["first_n", "last_n", "reference_n"])
                .columns(["reference_boottime_ns"], within: longest).columns(["period_ns"], within: periodMaximum)
                .rows("a time beyond \(longest) ns", "\(time("first_n")) OR \(time("last_n"))"),
            Look("gap").columns(["first_n", "count", "recovered", "uncertainty"]),
            Look("block").columns(["first_n", "last_n", "row_count"]),
            Look("undigested_rows").columns(["first_n", "last_n"]).rows("a last_n before its first_n", "last_n < first_n"),
            Look("signal_check").columns(["first_n", "last_n"]), Look("loss_detection").columns(["first_n"]),
            Look("annotation").columns(["n"]),
            // Each by a search of the key: there are millions of rows.
            Look("arrival").rows(words("n", bound), "n < \(-bound)"), Look("arrival").rows(words("n", bound), "n > \(bound)"),
            Look("sample").rows(words("n", bound), "n < \(-bound)"), Look("sample").rows(words("n", bound), "n > \(bound)"),
        ]
    }()

    /// What of a stream is surprising, in words, by table; nothing where nothing is.
    ///
    /// - Parameter tables: those that are looked at, where what a reader clamps is left out; nil for all.
    static func found(
        of stream: Int64, tables: Set<String>? = nil, in db: Database
    ) throws -> [(table: String, words: String)] {
        var found: [(table: String, words: String)] = []
        for look in ofStream where tables.map({ $0.contains(look.table) && !look.isClamped }) ?? true {
            func isThere(_ sql: String) throws -> Bool {
                try SQLRequest<Bool>(
                    sql: "SELECT EXISTS (SELECT 1 FROM \(look.table) WHERE \(look.key) = ? AND (\(sql)))", arguments: [stream],
                    cached: true
                ).fetchOne(db) ?? false
            }
            guard try isThere(look.conditions.map(\.sql).joined(separator: " OR ")) else { continue }
            for condition in look.conditions {
                guard try isThere(condition.sql) else { continue }
                found.append((table: look.table, words: "the table \(look.table) has \(condition.words)"))
            }
        }
        return found
    }

    /// What of the clocks of host boots is surprising, in words; nil where nothing is.
    ///
    /// - Parameter recording: of the boots whose clocks time its samples; nil for all.
    static func foundOfClocks(of recording: Int64?, in db: Database) throws -> String? {
        let bound = nanoseconds.upperBound
        let isThere = try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM clock_offset
                    WHERE offset_ns NOT BETWEEN \(-bound) AND \(bound) AND (?1 IS NULL OR host_boot_id IN (
                        SELECT g.host_boot_id FROM segment AS g JOIN stream AS st ON st.id = g.stream_id
                        WHERE st.recording_id = ?1)))
                """, arguments: [recording])
        return isThere == true ? "the table clock_offset has \(words("offset_ns", bound))" : nil
    }

    /// The first of all that is surprising, in words; nil where nothing is.
    static func first(in db: Database) throws -> String? {
        for stream in try Int64.fetchAll(db, sql: "SELECT id FROM stream ORDER BY id") {
            if let words = try found(of: stream, in: db).first?.words { return words }
        }
        return try foundOfClocks(of: nil, in: db)
    }

    /// Throws where numbers of a recording, or the clocks of its boots, are surprising: of such, nobody can say when which
    /// sample was taken.
    static func refuse(_ recording: RecordingID, path: String, in db: Database) throws {
        let streams = try Int64.fetchAll(
            db, sql: "SELECT id FROM stream WHERE recording_id = ? ORDER BY id", arguments: [recording.rawValue])
        var found = try foundOfClocks(of: recording.rawValue, in: db)
        for stream in streams where found == nil {
            found = try Self.found(of: stream, tables: exported, in: db).first?.words
        }
        guard let words = found else { return }
        throw StorageError.corrupt(
            path: path,
            detail: "another program has changed recording \(recording.rawValue): \(words), of which no times can be computed; "
                + "`eegsync audit` says more")
    }
}

extension Audit {
    /// Looks for numbers of which nothing can be computed. Returns which tables have such, by stream.
    mutating func checkNumbers(of streams: [Row]) throws -> [Int64: Set<String>] {
        var tables: [Int64: Set<String>] = [:]
        for stream in streams {
            let id: Int64 = stream["id"]
            for found in try SurprisingNumbers.found(of: id, in: db) {
                add(id, found.words)
                tables[id, default: []].insert(found.table)
            }
        }
        if let words = try SurprisingNumbers.foundOfClocks(of: scope.recording?.rawValue, in: db) { add(nil, words) }
        return tables
    }

    private mutating func add(_ stream: Int64?, _ words: String) {
        report.findings.append(
            AuditReport.Finding(check: .numbersAreInRange, streamID: stream, n: nil, detail: words))
    }
}
