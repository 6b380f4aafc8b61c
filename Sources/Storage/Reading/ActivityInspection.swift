import Bluetooth
import GRDB
import Headsets

/// Reads what `eegsync status` shows.
struct ActivityInspection {
    let hostBoot: Int64?
    let now: MonotonicTime
    let window: Duration

    func activity(of headset: Row, in db: Database) throws -> HeadsetActivity {
        let id: Int64 = headset["id"]
        let recording = try Row.fetchOne(
            db,
            sql: """
                SELECT * FROM recording WHERE headset_id = ? AND stopped_host_boot_id IS NULL
                ORDER BY desired_state = 'recording' DESC, id DESC LIMIT 1
                """, arguments: [id])
        let event = try latestEvent(of: id, in: db)
        let report = try latest("status_report", of: id, in: db)
        let battery = try latest("status_report", where: "battery_percent IS NOT NULL", of: id, in: db)
        let isLive = try Bool.fetchOne(db, sql: Self.isLiveQuery, arguments: [id]) ?? true
        let recordingID: Int64? = recording?["id"]
        return HeadsetActivity(
            id: HeadsetID(rawValue: id), name: headset["name"], model: headset["model"],
            serialNumber: headset["serial_number"], isLive: isLive, recording: recordingID.map(RecordingID.init),
            isWanted: recording?["desired_state"] == "recording",
            requested: try recording.flatMap { try self.instant("requested", of: $0, in: db) },
            stopRequested: try recording.flatMap { try self.instant("stop_requested", of: $0, in: db) }, state: event?["state"],
            stateCause: event?["cause"],
            stateDetail: event?["detail"],
            stateEntered: try event.map { try instant($0["host_boot_id"], $0["entered_boottime_ns"], in: db) },
            condition: (report?["condition"] as String?).flatMap(HeadsetStatus.Condition.init),
            statusOutcome: report?["outcome"],
            statusReported: try report.map { try instant($0["host_boot_id"], $0["boottime_ns"], in: db) },
            batteryPercent: battery?["battery_percent"],
            batteryReported: try battery.map { try instant($0["host_boot_id"], $0["boottime_ns"], in: db) },
            streams: try recordingID.map { try streams(of: $0, in: db) } ?? [],
            address: try AddressActivity(of: id, hostBoot: hostBoot, at: now, in: db))
    }

    /// Boots of machines are named by a UUID, invented ones by something else. A headset without recordings counts as live.
    private static let isLiveQuery = """
        SELECT count(*) = 0 OR max(b.uuid GLOB '????????-????-????-????-????????????')
        FROM recording AS r JOIN host_boot AS b ON b.id = r.requested_host_boot_id WHERE r.headset_id = ?
        """

    /// The state that was entered last; it may be counted on one of the latest rows.
    func latestEvent(of headset: Int64, in db: Database) throws -> Row? {
        try Row.fetchOne(
            db,
            sql: """
                SELECT *, coalesce(last_boottime_ns, boottime_ns) AS entered_boottime_ns FROM (
                    SELECT * FROM connection_event WHERE headset_id = ? ORDER BY id DESC LIMIT 64)
                ORDER BY host_boot_id DESC, entered_boottime_ns DESC, id DESC LIMIT 1
                """, arguments: [headset])
    }

    func latest(_ table: String, where condition: String = "TRUE", of headset: Int64, in db: Database) throws -> Row? {
        try Row.fetchOne(
            db, sql: "SELECT * FROM \(table) WHERE headset_id = ? AND \(condition) ORDER BY id DESC LIMIT 1",
            arguments: [headset])
    }

    func instant(_ boot: Int64, _ nanoseconds: Int64, in db: Database) throws -> StoredInstant {
        try StoredInstant(nanoseconds, ofBoot: boot, present: hostBoot, in: db)
    }

    /// The instant of two columns whose names begin alike; nil where there is none.
    private func instant(_ name: String, of row: Row, in db: Database) throws -> StoredInstant? {
        guard let boot = row["\(name)_host_boot_id"] as Int64?, let nanoseconds = row["\(name)_boottime_ns"] as Int64? else {
            return nil
        }
        return try instant(boot, nanoseconds, in: db)
    }

    /// The newest row of a stream.
    struct NewestRow {
        var n: Int64
        /// What the time map says of it; nil where it says nothing.
        var segment: Row?
        /// When it was taken; nil without ``segment``.
        var taken: StoredInstant?
    }

    /// Found by searches of keys, however long the recording is; nil where there is none.
    func newestRow(of stream: Int64, in db: Database) throws -> NewestRow? {
        guard let n = try Int64.fetchOne(db, sql: "SELECT max(n) FROM sample WHERE stream_id = ?", arguments: [stream])
        else { return nil }
        let segment = try Row.fetchOne(
            db, sql: "SELECT * FROM segment WHERE stream_id = ? AND first_n <= ? ORDER BY first_n DESC LIMIT 1",
            arguments: [stream, n])
        guard let segment else { return NewestRow(n: n) }
        let reference: Int64 = segment["reference_boottime_ns"]
        let elapsed = Int64(bounded: Double(n &- (segment["reference_n"] as Int64)) * (segment["period_ns"] as Double))
        return NewestRow(
            n: n, segment: segment, taken: try instant(segment["host_boot_id"], reference &+ elapsed, in: db))
    }

    private func streams(of recording: Int64, in db: Database) throws -> [StreamActivity] {
        try Row.fetchAll(
            db, sql: "SELECT * FROM stream_overview WHERE recording_id = ? ORDER BY stream_id", arguments: [recording]
        ).map { row in
            let id: Int64 = row["stream_id"]
            let newest = try newestRow(of: id, in: db)
            let lastN = newest?.n
            var rate = 0.0
            if let newest, let segment = newest.segment, let taken = newest.taken, taken.isSameHostBoot {
                // Over the window that ends with the newest row: commits lag behind by up to an interval.
                let period: Double = segment["period_ns"]
                let windowRows = Int64(bounded: window.inSeconds * 1e9 / period)
                let stored = newest.n.subtractingClamped(row.number("first_n") ?? newest.n).addingClamped(1)
                let span = min(windowRows, stored)
                if now - taken.time <= window {
                    let found = try Int64.fetchOne(
                        db, sql: "SELECT count(*) FROM sample WHERE stream_id = ? AND n > ?",
                        arguments: [id, newest.n.subtractingClamped(span)])
                    rate = Double(found ?? 0) / Double(max(span, 1)) * 1e9 / period
                }
            }
            let byDesign = try GapsByDesign(of: "?", arguments: [id], in: db)
            return StreamActivity(
                id: StreamID(rawValue: id), name: row["stream"], bank: row["bank"], view: row["view_name"],
                samplingFrequency: row["sampling_frequency"], rowsPerSecond: rate, lastN: lastN, lastSample: newest?.taken,
                rows: row.number("rows") ?? 0, missing: row.number("missing") ?? 0, recovered: row.number("recovered") ?? 0,
                gaps: row.number("gaps") ?? 0, missingByDesign: byDesign.samples, gapsByDesign: byDesign.count,
                openGapFirstN: row.number("open_gap_first_n"),
                times: newest?.segment.map {
                    StreamTimes(
                        periodNanoseconds: $0["period_ns"], residualNanoseconds: $0["residual_ns"],
                        uncertaintyNanoseconds: $0["uncertainty_ns"])
                }, lossDetection: row["loss_detection"],
                lostFraction: try lostFraction(of: id, lastN: lastN, samplingFrequency: row["sampling_frequency"], in: db),
                signals: try signals(of: id, lastN: lastN, samplingFrequency: row["sampling_frequency"], in: db))
        }
    }

    /// Over how long losses are counted, in seconds.
    private static let lossWindowSeconds = 600.0

    private func lostFraction(
        of stream: Int64, lastN: Int64?, samplingFrequency: Double, in db: Database
    ) throws -> Double {
        guard let lastN else { return 0 }
        let window = max(1, Int64(bounded: samplingFrequency * Self.lossWindowSeconds))
        let lost = try Double.fetchOne(
            db,
            sql: """
                SELECT sum((count - recovered) * CASE channel WHEN 0 THEN 1.0
                    ELSE 1.0 / (SELECT channel_count FROM stream WHERE id = ?1) END)
                FROM gap WHERE stream_id = ?1 AND first_n > ?2 AND cause IN ('packetLost', 'packetDamaged')
                """, arguments: [stream, lastN &- window])
        return (lost ?? 0) / Double(window)
    }

    func signals(
        of stream: Int64, lastN: Int64?, samplingFrequency: Double, in db: Database
    ) throws -> [SignalActivity] {
        // The latest of each channel, by a search of the key.
        try Row.fetchAll(
            db,
            sql: """
                SELECT c.name AS name, c.unit AS unit, q.* FROM channel AS c
                JOIN signal_check AS q ON q.stream_id = c.stream_id AND q.channel = c.number AND q.first_n = (
                    SELECT max(first_n) FROM signal_check WHERE stream_id = c.stream_id AND channel = c.number)
                WHERE c.stream_id = ? ORDER BY c.number
                """, arguments: [stream]
        ).compactMap { row in
            // A word of a later version.
            guard let condition = SignalCondition(rawValue: row["condition"]) else { return nil }
            let check = SignalCheckRecord(
                stream: StreamID(rawValue: stream), channel: row["channel"], firstN: row["first_n"], lastN: row["last_n"],
                condition: condition, sampleCount: row["sample_count"], railedFraction: row["railed_fraction"],
                peakToPeak: row["peak_to_peak"], line50Hz: row["line_50_hz"], line60Hz: row["line_60_hz"])
            return SignalActivity(
                channel: row["name"], unit: row["unit"], check: check,
                ageSeconds: Double(max(0, (lastN ?? check.lastN).subtractingClamped(check.lastN))) / samplingFrequency)
        }
    }
}

extension Int64 {
    /// The nearest whole number within the half of what 64 bits hold, so that two of them can be added; 0 for what is no
    /// number.
    init(bounded value: Double) {
        self = value.isNaN ? 0 : Int64(Swift.min(4e18, Swift.max(-4e18, value)).rounded())
    }
}

extension StoredInstant {
    /// An instant as it is stored.
    ///
    /// - Parameters:
    ///   - boot: the row of the boot to which it belongs.
    ///   - present: the row of the present boot; nil where that is not known.
    init(_ nanoseconds: Int64, ofBoot boot: Int64, present: Int64?, in db: Database) throws {
        let offset = try Int64.fetchOne(
            db, sql: "SELECT offset_ns FROM host_boot_clock WHERE host_boot_id = ?", arguments: [boot])
        self.init(
            time: MonotonicTime(nanoseconds: nanoseconds), isSameHostBoot: boot == present,
            unixNanoseconds: offset.map { $0.addingClamped(nanoseconds) }.flatMap {
                SurprisingNumbers.nanoseconds.contains($0) ? $0 : nil
            })
    }
}
