import Bluetooth
import GRDB

/// What a headset said of its battery.
package struct BatteryReading: Hashable, Sendable {
    /// UTC nanoseconds since 1970.
    package var unixNanoseconds: Int64
    /// 0 ... 100 %.
    package var percent: Double

    package init(unixNanoseconds: Int64, percent: Double) {
        self.unixNanoseconds = unixNanoseconds
        self.percent = percent
    }
}

/// A gap of whole rows whose end is not known.
package struct OpenGap: Hashable, Sendable {
    package var firstN: Int64
    /// A ``Headsets/GapCause``, or a word of a later version.
    package var cause: String
}

/// How a recording went, row after row, so that whoever draws it need not hold all of it.
extension Store {
    /// One line of the list of recordings.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such recording.
    package func recording(_ recording: RecordingID) throws(StorageError) -> RecordingSummary {
        try database.read { db in
            try Self.requireRecording(recording, in: db)
            let row = try Row.fetchOne(
                db, sql: "SELECT * FROM recording_overview WHERE recording_id = ?", arguments: [recording.rawValue])
            guard let row else { throw StorageError.notFound(what: "recording \(recording.rawValue)") }
            return try RecordingSummary(row, in: db)
        }
    }

    /// What a headset said of its battery, in the order in which it said it.
    ///
    /// - Parameters:
    ///   - headset: its name.
    ///   - range: UTC nanoseconds since 1970.
    package func forEachBatteryReading(
        of headset: String, in range: ClosedRange<Int64>, _ body: (BatteryReading) -> Void
    ) throws(StorageError) {
        try database.read { db in
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT k.offset_ns + s.boottime_ns AS unix_ns, s.battery_percent AS percent
                    FROM status_report AS s
                    JOIN headset AS h ON h.id = s.headset_id
                    JOIN host_boot_clock AS k ON k.host_boot_id = s.host_boot_id
                    WHERE h.name = ? AND s.battery_percent IS NOT NULL AND k.offset_ns + s.boottime_ns BETWEEN ? AND ?
                    ORDER BY s.id
                    """, arguments: [headset, range.lowerBound, range.upperBound])
            while let row = try rows.next() {
                guard let time = row.instant("unix_ns") else { continue }
                body(BatteryReading(unixNanoseconds: time, percent: row["percent"]))
            }
        }
    }

    /// The checks of a stream's signals, channel after channel, each in the order of n.
    package func forEachSignalCheck(of stream: StreamID, _ body: (SignalCheckRecord) -> Void) throws(StorageError) {
        try database.read { db in
            let rows = try Row.fetchCursor(
                db, sql: "SELECT * FROM signal_check WHERE stream_id = ? ORDER BY channel, first_n",
                arguments: [stream.rawValue])
            while let row = try rows.next() {
                // A later version may know further conditions.
                guard let condition = SignalCondition(rawValue: row["condition"]) else { continue }
                body(
                    SignalCheckRecord(
                        stream: stream, channel: row["channel"], firstN: row["first_n"], lastN: row["last_n"],
                        condition: condition, sampleCount: row["sample_count"], railedFraction: row["railed_fraction"],
                        peakToPeak: row["peak_to_peak"], line50Hz: row["line_50_hz"], line60Hz: row["line_60_hz"]))
            }
        }
    }

    /// The segments of a stream's time map, ascending.
    package func segments(of stream: StreamID) throws(StorageError) -> [StoredSegment] {
        try database.read { db in try Self.segments(of: stream, in: db) }
    }

    /// How late packets came against a stream's time map: the earliest of about each second, in the order of n.
    ///
    /// - Parameter body: gets n, and nanoseconds from the time of the sample to the arrival of its packet; negative where that
    ///   was earlier.
    package func forEachLateness(of stream: StreamID, _ body: (_ n: Int64, _ nanoseconds: Double) -> Void) throws(StorageError)
    {
        try database.read { db in
            let segments = try Self.segments(of: stream, in: db).map(\.record)
            guard !segments.isEmpty else { return }
            var index = 0
            let rows = try Row.fetchCursor(
                db, sql: "SELECT n, boottime_ns FROM arrival WHERE stream_id = ? ORDER BY n", arguments: [stream.rawValue])
            while let row = try rows.next() {
                let n: Int64 = row["n"]
                while index + 1 < segments.count, segments[index + 1].firstN <= n { index += 1 }
                let segment = segments[index]
                let arrival: Int64 = row["boottime_ns"]
                let elapsed = Double(n &- segment.referenceN) * segment.periodNanoseconds
                body(n, Double(arrival &- segment.referenceTime.nanoseconds) - elapsed)
            }
        }
    }

    /// The gap of whole rows of a stream that has no end yet; nil for none.
    package func openGap(of stream: StreamID) throws(StorageError) -> OpenGap? {
        try database.read { db in
            try Row.fetchOne(
                db, sql: "SELECT first_n, cause FROM gap WHERE stream_id = ? AND channel = 0 AND count IS NULL",
                arguments: [stream.rawValue]
            ).map { OpenGap(firstN: $0["first_n"], cause: $0["cause"]) }
        }
    }

    /// What each cause of a gap means, as a sentence without a full stop.
    package func gapMeanings() throws(StorageError) -> [String: String] {
        try database.read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT cause, meaning FROM gap_cause")
            return Dictionary(rows.map { ($0["cause"], $0["meaning"]) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// The UUID of the machine on which a recording was asked for; nil where it is not known.
    package func machineUUID(of recording: RecordingID) throws(StorageError) -> String? {
        try database.read { db in
            try String.fetchOne(
                db,
                sql: """
                    SELECT m.uuid FROM recording AS r
                    LEFT JOIN machine_boot AS b ON b.host_boot_id = r.requested_host_boot_id
                    JOIN machine AS m ON m.id = coalesce(b.machine_id, (SELECT min(id) FROM machine))
                    WHERE r.id = ? AND (b.machine_id IS NOT NULL OR r.id NOT IN (SELECT recording_id FROM merged_recording))
                    """, arguments: [recording.rawValue])
        }
    }
}
