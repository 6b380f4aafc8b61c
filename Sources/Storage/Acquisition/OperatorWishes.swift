import Bluetooth
import GRDB

/// What the operator wishes of the acquisition, as it stands in the database.
package struct OperatorWishes: Hashable, Sendable {
    /// A number that changes with the wishes.
    package var version: Int64
    /// True while another program reads what is recorded as it comes: commits are to be made each second.
    package var isFollowed = false
    /// Nil where the version was known.
    package var contents: Contents?

    package init(version: Int64, isFollowed: Bool = false, contents: Contents? = nil) {
        (self.version, self.isFollowed, self.contents) = (version, isFollowed, contents)
    }

    /// The wishes.
    package struct Contents: Hashable, Sendable {
        /// Recordings that have not ended.
        package var recordings: [OpenRecording]
        /// Captures that nobody has taken away.
        package var captures: [CaptureRequest]
        /// Measurements of impedances that nobody has taken away.
        package var measurements: [ImpedanceRequest]
        /// The latest decision about the address of each headset.
        package var adoptions: [AdoptionWish] = []
        /// True where nothing is to be recorded for a while.
        package var isPaused = false
        /// Recordings that begin by themselves.
        package var schedules: [RecordingSchedule] = []
    }
}

extension AcquisitionStore {
    /// Reads what the operator wishes.
    ///
    /// - Parameter known: a version of which nothing is to be read again.
    package func wishes(unlessVersion known: Int64?) throws(StorageError) -> OperatorWishes {
        let version = try database.dataVersion()
        let isFollowed = followers?.isFollowed ?? false
        guard version != known else { return OperatorWishes(version: version, isFollowed: isFollowed) }
        return OperatorWishes(
            version: version, isFollowed: isFollowed,
            contents: OperatorWishes.Contents(
                recordings: try openRecordings(), captures: try openRequests(), measurements: try openRequests(),
                adoptions: try adoptions(), isPaused: try pause() != nil, schedules: try schedules()))
    }

    /// Timed requests that the acquisition has to care for.
    package func openRequests<ID: TimedRequestID>() throws(StorageError) -> [TimedRequest<ID>] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT id, headset_id, desired_state = ? AND host_boot_id IS ? AS wanted, end_boottime_ns
                    FROM \(ID.table) WHERE is_complete = 0 ORDER BY id
                    """, arguments: [ID.wantedState, hostBootID]
            ).map { row in
                TimedRequest(
                    id: ID(rawValue: row["id"]), headset: HeadsetID(rawValue: row["headset_id"]), isWanted: row["wanted"],
                    end: MonotonicTime(nanoseconds: row["end_boottime_ns"]))
            }
        }
    }

    /// The latest decision about the address of each headset, in order of their keys.
    private func adoptions() throws(StorageError) -> [AdoptionWish] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM adoption WHERE id IN (SELECT max(id) FROM adoption GROUP BY headset_id) ORDER BY headset_id
                    """
            ).compactMap { row in
                guard let identifier = PeripheralIdentifier(row), let decision = AdoptionDecision(rawValue: row["decision"])
                else { return nil }
                return AdoptionWish(
                    id: row["id"], headset: HeadsetID(rawValue: row["headset_id"]), identifier: identifier, decision: decision)
            }
        }
    }
}
