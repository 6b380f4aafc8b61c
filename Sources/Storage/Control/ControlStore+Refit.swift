package import Bluetooth
import GRDB

/// Time maps that are computed anew.
extension ControlStore {
    /// Replaces segments of a recording, all streams in one transaction, and keeps what they were before. Samples, gaps and
    /// numbers stay as they are.
    ///
    /// - Parameters:
    ///   - version: the program's.
    ///   - at: now.
    /// - Throws: ``StorageError/refused(reason:)`` where another process may be writing the recording, or its segments are not
    ///   what was read any more.
    package func replaceSegments(
        of recording: RecordingID, with replacements: [SegmentReplacement], version: String, at: MonotonicTime
    ) throws(StorageError) {
        try write { db in
            let hasEnded = try Bool.fetchOne(
                db, sql: "SELECT stopped_host_boot_id IS NOT NULL FROM recording WHERE id = ?", arguments: [recording.rawValue])
            guard database.isAcquiring || hasEnded == true else {
                throw StorageError.refused(reason: "recording \(recording.rawValue) may be being recorded right now")
            }
            for replacement in replacements {
                guard try Self.segments(of: replacement.stream, in: db) == replacement.before else {
                    throw StorageError.refused(
                        reason: "another program has changed the times of recording \(recording.rawValue)")
                }
                let refit = SegmentRefit(db: db, replacement: replacement)
                try refit.write(version: version, hostBoot: hostBootID, at: at)
            }
        }
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
