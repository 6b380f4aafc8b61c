import Evidence
import Foundation
import GRDB

/// Which recordings a rule lets go, and why others stay.
package struct PruningRule: Hashable, Sendable {
    /// Recordings whose last sample is older go, in UTC nanoseconds since 1970; nil for whatever age.
    package var before: Int64?
    /// False where ``before`` was counted from a present clock that is not synchronised: nothing goes by its age then.
    package var isPresentKnown = true
    /// The oldest go until the database holds no more bytes; nil for whatever size.
    package var sizeMaximum: Int64?
    /// True: only what somebody else has confirmed to hold goes.
    package var requiresConfirmation = false

    package init(
        before: Int64? = nil, isPresentKnown: Bool = true, sizeMaximum: Int64? = nil, requiresConfirmation: Bool = false
    ) {
        (self.before, self.isPresentKnown) = (before, isPresentKnown)
        (self.sizeMaximum, self.requiresConfirmation) = (sizeMaximum, requiresConfirmation)
    }

    /// True where an age was asked for that cannot be counted now.
    package var skipsAge: Bool { before != nil && !isPresentKnown }
}

/// A recording as a rule sees it.
package struct PruningCandidate: Hashable, Sendable {
    package var recording: RecordingID
    package var headset: String
    package var label: String?
    /// Its last sample, or its end where it has none, as the clocks of its boots say; nil where none says anything.
    package var statedEndUnixNanoseconds: Int64?
    /// False where a boot in which it was recorded never had a synchronised clock: what that says may be months off.
    package var isEndKnown: Bool
    package var rows: Int64
    /// About how many bytes of the database it takes.
    package var bytes: Int64

    /// Its last sample, or its end where it has none; nil where nobody knows.
    package var endUnixNanoseconds: Int64? { isEndKnown ? statedEndUnixNanoseconds : nil }
}

/// What a rule comes to.
package struct PruningPlan: Hashable, Sendable {
    /// What goes, oldest first.
    package var pruned: [PruningCandidate] = []
    /// What would go, and stays because nobody has confirmed to hold it.
    package var unconfirmed: [PruningCandidate] = []
    /// What would go by its age if its clocks were right, and stays because they were never synchronised.
    package var untimed: [PruningCandidate] = []
    /// Bytes that the database holds.
    package var usedBytes: Int64 = 0
    /// About how many bytes it still holds beyond what the rule allows; 0 where it holds no more.
    package var excessBytes: Int64 = 0
}

extension PruningRule {
    /// What it says of a recording, whoever holds that.
    fileprivate enum Verdict {
        /// Neither old nor too much.
        case stays
        /// It would go by its age if its clocks were right.
        case isUntimed
        case goes
    }

    /// - Parameter usedBytes: what the database holds before it goes.
    fileprivate func verdict(_ candidate: PruningCandidate, usedBytes: Int64) -> Verdict {
        let seemsOld = skipsAge ? false : before.map { (candidate.statedEndUnixNanoseconds ?? .min) < $0 } ?? false
        let isTooMuch = sizeMaximum.map { usedBytes > $0 } ?? false
        if isTooMuch || (seemsOld && candidate.isEndKnown) { return .goes }
        return seemsOld ? .isUntimed : .stays
    }

    fileprivate func excessBytes(of usedBytes: Int64) -> Int64 { sizeMaximum.map { max(0, usedBytes - $0) } ?? 0 }
}

extension Store {
    /// What a rule lets go now. Only recordings that have ended are looked at, whole, and oldest first. Those of which nobody
    /// knows when they ended go by no age; by size they go in the order of boots.
    package func plan(_ rule: PruningRule) throws(StorageError) -> PruningPlan {
        var plan = PruningPlan(usedBytes: try database.read(DatabaseBackup.usedBytes))
        var left = plan.usedBytes
        for candidate in try pruningCandidates() {
            switch rule.verdict(candidate, usedBytes: left) {
            case .stays: break
            case .isUntimed: plan.untimed.append(candidate)
            case .goes:
                if rule.requiresConfirmation,
                    try !database.read({ db in try Self.isHeldElsewhere(candidate.recording, in: db) })
                {
                    plan.unconfirmed.append(candidate)
                } else {
                    plan.pruned.append(candidate)
                    left -= candidate.bytes
                }
            }
        }
        plan.excessBytes = rule.excessBytes(of: left)
        return plan
    }

    /// Whether somebody else has all of a recording, as it is now: every block, which are its samples, and marks, corrections
    /// and whatever else goes with it.
    static func isHeldElsewhere(_ recording: RecordingID, in db: Database) throws -> Bool {
        let key: StatementArguments = [recording.rawValue]
        let isConfirmed = try Bool.fetchOne(
            db,
            sql: """
                SELECT NOT EXISTS (
                    SELECT 1 FROM stream AS st JOIN block AS b ON b.stream_id = st.id
                    WHERE st.recording_id = ?1
                        AND b.number = (SELECT max(number) FROM block WHERE stream_id = st.id AND chain = b.chain)
                        AND NOT EXISTS (
                            SELECT 1 FROM confirmation AS c WHERE c.stream_id = st.id AND c.chain = b.chain
                                AND (c.number, c.row_count) >= (b.number, b.row_count)))
                AND NOT EXISTS (
                    SELECT 1 FROM stream AS st JOIN undigested_rows AS u ON u.stream_id = st.id WHERE st.recording_id = ?1)
                """, arguments: key)
        guard isConfirmed == true else { return false }
        let noted = try Data.fetchAll(db, sql: "SELECT digest FROM whole_confirmation WHERE recording_id = ?", arguments: key)
        if noted.isEmpty { return false }
        return noted.contains(Data(try WholeRecording(recording, in: db).sum.bytes))
    }

    /// Recordings that have ended, by their end.
    fileprivate func pruningCandidates() throws(StorageError) -> [PruningCandidate] {
        try database.read { db in
            let order = try PruningOrder(db)
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT o.recording_id, o.headset, o.label, o.rows, coalesce(o.end_unix_ns, o.stopped_unix_ns) AS end_ns
                    FROM recording_overview AS o JOIN recording AS r ON r.id = o.recording_id
                    WHERE r.stopped_host_boot_id IS NOT NULL AND r.id NOT IN (SELECT recording_id FROM deletion)
                    """)
            let used = try DatabaseBackup.usedBytes(db)
            let sums = try Row.fetchOne(db, sql: "SELECT sum(rows) AS rows FROM recording_overview")
            let total = sums?.number("rows") ?? 0
            let candidates = rows.map { row in
                let count = row.number("rows") ?? 0
                let recording = RecordingID(rawValue: row["recording_id"])
                let end = row.instant("end_ns")
                return PruningCandidate(
                    recording: recording, headset: row["headset"], label: row["label"], statedEndUnixNanoseconds: end,
                    isEndKnown: end != nil && order.isSynchronised(recording), rows: count,
                    bytes: total > 0 ? Int64(Double(used) * Double(count) / Double(total)) : 0)
            }
            return order.sorted(candidates)
        }
    }
}

extension ControlStore {
    /// Deletes what a rule lets go, one after the other: how much each gives back shows when it is gone.
    ///
    /// - Parameter delete: deletes a recording, and returns false where it must stay: only then is it looked at whether
    ///   somebody else has it, see ``delete(_:means:by:at:onlyHeldElsewhere:pause:progress:)``.
    /// - Returns: what went and what stayed, and what the database holds then.
    package func prune(
        _ rule: PruningRule, by delete: (RecordingID) throws(StorageError) -> Bool
    ) throws(StorageError) -> PruningPlan {
        var plan = PruningPlan()
        for candidate in try pruningCandidates() {
            let (used, isGone) = try database.read { db in
                (try DatabaseBackup.usedBytes(db), try Deletion.isNoted(candidate.recording, in: db))
            }
            if isGone { continue }
            switch rule.verdict(candidate, usedBytes: used) {
            case .stays: break
            case .isUntimed: plan.untimed.append(candidate)
            case .goes:
                if try delete(candidate.recording) { plan.pruned.append(candidate) } else { plan.unconfirmed.append(candidate) }
            }
        }
        plan.usedBytes = try database.read(DatabaseBackup.usedBytes)
        plan.excessBytes = rule.excessBytes(of: plan.usedBytes)
        return plan
    }
}
