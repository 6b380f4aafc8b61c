import GRDB
public import Headsets

/// From one sample of a stream without counter on, what tells that samples are missing.
public struct LossDetectionRecord: Hashable, Sendable {
    public var stream: StreamID
    public var firstN: Int64
    /// Not ``Headsets/LossDetection/counter``: streams with a counter have no record.
    public var means: LossDetection

    public init(stream: StreamID, firstN: Int64, means: LossDetection) {
        self.stream = stream
        self.firstN = firstN
        self.means = means
    }
}

extension BatchInsertion {
    /// Written where it differs from what was said last, as by an earlier process.
    func insert(_ record: LossDetectionRecord) throws {
        try execute(
            """
            INSERT INTO loss_detection (stream_id, first_n, means) SELECT ?1, ?2, ?3
            WHERE ?3 IS NOT (
                SELECT means FROM loss_detection WHERE stream_id = ?1 AND first_n <= ?2 ORDER BY first_n DESC LIMIT 1)
            ON CONFLICT (stream_id, first_n) DO UPDATE SET means = excluded.means
            """,
            [record.stream.rawValue, record.firstN, record.means.rawValue])
    }
}
