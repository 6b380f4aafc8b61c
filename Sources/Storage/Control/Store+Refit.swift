public import Bluetooth
import GRDB

/// Time maps that are computed anew.
extension Store {
    /// Of a neighbour so many arrivals are read: an hour tells its rate.
    private static let neighbourLimit = 3600
    /// Fewer arrivals do not tell a rate.
    private static let neighbourMinimum = 60

    /// The keys of a recording's streams, by position and bank.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such recording.
    public func streams(of recording: RecordingID) throws(StorageError) -> [StreamID] {
        try connection.read { db in
            try Self.requireRecording(recording, in: db)
            return try StreamRow.fetch(of: recording, in: db).map(\.id)
        }
    }

    /// What a stream's time map can be computed anew from.
    public func evidence(of stream: StreamID) throws(StorageError) -> StreamEvidence {
        try connection.read { db in try Self.evidence(of: stream, in: db) }
    }

    /// The evidence of a stream of the same kind in another recording of the headset: the nearest earlier one that has enough,
    /// or else the nearest later one. Nil where there is none.
    ///
    /// It is chosen and read by what no refit changes, so that a second refit gives what the first one gave.
    public func neighbouringEvidence(of stream: StreamID) throws(StorageError) -> NeighbouringEvidence? {
        try connection.read { db in
            for isEarlier in [true, false] {
                let neighbour = try Int64.fetchOne(
                    db,
                    sql: """
                        SELECT o.id FROM stream AS st
                        JOIN recording AS r ON r.id = st.recording_id
                        JOIN recording AS p ON p.headset_id = r.headset_id AND p.id \(isEarlier ? "<" : ">") r.id
                        JOIN stream AS o ON o.recording_id = p.id AND o.name = st.name AND o.bank = st.bank
                            AND o.sampling_frequency = st.sampling_frequency
                        WHERE st.id = ? AND (SELECT count(*) FROM (
                            SELECT 1 FROM arrival WHERE stream_id = o.id LIMIT \(Self.neighbourMinimum)))
                            = \(Self.neighbourMinimum)
                        ORDER BY p.id \(isEarlier ? "DESC" : "ASC") LIMIT 1
                        """, arguments: [stream.rawValue])
                guard let neighbour else { continue }
                let evidence = try Self.evidence(
                    of: StreamID(rawValue: neighbour), in: db, limit: Self.neighbourLimit, fromEnd: isEarlier)
                return NeighbouringEvidence(evidence: evidence, isEarlier: isEarlier)
            }
            return nil
        }
    }

    /// Replaces segments of a recording, all streams in one transaction, and keeps what they were before. Samples, gaps and
    /// numbers stay as they are.
    ///
    /// - Parameters:
    ///   - version: the program's.
    ///   - at: now.
    /// - Throws: ``StorageError/refused(reason:)`` where another process may be writing the recording, or its segments are not
    ///   what was read any more.
    public func replaceSegments(
        of recording: RecordingID, with replacements: [SegmentReplacement], version: String, at: MonotonicTime
    ) throws(StorageError) {
        let hostBoot = try requireHostBoot()
        let isAlone = isAcquiring
        try connection.write { db in
            let hasEnded = try Bool.fetchOne(
                db, sql: "SELECT stopped_host_boot_id IS NOT NULL FROM recording WHERE id = ?", arguments: [recording.rawValue])
            guard isAlone || hasEnded == true else {
                throw StorageError.refused(reason: "recording \(recording.rawValue) may be being recorded right now")
            }
            for replacement in replacements {
                guard try Self.segments(of: replacement.stream, in: db) == replacement.before else {
                    throw StorageError.refused(
                        reason: "another program has changed the times of recording \(recording.rawValue)")
                }
                let refit = SegmentRefit(db: db, replacement: replacement)
                try refit.write(version: version, hostBoot: hostBoot, at: at)
            }
        }
        noteControlChange()
    }

    private static func evidence(
        of stream: StreamID, in db: Database, limit: Int = -1, fromEnd: Bool = false
    ) throws -> StreamEvidence {
        guard let row = try Row.fetchOne(db, sql: "SELECT * FROM stream WHERE id = ?", arguments: [stream.rawValue]) else {
            throw StorageError.notFound(what: "stream \(stream.rawValue)")
        }
        let arrivals = try Row.fetchAll(
            db,
            sql: """
                SELECT n, boottime_ns, device_ticks FROM arrival WHERE stream_id = ? ORDER BY n \(fromEnd ? "DESC" : "ASC")
                LIMIT ?
                """, arguments: [stream.rawValue, limit]
        ).map {
            ArrivalRecord(
                stream: stream, n: $0["n"], at: MonotonicTime(nanoseconds: $0["boottime_ns"]),
                deviceTicks: ($0["device_ticks"] as Int64?).map { UInt64(bitPattern: $0) })
        }
        return StreamEvidence(
            stream: stream, name: row["name"], bank: row["bank"], samplingFrequency: row["sampling_frequency"],
            isCounted: row["counter_modulus"] != nil, segments: try segments(of: stream, in: db),
            arrivals: fromEnd ? arrivals.reversed() : arrivals)
    }

    private static func segments(of stream: StreamID, in db: Database) throws -> [StoredSegment] {
        try Row.fetchAll(
            db, sql: "SELECT * FROM segment WHERE stream_id = ? ORDER BY first_n", arguments: [stream.rawValue]
        ).map { StoredSegment(SegmentRecord($0, of: stream), hostBoot: $0["host_boot_id"]) }
    }
}

/// The writing of one stream's replacement.
private struct SegmentRefit {
    let db: Database
    let replacement: SegmentReplacement

    func write(version: String, hostBoot: Int64, at: MonotonicTime) throws {
        let (before, after) = (Set(replacement.before), Set(replacement.after))
        if before == after { return }
        try db.execute(
            sql: """
                INSERT INTO refit (stream_id, host_boot_id, boottime_ns, version, evidence_count, shift_max_ns, shift_mean_ns)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                replacement.stream.rawValue, hostBoot, at.nanoseconds, version, replacement.evidenceCount,
                replacement.shiftMaximum, replacement.shiftMean,
            ])
        let refit = db.lastInsertedRowID
        for segment in replacement.before where !after.contains(segment) {
            try db.cachedStatement(
                sql: """
                    INSERT INTO replaced_segment (refit_id, first_n, last_n, epoch, host_boot_id, reference_n,
                        reference_boottime_ns, period_ns, residual_ns, observation_count, uncertainty_ns)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [refit] + arguments(of: segment))
            try db.cachedStatement(sql: "DELETE FROM segment WHERE stream_id = ? AND first_n = ?")
                .execute(arguments: [replacement.stream.rawValue, segment.record.firstN])
        }
        for segment in replacement.after where !before.contains(segment) {
            try db.cachedStatement(
                sql: """
                    INSERT INTO segment (stream_id, first_n, last_n, epoch, host_boot_id, reference_n, reference_boottime_ns,
                        period_ns, residual_ns, observation_count, uncertainty_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [replacement.stream.rawValue] + arguments(of: segment))
        }
    }

    private func arguments(of segment: StoredSegment) -> StatementArguments {
        let record = segment.record
        return [
            record.firstN, record.lastN, record.epoch, segment.hostBoot, record.referenceN, record.referenceTime.nanoseconds,
            record.periodNanoseconds, record.residualNanoseconds, record.observationCount, record.uncertaintyNanoseconds,
        ]
    }
}

extension SegmentRecord {
    /// A row of table `segment`.
    init(_ row: Row, of stream: StreamID) {
        self.init(
            stream: stream, firstN: row["first_n"], lastN: row["last_n"], epoch: row["epoch"], referenceN: row["reference_n"],
            referenceTime: MonotonicTime(nanoseconds: row["reference_boottime_ns"]), periodNanoseconds: row["period_ns"],
            residualNanoseconds: row["residual_ns"], observationCount: row["observation_count"],
            uncertaintyNanoseconds: row["uncertainty_ns"])
    }
}
