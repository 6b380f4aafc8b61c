import Bluetooth
import GRDB

/// What time maps can be computed anew from.
extension Store {
    /// The keys of a recording's streams, by position and bank.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such recording.
    package func streams(of recording: RecordingID) throws(StorageError) -> [StreamID] {
        try database.read { db in
            try Self.requireRecording(recording, in: db)
            return try StreamRow.fetch(of: recording, in: db).map(\.id)
        }
    }

    /// What a stream's time map can be computed anew from.
    package func evidence(of stream: StreamID) throws(StorageError) -> StreamEvidence {
        try database.read { db in try Self.evidence(of: stream, in: db) }
    }

    /// The evidence of a stream of the same kind in another recording of the headset: the nearest earlier one that has enough,
    /// or else the nearest later one. Nil where there is none.
    ///
    /// It is chosen and read by what no refit changes, so that a second refit gives what the first one gave.
    package func neighbouringEvidence(of stream: StreamID) throws(StorageError) -> NeighbouringEvidence? {
        try database.read { db in
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
                            SELECT 1 FROM arrival WHERE stream_id = o.id LIMIT \(NeighbouringEvidence.minimum)))
                            = \(NeighbouringEvidence.minimum)
                        ORDER BY p.id \(isEarlier ? "DESC" : "ASC") LIMIT 1
                        """, arguments: [stream.rawValue])
                guard let neighbour else { continue }
                let evidence = try Self.evidence(
                    of: StreamID(rawValue: neighbour), in: db, limit: NeighbouringEvidence.limit, fromEnd: isEarlier)
                return NeighbouringEvidence(evidence: evidence, isEarlier: isEarlier)
            }
            return nil
        }
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
            arrivals: fromEnd ? arrivals.reversed() : arrivals, gapsOfNoCount: try gapsOfNoCount(of: stream, in: db))
    }

    /// The first n of each gap through which n does not count.
    private static func gapsOfNoCount(of stream: StreamID, in db: Database) throws -> [Int64] {
        try Int64.fetchAll(
            db, sql: "SELECT first_n FROM gap WHERE stream_id = ? AND channel = 0 AND count = 0 ORDER BY first_n",
            arguments: [stream.rawValue])
    }

    static func segments(of stream: StreamID, in db: Database) throws -> [StoredSegment] {
        try Row.fetchAll(
            db, sql: "SELECT * FROM segment WHERE stream_id = ? ORDER BY first_n", arguments: [stream.rawValue]
        ).map { StoredSegment(SegmentRecord($0, of: stream), hostBoot: $0["host_boot_id"]) }
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
