package import Bluetooth
import GRDB

/// How often the same has happened without a return in between: one row of the database stands for all.
package struct Repetition: Hashable, Sendable, Codable {
    /// How often, the first time included; at least 2.
    package var count: Int
    /// When it happened last.
    package var last: MonotonicTime

    package init(count: Int, last: MonotonicTime) {
        self.count = count
        self.last = last
    }
}

/// One attempt to reach a headset through one layer, when it ended.
package struct ConnectionAttemptRecord: Hashable, Sendable, Codable {
    package var headset: HeadsetID
    /// `restoration`, `cachedIdentifier`, `serviceRetrieval` or `scan`.
    package var layer: String
    package var identifier: PeripheralIdentifier?
    package var began: MonotonicTime
    package var ended: MonotonicTime
    /// `streaming`, or what ended it, such as `silent`, `connectionTimedOut`.
    package var outcome: String
    /// What went wrong, as the name of an error; nil where nothing did.
    package var cause: String?
    /// What the cause leaves open.
    package var detail: String?
    /// How many requests the process had made of the central by then.
    package var attempt: UInt64
    /// Nil for one that has not been repeated. The instants and ``attempt`` are the first one's.
    package var repetition: Repetition?

    package init(
        headset: HeadsetID, layer: String, identifier: PeripheralIdentifier?, began: MonotonicTime, ended: MonotonicTime,
        outcome: String, cause: String?, detail: String?, attempt: UInt64 = 0
    ) {
        self.headset = headset
        self.layer = layer
        self.identifier = identifier
        self.began = began
        self.ended = ended
        self.outcome = outcome
        self.cause = cause
        self.detail = detail
        self.attempt = attempt
    }
}

extension ConnectionAttemptRecord: ChangeRecord {
    static var waitingMaximum: Int? { Change.repeatedMaximum }
    var subject: ChangeSubject { .headset(headset) }

    func write(in transaction: BatchTransaction) throws {
        if let repetition {
            try transaction.execute(
                """
                UPDATE connection_attempt SET count = ?, last_boottime_ns = ?
                WHERE headset_id = ? AND host_boot_id = ? AND began_boottime_ns = ? AND ended_boottime_ns = ? AND layer = ?
                    AND outcome = ? AND address IS ? AND cause IS ? AND detail IS ?
                """,
                [
                    repetition.count, repetition.last.nanoseconds, headset.rawValue, transaction.hostBoot, began.nanoseconds,
                    ended.nanoseconds, layer, outcome, identifier?.addressDescription, cause, detail,
                ])
            // Its first row may have been trimmed, or given up while the disk was full.
            if transaction.db.changesCount > 0 { return }
        }
        try transaction.execute(
            """
            INSERT INTO connection_attempt (headset_id, layer, address, address_type, host_boot_id, began_boottime_ns,
                ended_boottime_ns, outcome, cause, detail, attempt, count, last_boottime_ns)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                headset.rawValue, layer, identifier?.addressDescription,
                identifier?.addressType.rawValue, transaction.hostBoot, began.nanoseconds, ended.nanoseconds,
                outcome, cause, detail, Int64(clamping: attempt), repetition?.count ?? 1, repetition?.last.nanoseconds,
            ])
    }
}

/// A change of the connection's state.
package struct ConnectionEventRecord: Hashable, Sendable, Codable {
    package var headset: HeadsetID
    package var at: MonotonicTime
    /// The state that was entered, such as `streaming`, `backingOff`.
    package var state: String
    /// What is waited for, as a name: the state of an adapter, an error, the reason of a quarantine; nil where the state says
    /// it all.
    package var cause: String?
    /// What the cause leaves open.
    package var detail: String?
    /// Of a state that holds a link: the layer that found the headset.
    package var layer: String?
    /// How many requests the process had made of the central by then.
    package var attempt: UInt64
    /// Nil for one that has not been repeated. ``at`` and ``attempt`` are the first one's.
    package var repetition: Repetition?

    package init(
        headset: HeadsetID, at: MonotonicTime, state: String, cause: String? = nil, detail: String? = nil,
        layer: String? = nil, attempt: UInt64 = 0
    ) {
        self.headset = headset
        self.at = at
        self.state = state
        self.cause = cause
        self.detail = detail
        self.layer = layer
        self.attempt = attempt
    }
}

extension ConnectionEventRecord: ChangeRecord {
    static var waitingMaximum: Int? { Change.repeatedMaximum }
    var subject: ChangeSubject { .headset(headset) }

    func write(in transaction: BatchTransaction) throws {
        if let repetition {
            try transaction.execute(
                """
                UPDATE connection_event SET count = ?, last_boottime_ns = ?
                WHERE headset_id = ? AND host_boot_id = ? AND boottime_ns = ? AND state = ? AND cause IS ? AND detail IS ?
                """,
                [
                    repetition.count, repetition.last.nanoseconds, headset.rawValue, transaction.hostBoot, at.nanoseconds,
                    state, cause, detail,
                ])
            if transaction.db.changesCount > 0 { return }
        }
        try transaction.execute(
            """
            INSERT INTO connection_event (headset_id, host_boot_id, boottime_ns, state, cause, detail, layer, attempt, count,
                last_boottime_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                headset.rawValue, transaction.hostBoot, at.nanoseconds, state, cause, detail, layer,
                Int64(clamping: attempt), repetition?.count ?? 1, repetition?.last.nanoseconds,
            ])
    }
}

/// What a machine wants to know again after the process died, as one JSON document a headset.
package struct PreservedStateRecord: Hashable, Sendable, Codable {
    package var headset: HeadsetID
    package var json: String
    package var at: MonotonicTime

    package init(headset: HeadsetID, json: String, at: MonotonicTime) {
        self.headset = headset
        self.json = json
        self.at = at
    }
}

extension PreservedStateRecord: ChangeRecord {
    /// Of what replaces the one before, only the latest is worth writing.
    static var waitingMaximum: Int? { 1 }
    var subject: ChangeSubject { .headset(headset) }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO preserved_state (headset_id, json, host_boot_id, boottime_ns) VALUES (?, ?, ?, ?)
            ON CONFLICT (headset_id) DO UPDATE SET json = excluded.json, host_boot_id = excluded.host_boot_id,
                boottime_ns = excluded.boottime_ns
            """,
            [headset.rawValue, json, transaction.hostBoot, at.nanoseconds])
    }
}
