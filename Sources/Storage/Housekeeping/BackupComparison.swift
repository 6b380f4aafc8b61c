import Evidence
import GRDB

/// What two databases have of the same streams: whether one holds what the other does, block by block.
package struct BackupComparison: Hashable, Sendable {
    /// What the backup has, and the original has otherwise, in words.
    package var differences: [String] = []
    /// Streams of the backup that the original has, too.
    package var streams = 0
    /// Rows of these in the backup.
    package var rows: Int64 = 0
    /// Streams of the backup that were deleted in the original, on purpose.
    package var deletedStreams = 0
    /// Rows that the original has and the backup lacks: what was recorded since.
    package var rowsSince: Int64 = 0

    /// Compares the ends of all chains of the backup with the blocks of the original. That the backup's rows are those of its
    /// own blocks is for an audit of it to say.
    package init(of backup: some Store, with original: some Store) throws(StorageError) {
        var streams: [Manifest.Stream] = []
        for id in try backup.recordingKeys() { streams += try backup.manifestStreams(of: id) }
        for stream in streams {
            if try original.recording(ofStream: stream.uuid) == nil, try original.wasDeleted(stream: stream.uuid) {
                deletedStreams += 1
                continue
            }
            self.streams += 1
            rows += stream.rows
            differences += try original.differences(from: stream)
        }
        for clock in try backup.bootClocks() {
            if try original.hasNoted(clock) { continue }
            differences.append(
                "the times of the boot \(clock.boot) follow a clock that the database has not noted (\(clock.offset) ns)")
        }
        var all: Int64 = 0
        for id in try original.recordingKeys() { all += try original.manifestStreams(of: id).reduce(0) { $0 + $1.rows } }
        rowsSince = max(0, all - rows)
    }
}

extension Store {
    /// All recordings that are not deleted, by key.
    func recordingKeys() throws(StorageError) -> [RecordingID] {
        try database.read { db in
            try Int64.fetchAll(
                db, sql: "SELECT id FROM recording WHERE id NOT IN (SELECT recording_id FROM deletion) ORDER BY id"
            ).map(RecordingID.init)
        }
    }

    /// By which clocks instants become UTC.
    fileprivate func bootClocks() throws(StorageError) -> [BootClock] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT uuid, offset_ns, is_synchronised FROM host_boot_clock WHERE offset_ns IS NOT NULL
                    ORDER BY host_boot_id
                    """
            ).map { BootClock(boot: $0[0], offset: $0[1], isSynchronised: $0[2]) }
        }
    }

    /// Whether a clock is one that was noted here, or of a boot that nothing is known of here.
    fileprivate func hasNoted(_ clock: BootClock) throws(StorageError) -> Bool {
        try database.read { db in
            try Bool.fetchOne(
                db,
                sql: """
                    SELECT NOT EXISTS (SELECT 1 FROM host_boot WHERE uuid = ?1) OR EXISTS (
                        SELECT 1 FROM clock_offset AS o JOIN host_boot AS b ON b.id = o.host_boot_id
                        WHERE b.uuid = ?1 AND o.offset_ns = ?2 AND o.is_synchronised = ?3)
                    """, arguments: [clock.boot, clock.offset, clock.isSynchronised]) ?? false
        }
    }

    func wasDeleted(stream uuid: String) throws(StorageError) -> Bool {
        try database.read { db in try Deletion.isNoted(stream: uuid, in: db) }
    }
}

/// The clock offset that a boot uses (the view `host_boot_clock`).
private struct BootClock {
    var boot: String
    /// Nanoseconds since 1970 at boottime 0.
    var offset: Int64
    var isSynchronised: Bool
}
