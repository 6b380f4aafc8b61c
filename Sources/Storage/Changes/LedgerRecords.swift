package import Bluetooth
import GRDB
package import Headsets

/// One change of the gap ledger. A gap is known by its stream, first n and channel.
package enum LedgerEntry: Hashable, Sendable, Codable {
    /// Samples from n on are missing. `count` is nil while the end is not known; `channel` 0 means the whole row, 1 ... 8
    /// one channel of rows that are there.
    /// A `count` of 0 is that of a gap of no count, between two host boots or in a pause of the headset: n goes on, and clocks
    /// say how long it was.
    case open(
        stream: StreamID, firstN: Int64, channel: Int, count: Int64?, cause: GapCause, noticed: MonotonicTime,
        certainty: GapCertainty = .unknown)
    /// The end of an open gap is known, or a gap has grown: `count` is never smaller than before.
    case close(stream: StreamID, firstN: Int64, channel: Int, count: Int64, certainty: GapCertainty = .counted)
    /// `count` further samples of the gap have arrived after all.
    case recover(stream: StreamID, firstN: Int64, channel: Int, count: Int64)
    /// Nothing was missing after all; the gap is removed.
    case withdraw(stream: StreamID, firstN: Int64, channel: Int)
}

extension LedgerEntry: ChangeRecord {
    /// The stream whose ledger changes.
    package var stream: StreamID {
        switch self {
        case .open(let stream, _, _, _, _, _, _), .close(let stream, _, _, _, _), .recover(let stream, _, _, _),
            .withdraw(let stream, _, _):
            stream
        }
    }

    /// Where the gap begins.
    var firstN: Int64 {
        switch self {
        case .open(_, let firstN, _, _, _, _, _), .close(_, let firstN, _, _, _), .recover(_, let firstN, _, _),
            .withdraw(_, let firstN, _):
            firstN
        }
    }

    var subject: ChangeSubject { .stream(stream) }

    /// A gap that is not there, or is not open where it should be, is an error.
    func write(in transaction: BatchTransaction) throws {
        switch self {
        case .open(let stream, let firstN, let channel, let count, let cause, let noticed, let certainty):
            try transaction.execute(
                """
                INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns, certainty, uncertainty)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    stream.rawValue, firstN, channel, count, cause.rawValue, transaction.hostBoot, noticed.nanoseconds,
                    certainty.name,
                    certainty.uncertainty,
                ])
        case .close(let stream, let firstN, let channel, let count, let certainty):
            try transaction.execute(
                """
                UPDATE gap SET count = ?, certainty = ?, uncertainty = ?
                WHERE stream_id = ? AND channel = ? AND first_n = ? AND (count IS NULL OR count <= ?)
                """,
                [
                    count, certainty.name, certainty.uncertainty, stream.rawValue, channel, firstN, count,
                ])
        case .recover(let stream, let firstN, let channel, let count):
            try transaction.execute(
                "UPDATE gap SET recovered = recovered + ? WHERE stream_id = ? AND channel = ? AND first_n = ?",
                [count, stream.rawValue, channel, firstN])
        case .withdraw(let stream, let firstN, let channel):
            try transaction.execute(
                "DELETE FROM gap WHERE stream_id = ? AND channel = ? AND first_n = ? AND recovered = 0",
                [stream.rawValue, channel, firstN])
        }
        guard transaction.db.changesCount == 1 else {
            throw StorageError.constraint(detail: "the ledger has no gap that \(self) could change")
        }
    }
}

/// A stream whose headset was let go: a gap opens after its last row, where none is open and there is a row at all.
package struct QuarantineRecord: Hashable, Sendable, Codable {
    package var stream: StreamID
    package var at: MonotonicTime

    package init(stream: StreamID, at: MonotonicTime) {
        self.stream = stream
        self.at = at
    }
}

extension QuarantineRecord: ChangeRecord {
    var subject: ChangeSubject { .stream(stream) }

    func write(in transaction: BatchTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns)
            SELECT ?1, end, 0, NULL, ?2, ?3, ?4 FROM (
                SELECT max(end) AS end FROM (
                    SELECT max(n) + 1 AS end FROM sample WHERE stream_id = ?1
                    UNION ALL SELECT max(first_n + count) FROM gap WHERE stream_id = ?1 AND channel = 0))
            WHERE end IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM gap WHERE stream_id = ?1 AND channel = 0 AND count IS NULL)
            """,
            [stream.rawValue, GapCause.quarantined.rawValue, transaction.hostBoot, at.nanoseconds])
    }
}
