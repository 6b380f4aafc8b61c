package import Evidence
import GRDB

/// How far an audit has looked, so that the next one can go on from there.
package struct AuditedExtent: Codable, Hashable, Sendable {
    /// The format's name and version.
    package var format = AuditedExtent.format
    /// Where the chains of each stream ended, by the stream's UUID and by chain.
    package var streams: [String: [String: Manifest.End]] = [:]

    package static let format = "eegsync audit 1"

    package init() {}
}

/// An audit that goes on from an earlier one.
extension Audit {
    /// Where the chains of the streams end.
    func extent(of streams: [Row]) throws -> AuditedExtent {
        var extent = AuditedExtent()
        for stream in streams { extent.streams[stream["uuid"]] = try ChainEnd.all(of: stream["id"], in: db) }
        return extent
    }

    /// Whether everything that an earlier audit has looked at goes on as it was.
    mutating func checkExtent(_ earlier: AuditedExtent, of streams: [Row]) throws {
        for (uuid, ends) in earlier.streams.sorted(by: { $0.key < $1.key }) {
            let id: Int64? = streams.first { $0["uuid"] == uuid }?["id"]
            if id == nil, try !wasDeleted(stream: uuid) {
                add(.nothingIsOlder, stream: nil, n: nil, "a stream that was audited before is not there (\(uuid))")
            }
            for (chain, end) in ends.sorted(by: { $0.key < $1.key }) where id != nil {
                guard let found = try ChainEnd(chain: chain, end: end).contradiction(of: id, in: db) else { continue }
                add(.nothingIsOlder, stream: id, n: found.n, "\(found.words) when it was audited before")
            }
        }
    }

    /// From which n on the rows of each stream are looked at: from the last block that was not full by then, or from the first
    /// row that came late since. Streams that nobody has looked at are looked at as a whole.
    func firstNs(of streams: [Row], after earlier: AuditedExtent) throws -> [Int64: Int64] {
        var begins: [Int64: Int64] = [:]
        for stream in streams {
            let id: Int64 = stream["id"]
            guard let ends = earlier.streams[stream["uuid"]], let live = ends[Chain.live.rawValue] else { continue }
            let late = ends[Chain.late.rawValue]
            let first = try Int64.fetchOne(
                db,
                sql: """
                    SELECT min(first_n) FROM block
                    WHERE stream_id = ?1 AND (chain = 'live' AND number >= ?2
                        OR chain = 'late' AND (number > ?3 OR number = ?3 AND row_count > ?4))
                    """, arguments: [id, live.block, late?.block ?? -1, late?.rows ?? 0])
            guard let first else { continue }
            begins[id] = try RowRanges.start(of: id, at: first, in: db)
        }
        return begins
    }

    private mutating func add(_ check: AuditReport.Check, stream: Int64?, n: Int64?, _ detail: String) {
        report.findings.append(AuditReport.Finding(check: check, streamID: stream, n: n, detail: detail))
    }
}
