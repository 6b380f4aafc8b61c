import GRDB

/// What is known of a recording's electrodes beside their samples.
package struct ElectrodeFacts: Hashable, Sendable {
    /// The latest impedance of each electrode, in kilohms, as the headset said it.
    package var kilohms: [String: Double] = [:]
    /// The name of the recording's first stream in copies and other databases; nil where an earlier version gave it none.
    package var streamUUID: String?

    package init() {}
}

/// What the signal checks found of one channel: one condition, and how much of the channel it was said of.
package struct SignalVerdict: Hashable, Sendable {
    /// 1 ... 8.
    package var channel: Int
    package var condition: SignalCondition
    /// How many samples were looked at.
    package var sampleCount: Int64
    /// The mean amplitudes of 50 and 60 Hz, in the channel's unit; nil where they were not measured.
    package var line50Hz: Double?
    package var line60Hz: Double?
}

extension Store {
    /// What is known of a recording's electrodes.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such recording.
    package func electrodeFacts(of recording: RecordingID) throws(StorageError) -> ElectrodeFacts {
        try database.read { db in
            try Self.requireRecording(recording, in: db)
            var facts = ElectrodeFacts()
            let key: StatementArguments = [recording.rawValue]
            let rows = try Row.fetchAll(
                db,
                // Of the columns without an aggregate, those of the row with the greatest id (SQLite, Bare columns).
                sql: "SELECT electrode, kilohms, max(id) FROM impedance WHERE recording_id = ? GROUP BY electrode",
                arguments: key)
            for row in rows { facts.kilohms[row["electrode"]] = row["kilohms"] }
            facts.streamUUID = try String.fetchOne(
                db, sql: "SELECT uuid FROM stream WHERE recording_id = ? ORDER BY id LIMIT 1", arguments: key)
            return facts
        }
    }

    /// What the signal checks found of a stream's channels, from checks that lie within a range of samples at least in part; by
    /// channel and condition.
    package func signalVerdicts(of stream: StreamID, in range: ClosedRange<Int64>) throws(StorageError) -> [SignalVerdict] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT channel, condition, sum(sample_count) AS sample_count, avg(line_50_hz) AS line_50_hz,
                        avg(line_60_hz) AS line_60_hz
                    FROM signal_check WHERE stream_id = ? AND first_n <= ? AND last_n >= ?
                    GROUP BY channel, condition ORDER BY channel, condition
                    """, arguments: [stream.rawValue, range.upperBound, range.lowerBound]
            ).compactMap { row in
                // A later version may know further conditions.
                guard let condition = SignalCondition(rawValue: row["condition"]) else { return nil }
                return SignalVerdict(
                    channel: row["channel"], condition: condition, sampleCount: row["sample_count"],
                    line50Hz: row["line_50_hz"], line60Hz: row["line_60_hz"])
            }
        }
    }
}
