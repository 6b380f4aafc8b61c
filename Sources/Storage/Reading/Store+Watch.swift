package import Bluetooth
import GRDB

/// A recording that is wanted, as whoever watches over it looks at it every few seconds: nothing here counts rows or adds up a
/// ledger of weeks.
package struct WatchedRecording: Hashable, Sendable {
    /// What is known of its headset; without streams.
    package var headset: HeadsetActivity
    /// From when on samples could have come: when the recording was asked for, or when a pause ended, or when the machine
    /// booted.
    package var wantedSince: MonotonicTime
    /// Its streams that have rows.
    package var streams: [WatchedStream]
}

/// A stream of such a recording.
package struct WatchedStream: Hashable, Sendable {
    package var name: String
    /// Nominal, in hertz.
    package var samplingFrequency: Double
    /// When the newest row was taken; nil without time map.
    package var lastSample: StoredInstant?
    /// The part of the samples of the latest window that is missing and that somebody wanted, 0 ... 1; nil where the stream is
    /// younger than a tenth of it.
    package var missingFraction: Double?
    /// The latest check of each channel that has one.
    package var signals: [SignalActivity]
}

extension Store {
    /// Every recording that is wanted, by the name of its headset.
    ///
    /// - Parameters:
    ///   - now: on the clock of the store's host boot.
    ///   - window: over how long missing samples are counted.
    package func watchedRecordings(
        at now: MonotonicTime, window: Duration
    ) throws(StorageError) -> [WatchedRecording] {
        let watch = WatchInspection(activity: ActivityInspection(hostBoot: presentBoot, now: now, window: window))
        return try database.read { db in
            let resumed = try watch.latestResume(in: db)
            return try Row.fetchAll(
                db,
                sql: """
                    SELECT h.*, r.id AS recording_id, r.requested_host_boot_id, r.requested_boottime_ns
                    FROM recording AS r JOIN headset AS h ON h.id = r.headset_id
                    WHERE r.desired_state = 'recording' ORDER BY h.name
                    """
            ).map { try watch.recording($0, resumed: resumed, in: db) }
        }
    }

    /// When `eegsync run` was started after an earlier one that had not ended in order, the latest first.
    ///
    /// - Parameter limit: at most so many.
    package func startsAfterDeath(limit: Int) throws(StorageError) -> [StoredInstant] {
        let present = presentBoot
        return try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT p.host_boot_id, p.started_boottime_ns FROM process AS p
                    WHERE (SELECT q.ended_boottime_ns IS NULL FROM process AS q WHERE q.id < p.id ORDER BY q.id DESC LIMIT 1)
                    ORDER BY p.id DESC LIMIT ?
                    """, arguments: [limit]
            ).map {
                try StoredInstant($0["started_boottime_ns"], ofBoot: $0["host_boot_id"], present: present, in: db)
            }
        }
    }
}

/// Reads what is watched.
private struct WatchInspection {
    let activity: ActivityInspection

    func latestResume(in db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db, sql: "SELECT ended_boottime_ns FROM pause WHERE ended_host_boot_id = ? ORDER BY id DESC LIMIT 1",
            arguments: [activity.hostBoot])
    }

    func recording(_ row: Row, resumed: Int64?, in db: Database) throws -> WatchedRecording {
        let headset: Int64 = row["id"]
        let recording: Int64 = row["recording_id"]
        let event = try activity.latestEvent(of: headset, in: db)
        let battery = try activity.latest("status_report", where: "battery_percent IS NOT NULL", of: headset, in: db)
        let known = HeadsetActivity(
            id: HeadsetID(rawValue: headset), name: row["name"], model: row["model"], serialNumber: row["serial_number"],
            isLive: true, recording: RecordingID(rawValue: recording), isWanted: true, state: event?["state"],
            stateCause: event?["cause"], stateDetail: event?["detail"],
            stateEntered: try event.map {
                try activity.instant($0["host_boot_id"], $0["entered_boottime_ns"], in: db)
            }, batteryPercent: battery?["battery_percent"],
            batteryReported: try battery.map { try activity.instant($0["host_boot_id"], $0["boottime_ns"], in: db) },
            streams: [])
        // Of a recording that was asked for before the machine booted, nothing can have come before that.
        let isOfThisBoot = row["requested_host_boot_id"] as Int64? == activity.hostBoot
        let requested: Int64 = isOfThisBoot ? row["requested_boottime_ns"] : 0
        return WatchedRecording(
            headset: known, wantedSince: MonotonicTime(nanoseconds: max(requested, resumed ?? 0, 0)),
            streams: try streams(of: recording, in: db))
    }

    private func streams(of recording: Int64, in db: Database) throws -> [WatchedStream] {
        try Row.fetchAll(
            db, sql: "SELECT id, name, sampling_frequency FROM stream WHERE recording_id = ? ORDER BY id",
            arguments: [recording]
        ).compactMap { row in
            let id: Int64 = row["id"]
            let frequency: Double = row["sampling_frequency"]
            guard let newest = try activity.newestRow(of: id, in: db),
                let firstN = try Int64.fetchOne(db, sql: "SELECT min(n) FROM sample WHERE stream_id = ?", arguments: [id])
            else { return nil }
            return WatchedStream(
                name: row["name"], samplingFrequency: frequency, lastSample: newest.taken,
                missingFraction: try missingFraction(of: id, firstN, newest.n, frequency, in: db),
                signals: try activity.signals(of: id, lastN: newest.n, samplingFrequency: frequency, in: db))
        }
    }

    /// Gaps whose samples were never meant to come do not count, nor do pauses; of a gap that began before the window, its part
    /// in the window counts, and of what was recovered its share. By the index, whatever the length of the ledger.
    private func missingFraction(
        of stream: Int64, _ firstN: Int64, _ lastN: Int64, _ frequency: Double, in db: Database
    ) throws -> Double? {
        let whole = max(1, Int64(bounded: frequency * activity.window.inSeconds))
        let window = min(whole, lastN &- firstN &+ 1)
        guard window >= whole / 10 else { return nil }
        let begin = lastN &- window &+ 1
        let missing = try Double.fetchOne(
            db,
            sql: """
                SELECT sum(max(0, min(first_n + count, ?3 + 1) - max(first_n, ?2)) * (count - recovered) * 1.0 / count
                    * CASE channel WHEN 0 THEN 1.0 ELSE 1.0 / (SELECT channel_count FROM stream WHERE id = ?1) END)
                FROM gap
                WHERE stream_id = ?1 AND channel IN (0, 1, 2, 3, 4, 5, 6, 7, 8) AND count > 0
                    AND cause NOT IN ('notSent', 'operator')
                    AND first_n <= ?3 AND first_n >= coalesce((
                        SELECT max(g.first_n) FROM gap AS g
                        WHERE g.stream_id = ?1 AND g.channel = 0 AND g.first_n < ?2), ?2)
                """, arguments: [stream, begin, lastN])
        return min(1, (missing ?? 0) / Double(window))
    }
}
