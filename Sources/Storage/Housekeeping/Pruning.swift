import GRDB

/// Which recordings a rule lets go, and why others stay.
package struct PruningRule: Hashable, Sendable {
    /// Recordings whose last sample is older go, in UTC nanoseconds since 1970; nil for whatever age.
    package var before: Int64?
    /// The oldest go until the database holds no more bytes; nil for whatever size.
    package var sizeMaximum: Int64?
    /// True: only what somebody else has confirmed to hold goes.
    package var requiresConfirmation = false

    package init(before: Int64? = nil, sizeMaximum: Int64? = nil, requiresConfirmation: Bool = false) {
        (self.before, self.sizeMaximum, self.requiresConfirmation) = (before, sizeMaximum, requiresConfirmation)
    }
}

/// A recording as a rule sees it.
package struct PruningCandidate: Hashable, Sendable {
    package var recording: RecordingID
    package var headset: String
    package var label: String?
    /// Its last sample, or its end where it has none; nil where nobody knows.
    package var endUnixNanoseconds: Int64?
    package var rows: Int64
    /// About how many bytes of the database it takes.
    package var bytes: Int64
    /// True where somebody else has every block of it.
    package var isConfirmed: Bool
}

/// What a rule comes to.
package struct PruningPlan: Hashable, Sendable {
    /// What goes, oldest first.
    package var pruned: [PruningCandidate] = []
    /// What would go, and stays because nobody has confirmed to hold it.
    package var unconfirmed: [PruningCandidate] = []
    /// Bytes that the database holds.
    package var usedBytes: Int64 = 0
    /// About how many bytes it still holds beyond what the rule allows; 0 where it holds no more.
    package var excessBytes: Int64 = 0
}

extension Store {
    /// What a rule lets go now. Only recordings that have ended are looked at, whole, and oldest first.
    package func plan(_ rule: PruningRule) throws(StorageError) -> PruningPlan {
        let candidates = try pruningCandidates()
        var plan = PruningPlan(usedBytes: try database.read(DatabaseBackup.usedBytes))
        var left = plan.usedBytes
        for candidate in candidates {
            let isOld = rule.before.flatMap { before in candidate.endUnixNanoseconds.map { $0 < before } } ?? false
            let isTooMuch = rule.sizeMaximum.map { left > $0 } ?? false
            guard isOld || isTooMuch else { continue }
            if rule.requiresConfirmation, !candidate.isConfirmed {
                plan.unconfirmed.append(candidate)
            } else {
                plan.pruned.append(candidate)
                left -= candidate.bytes
            }
        }
        plan.excessBytes = rule.sizeMaximum.map { max(0, left - $0) } ?? 0
        return plan
    }

    /// Recordings that have ended, by their end; those whose time nobody knows come last.
    private func pruningCandidates() throws(StorageError) -> [PruningCandidate] {
        try database.read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT o.recording_id, o.headset, o.label, o.rows, coalesce(o.end_unix_ns, o.stopped_unix_ns) AS end_ns,
                        NOT EXISTS (
                            SELECT 1 FROM stream AS st JOIN block AS b ON b.stream_id = st.id
                            WHERE st.recording_id = o.recording_id
                                AND b.number = (SELECT max(number) FROM block WHERE stream_id = st.id AND chain = b.chain)
                                AND NOT EXISTS (
                                    SELECT 1 FROM confirmation AS c WHERE c.stream_id = st.id AND c.chain = b.chain
                                        AND (c.number, c.row_count) >= (b.number, b.row_count)))
                        AND NOT EXISTS (
                            SELECT 1 FROM stream AS st JOIN undigested_rows AS u ON u.stream_id = st.id
                            WHERE st.recording_id = o.recording_id) AS is_confirmed
                    FROM recording_overview AS o JOIN recording AS r ON r.id = o.recording_id
                    WHERE r.stopped_host_boot_id IS NOT NULL AND r.id NOT IN (SELECT recording_id FROM deletion)
                    ORDER BY end_ns IS NULL, end_ns, o.recording_id
                    """)
            let used = try DatabaseBackup.usedBytes(db)
            let total = try Int64.fetchOne(db, sql: "SELECT sum(rows) FROM recording_overview") ?? 0
            return rows.map { row in
                let count: Int64 = row["rows"]
                return PruningCandidate(
                    recording: RecordingID(rawValue: row["recording_id"]), headset: row["headset"], label: row["label"],
                    endUnixNanoseconds: row["end_ns"], rows: count,
                    bytes: total > 0 ? Int64(Double(used) * Double(count) / Double(total)) : 0,
                    isConfirmed: row["is_confirmed"])
            }
        }
    }
}
