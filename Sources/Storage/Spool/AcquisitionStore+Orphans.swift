import GRDB
import Headsets

/// What a spool holds of a headset whose part before it was refused. The process that would have left it out has died.
extension AcquisitionStore {
    /// The headsets of which a batch says something behind a gap that is open since a refusal: the gap says what is missing.
    func orphans(of batch: WriteBatch) throws(StorageError) -> [HeadsetPart] {
        let gaps = try database.read { db in
            try Row.fetchAll(
                db,
                sql: "SELECT stream_id, first_n FROM gap WHERE channel = 0 AND count IS NULL AND cause = ?",
                arguments: [GapCause.quarantined.rawValue]
            ).map { (stream: StreamID(rawValue: $0[0]), firstN: $0[1] as Int64) }
        }
        let orphaned = gaps.filter {
            batch.reaches($0.firstN, of: $0.stream) && !batch.endsGap($0.firstN, of: $0.stream)
        }
        return batch.parts.filter { part in orphaned.contains { part.streams.contains($0.stream) } }
    }
}

extension WriteBatch {
    /// True where it has rows of a stream from n on, or says something of such.
    ///
    /// A batch without rows counts as well: the gap that it opens would be a second one at the same n.
    fileprivate func reaches(_ n: Int64, of stream: StreamID) -> Bool {
        samples.contains { $0.stream == stream && $0.firstN + Int64($0.rowCount) > n }
            || changes.contains { $0.latestSample.map { $0.stream == stream && $0.n >= n } ?? false }
    }

    /// True where it says what became of the gap.
    fileprivate func endsGap(_ firstN: Int64, of stream: StreamID) -> Bool {
        changes.contains { change in
            switch change {
            case .ledger(.close(stream, firstN, 0, _, _)), .ledger(.withdraw(stream, firstN, 0)): true
            default: false
            }
        }
    }
}

extension Change {
    /// The latest sample that it says something of; nil where it is about no samples, or about what was found in stored ones.
    fileprivate var latestSample: (stream: StreamID, n: Int64)? {
        switch self {
        case .ledger(let entry): (entry.stream, entry.firstN)
        case .epoch(let record): (record.stream, record.firstN)
        case .segment(let record): (record.stream, record.lastN)
        case .arrival(let record): (record.stream, record.n)
        case .lossDetection(let record): (record.stream, record.firstN)
        case .fill(let record): (record.stream, record.firstN + Int64(record.values.count) - 1)
        default: nil
        }
    }
}
