import GRDB

/// The order in which recordings have ended, also where no clock says when.
///
/// A boot whose clock was never synchronised, such as one of a board without a battery-backed clock and without a network, may
/// believe any time. Boots of a machine have keys in the order in which they were, so what ended in such a boot comes right
/// behind what had ended on that machine before.
struct PruningOrder {
    /// Where the end of a recording lies.
    struct End: Hashable {
        /// The machine of the boot; nil where that is not noted.
        var machine: Int64?
        var boot: Int64
        /// In nanoseconds, on the clock of the boot.
        var boottime: Double
        /// False where a boot in which it was recorded has no synchronised clock offset.
        var isSynchronised: Bool
    }

    /// By recording.
    private var ends: [Int64: End] = [:]

    /// Reads where recordings have ended: with the last sample that has a time, else where they were stopped.
    init(_ db: Database) throws {
        let clocks = try Row.fetchAll(
            db,
            sql: """
                SELECT k.host_boot_id AS host_boot_id, coalesce(k.is_synchronised, 0) AS is_synchronised,
                    m.machine_id AS machine_id
                FROM host_boot_clock AS k LEFT JOIN machine_boot AS m ON m.host_boot_id = k.host_boot_id
                """)
        var boots: [Int64: (isSynchronised: Bool, machine: Int64?)] = [:]
        for row in clocks {
            let boot: Int64 = row["host_boot_id"]
            boots[boot] = (isSynchronised: row["is_synchronised"] as Bool, machine: row["machine_id"] as Int64?)
        }
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT st.recording_id AS recording_id, g.host_boot_id AS host_boot_id,
                    max(g.reference_boottime_ns + (g.last_n - g.reference_n) * g.period_ns) AS boottime_ns
                FROM segment AS g JOIN stream AS st ON st.id = g.stream_id
                GROUP BY st.recording_id, g.host_boot_id
                UNION ALL
                SELECT r.id, r.stopped_host_boot_id, r.stopped_boottime_ns FROM recording AS r
                WHERE r.stopped_host_boot_id IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM stream AS st JOIN segment AS g ON g.stream_id = st.id WHERE st.recording_id = r.id)
                ORDER BY recording_id, host_boot_id
                """)
        // The last boot of a recording comes last; one without a synchronised clock counts wherever it comes.
        for row in rows {
            let recording: Int64 = row["recording_id"]
            let boot: Int64 = row["host_boot_id"]
            let known = boots[boot]
            let isSynchronised = (known?.isSynchronised ?? false) && (ends[recording]?.isSynchronised ?? true)
            ends[recording] = End(
                machine: known?.machine, boot: boot, boottime: row["boottime_ns"], isSynchronised: isSynchronised)
        }
    }

    /// True where every boot in which a recording was recorded has had a synchronised clock.
    func isSynchronised(_ recording: RecordingID) -> Bool { ends[recording.rawValue]?.isSynchronised ?? false }

    /// Recordings by their end, the oldest first.
    func sorted(_ candidates: [PruningCandidate]) -> [PruningCandidate] {
        // One without an end here has never been anything: it comes first.
        let absent = End(machine: nil, boot: 0, boottime: 0, isSynchronised: false)
        let byBoot = candidates.sorted { one, other in
            let (first, second) = (ends[one.recording.rawValue] ?? absent, ends[other.recording.rawValue] ?? absent)
            return (first.boot, first.boottime, one.recording.rawValue)
                < (second.boot, second.boottime, other.recording.rawValue)
        }
        // What ended last so far on each machine. Boots whose machine is not noted count for all.
        var latest: [Int64?: Int64] = [:]
        var timed: [(time: Int64, position: Int, candidate: PruningCandidate)] = []
        for (position, candidate) in byBoot.enumerated() {
            let machine = ends[candidate.recording.rawValue]?.machine
            let before = max(latest[machine] ?? .min, latest[Int64?.none] ?? .min)
            let time = candidate.endUnixNanoseconds ?? before
            latest[machine] = max(before, time)
            timed.append((time, position, candidate))
        }
        // Those of one time stay in the order of boots.
        return timed.sorted { ($0.time, $0.position) < ($1.time, $1.position) }.map { $0.candidate }
    }
}
