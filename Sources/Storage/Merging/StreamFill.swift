import GRDB
import Headsets

/// Fills gaps of a stream that was recorded here from a twin: the rows come in as those that arrive late from the headset's
/// memory do.
///
/// Only within an epoch of both, and where a segment of that epoch gives a time here: no time is taken from another machine,
/// and none is made up.
struct StreamFill {
    let db: Database
    let origin: MergeOrigin
    /// The recording and its stream that are filled.
    let recording: Int64
    let here: StreamID
    /// The recording and its stream that have the samples.
    let other: Int64
    let there: Int64
    let channelCount: Int
    /// The epochs of both; the first one of each pair is the one here.
    let epochs: [EpochPair]

    /// - Returns: nil where nothing came in.
    func run() throws -> TwinFill? {
        let declaration = try StreamUnion.declaration(of: here.rawValue, in: db)
        // Otherwise the same integers would mean something else.
        guard try StreamUnion.declaration(of: there, in: db) == declaration else { return nil }
        let lastLate = try Int64.fetchOne(
            db, sql: "SELECT max(number) FROM block WHERE stream_id = ? AND chain = 'late'", arguments: [here.rawValue])
        var fill = TwinFill(recording: recording)
        for pair in epochs {
            var intake = RowIntake(
                source: db, there: there, shift: -pair.shift, db: db, here: here, channelCount: channelCount)
            for range in try ranges(of: pair) { try intake.take(in: range) }
            try intake.save()
            fill.rows += intake.changes.taken
            fill.values += intake.changes.filled
            fill.gapsClosed += try LateLedger(source: db, there: there, shift: -pair.shift, db: db, here: here.rawValue)
                .follow(intake.changes)
        }
        if fill.isNothing { return nil }
        try annotate(fill, after: lastLate ?? -1)
        return fill
    }

    /// Which n lie in a gap here, inside both epochs and a segment, in ascending order: all of some rows, or a channel of them.
    private func ranges(of pair: EpochPair) throws -> [ClosedRange<Int64>] {
        let end = try Int64.fetchOne(db, sql: "SELECT max(n) FROM sample WHERE stream_id = ?", arguments: [here.rawValue])
        guard let shared = pair.shared, let end, end >= shared.lowerBound else { return [] }
        let ranges = try Row.fetchAll(
            db,
            sql: """
                SELECT DISTINCT max(g.first_n, s.first_n, ?2) AS first, min(g.first_n + g.count - 1, s.last_n, ?3) AS last
                -- CROSS, and +: for each gap the few segments at it are looked for, and not all gaps for each segment.
                FROM gap AS g CROSS JOIN segment AS s ON s.stream_id = g.stream_id AND s.epoch = ?4
                    AND s.first_n >= coalesce((SELECT max(first_n) FROM segment
                        WHERE stream_id = g.stream_id AND first_n <= g.first_n), g.first_n)
                    AND s.first_n < g.first_n + g.count AND s.last_n >= g.first_n
                WHERE g.stream_id = ?1 AND g.count > g.recovered AND g.first_n <= ?3 AND g.first_n + g.count > ?2
                    AND g.cause <> 'notSent' AND +s.first_n <= ?3 AND s.last_n >= ?2
                    -- Behind another boot of the host a segment goes back over the gap before it by that boot's clock alone,
                    -- of which it may become known later that it was wrong.
                    AND (s.first_n < g.first_n OR s.host_boot_id = (SELECT host_boot_id FROM segment
                        WHERE stream_id = s.stream_id AND first_n < s.first_n ORDER BY first_n DESC LIMIT 1))
                ORDER BY first, last
                """,
            arguments: [here.rawValue, shared.lowerBound, min(shared.upperBound, end), pair.first.number])
        return ranges.map { row in
            let (first, last): (Int64, Int64) = (row[0], row[1])
            return first...last
        }
    }

    /// Says in the recording what came in, and from where. The blocks name each n, and have its digest.
    private func annotate(_ fill: TwinFill, after lastLate: Int64) throws {
        let found = try Row.fetchOne(
            db,
            sql: """
                SELECT min(b.first_n), max(b.last_n), min(b.number), max(b.number), st.name, st.bank, st.sampling_frequency
                FROM block AS b JOIN stream AS st ON st.id = b.stream_id
                WHERE b.stream_id = ? AND b.chain = 'late' AND b.number > ?
                """, arguments: [here.rawValue, lastLate])
        guard let row = found, let firstN: Int64 = row[0], let lastN: Int64 = row[1] else {
            throw StorageError.notFound(what: "block of the rows that came in to stream \(here.rawValue)")
        }
        let (firstBlock, lastBlock, frequency): (Int64, Int64, Double) = (row[2], row[3], row[6])
        let name = StreamDescription.bankName(row[4], row[5])
        let words = try text(of: fill, name: name, firstN...lastN, firstBlock...lastBlock)
        let isOneStretch = fill.values == 0 && fill.rows == lastN - firstN + 1
        let duration: Double? = isOneStretch ? Double(fill.rows) / frequency : nil
        try db.execute(
            sql: """
                INSERT INTO annotation (recording_id, host_boot_id, boottime_ns, duration_seconds, description, source,
                    stream_id, n) VALUES (?, ?, ?, ?, ?, 'eegsync', ?, ?)
                """,
            arguments: [recording, origin.hostBoot, origin.boottime, duration, words, here.rawValue, firstN])
    }

    private func text(
        of fill: TwinFill, name: String, _ range: ClosedRange<Int64>, _ blocks: ClosedRange<Int64>
    ) throws -> String {
        let found = try Row.fetchOne(
            db,
            sql: """
                SELECT r.uuid, m.uuid FROM recording AS r
                LEFT JOIN machine_boot AS b ON b.host_boot_id = r.requested_host_boot_id
                LEFT JOIN machine AS m ON m.id = coalesce(b.machine_id, (SELECT min(id) FROM machine))
                    -- Of one that came from a database that knew no machine it is not known.
                    AND (b.machine_id IS NOT NULL OR r.id NOT IN (SELECT recording_id FROM merged_recording))
                WHERE r.id = ?
                """, arguments: [other])
        guard let source = found else { throw StorageError.notFound(what: "recording \(other)") }
        let (uuid, machine): (String, String?) = (source[0], source[1])
        var amounts: [String] = []
        if fill.rows > 0 { amounts.append("\(fill.rows) samples") }
        if fill.values > 0 { amounts.append("\(fill.values) values of single channels") }
        let origin = machine.map { "\(uuid) of machine \($0)" } ?? uuid
        return "eegsync: \(amounts.joined(separator: " and ")) of \(name), n \(range.lowerBound) to \(range.upperBound), "
            + "came from recording \(origin) (late blocks \(blocks.lowerBound) to \(blocks.upperBound))"
    }
}
