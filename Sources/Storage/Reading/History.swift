import Bluetooth
import GRDB

/// Something that has happened to a connection, the process or the machine: a row of the view `history`.
package struct HistoryEvent: Hashable, Sendable {
    /// What it happened to.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A headset's connection entered a state.
        case connection
        /// An attempt to reach a headset through one layer ended.
        case attempt
        /// Samples of a headset flow again.
        case `return`
        /// The process that acquires.
        case process
        case machine
    }

    package var kind: Kind
    /// The headset; nil for the process and the machine.
    package var headset: String?
    /// What happened: a state of the connection, the outcome of an attempt, `returned`; `started`, `ended` or `died`;
    /// `rebooted`, `suspended`, `resumed`, `clockStepped`, `rowsHeld` or `rowsStored`.
    package var name: String
    package var cause: String?
    /// What the cause leaves open; of a return, what the cause means; of a process that has started, its version;
    /// of rows that are held, why.
    package var detail: String?
    package var layer: String?
    /// The address that was tried.
    package var address: String?
    /// How many requests the process had made of the central; of a return, how many layers were tried; of a process that has
    /// started, how many open recordings it has taken over.
    package var attempt: Int64?
    /// How often the same happened until ``lastBoottimeNanoseconds``.
    package var count: Int64
    /// How long an attempt, a suspension or the life of a process took; of a return, from when the headset was heard; of a
    /// step of the wall clock, by how much; of rows that are stored again, for how long they waited.
    package var durationNanoseconds: Int64?
    /// The boot of the machine that boottimes count from.
    package var hostBoot: String
    package var boottimeNanoseconds: Int64
    package var lastBoottimeNanoseconds: Int64?
    /// UTC nanoseconds since 1970; nil where the boot has no clock offset.
    package var unixNanoseconds: Int64?
    package var lastUnixNanoseconds: Int64?
    /// True where the kernel said of that boot's clock that it was synchronised.
    package var isSynchronised: Bool
}

/// A return of a headset to streaming, with what is known of how long it took.
package struct ReturnTimes: Hashable, Sendable {
    package var headset: String
    /// When the first sample arrived, UTC nanoseconds since 1970; nil where the boot has no clock offset.
    package var unixNanoseconds: Int64?
    package var layer: String
    /// Why samples were missing; nil for the first link of a recording.
    package var cause: String?
    /// How many layers were tried.
    package var attempts: Int
    /// From when the headset was heard to the first sample: that long it was surely in reach.
    package var sinceHeard: Duration
    /// From when samples could have flowed at the earliest to the first sample.
    package var sinceAble: Duration
}

extension Store {
    /// What has happened, oldest first.
    ///
    /// - Parameters:
    ///   - headset: of this headset, and of the process and the machine; nil for all.
    ///   - since: UTC nanoseconds since 1970; nil for the beginning. What was repeated counts by when it happened last.
    ///   - limit: the latest so many.
    package func history(
        of headset: String? = nil, since: Int64? = nil, limit: Int
    ) throws(StorageError) -> [HistoryEvent] {
        try database.read { db in
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT * FROM history
                    WHERE (?1 IS NULL OR headset IS NULL OR headset = ?1)
                        AND (?2 IS NULL OR coalesce(last_unix_ns, unix_ns) >= ?2)
                    """, arguments: [headset, since])
            var events: [HistoryEvent] = []
            while let row = try rows.next() {
                events.append(HistoryEvent(row))
                // Months of it need not be in memory for the latest hundred.
                if events.count >= 2 * max(limit, 512) { events.removeFirst(events.count - limit) }
            }
            return events.suffix(limit)
        }
    }

    /// Every return to streaming, oldest first.
    ///
    /// - Parameters:
    ///   - headset: nil for all.
    ///   - since: UTC nanoseconds since 1970; nil for the beginning.
    package func returns(of headset: String? = nil, since: Int64? = nil) throws(StorageError) -> [ReturnTimes] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT h.name AS headset, k.offset_ns + r.boottime_ns AS unix_ns, r.* FROM streaming_return AS r
                    JOIN headset AS h ON h.id = r.headset_id
                    JOIN host_boot_clock AS k ON k.host_boot_id = r.host_boot_id
                    WHERE (?1 IS NULL OR h.name = ?1) AND (?2 IS NULL OR k.offset_ns + r.boottime_ns >= ?2)
                    ORDER BY r.id
                    """, arguments: [headset, since]
            ).map { row in
                let firstSample: Int64 = row["boottime_ns"]
                return ReturnTimes(
                    headset: row["headset"], unixNanoseconds: row.instant("unix_ns"), layer: row["layer"], cause: row["cause"],
                    attempts: row["attempts"], sinceHeard: .nanoseconds(firstSample &- row["heard_boottime_ns"]),
                    sinceAble: .nanoseconds(firstSample &- row["able_boottime_ns"]))
            }
        }
    }
}

extension HistoryEvent {
    fileprivate init(_ row: Row) {
        self.init(
            kind: Kind(rawValue: row["kind"]) ?? .connection, headset: row["headset"], name: row["name"],
            cause: row["cause"], detail: row["detail"], layer: row["layer"], address: row["address"],
            attempt: row["attempt"], count: row["count"], durationNanoseconds: row.nanoseconds("duration_ns"),
            hostBoot: row["host_boot"], boottimeNanoseconds: row["boottime_ns"],
            lastBoottimeNanoseconds: row["last_boottime_ns"], unixNanoseconds: row.instant("unix_ns"),
            lastUnixNanoseconds: row.instant("last_unix_ns"), isSynchronised: (row["is_synchronised"] as Bool?) ?? false)
    }
}
