import GRDB

/// A recording that has come in, and the others of its headset: what two machines have of the same samples is compared, and
/// gaps of the one that was recorded here are filled.
struct RecordingTwins {
    let db: Database
    /// The one that has come in, by its key here.
    let recording: Int64
    let origin: MergeOrigin

    private struct Twin {
        var number: Int64
        var uuid: String
        /// False where it came from another database: it stays as it is there.
        var isOwn: Bool
        /// True while a person wants it to go on.
        var isWanted: Bool
    }

    /// - Parameter excluded: UUIDs of recordings with which it is not compared, as they come from the same database.
    func run(except excluded: Set<String>) throws -> [TwinComparison] {
        let twins = try Row.fetchAll(
            db,
            sql: """
                SELECT id, uuid, id NOT IN (SELECT recording_id FROM merged_recording), desired_state = 'recording'
                FROM recording WHERE headset_id = (SELECT headset_id FROM recording WHERE id = ?)
                    AND id NOT IN (SELECT recording_id FROM deletion) ORDER BY id
                """, arguments: [recording]
        ).map { Twin(number: $0[0], uuid: $0[1], isOwn: $0[2], isWanted: $0[3]) }
        guard let new = twins.first(where: { $0.number == recording }) else { return [] }
        var comparisons: [TwinComparison] = []
        for twin in twins where twin.number != recording {
            // One that has only been there and back is compared with what came along.
            if excluded.contains(twin.uuid), new.isOwn || !twin.isOwn { continue }
            comparisons += try compare(new, with: twin)
        }
        return comparisons
    }

    private func compare(_ new: Twin, with twin: Twin) throws -> [TwinComparison] {
        var streams = try TwinStreams.all(of: new.number, and: twin.number, in: db)
        // Two that were recorded here have nothing from each other.
        if new.isOwn != twin.isOwn {
            let (own, other) = new.isOwn ? (new, twin) : (twin, new)
            if !own.isWanted { try fill(&streams, of: own.number, from: other.number) }
        }
        return streams.map(\.comparison).filter { $0.shared > 0 || $0.fill != nil }
    }

    /// Fills all streams, or none where the audit of the recording would not hold.
    private func fill(_ streams: inout [TwinStreams], of own: Int64, from other: Int64) throws {
        // A boot identifier that was said twice is believed of no stream.
        let disputed = streams.reduce(into: Set<Int64>()) { $0.formUnion($1.disputed) }
        var fills: [TwinFill?] = []
        var contradiction: String?
        try db.inSavepoint {
            fills = try streams.map { try fill($0, of: own, from: other, without: disputed) }
            if fills.contains(where: { $0 != nil }) { contradiction = try RecordingProof.contradiction(of: own, in: db) }
            return contradiction == nil ? .commit : .rollback
        }
        for (index, fill) in fills.enumerated() where fill != nil {
            streams[index].comparison.fill =
                contradiction.map { TwinFill(recording: own, contradiction: $0) } ?? fill
        }
    }

    private func fill(
        _ streams: TwinStreams, of own: Int64, from other: Int64, without disputed: Set<Int64>
    ) throws -> TwinFill? {
        let isFirst = own == recording
        let epochs = streams.agreeing.filter { !disputed.contains($0.first.bootIdentifier) }
        return try StreamFill(
            db: db, origin: origin, recording: own, here: StreamID(rawValue: isFirst ? streams.first : streams.second),
            other: other, there: isFirst ? streams.second : streams.first, channelCount: streams.channelCount,
            epochs: isFirst ? epochs : epochs.map(\.reversed)
        ).run()
    }
}
