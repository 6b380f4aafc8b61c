import Evidence
import Foundation
import GRDB

/// Whether the database is what it was: not an older copy of itself, and not cut.
extension Audit {
    /// Compares the chains with where the witness says that they ended.
    ///
    /// - Parameter witness: what stands beside the database; nil where nothing does.
    mutating func checkWitness(_ witness: Witness?, of streams: [Row]) throws {
        for head in witness?.heads ?? [] {
            let stream = streams.first { $0["uuid"] == head.stream }
            // Of one recording only its own streams are looked at.
            if stream == nil, try scope.recording != nil || wasDeleted(stream: head.stream) { continue }
            let id: Int64? = stream?["id"]
            let end = Manifest.End(block: head.number, rows: head.rowCount, digest: head.digest.hexadecimal)
            guard let found = try ChainEnd(chain: head.chain.rawValue, end: end).contradiction(of: id, in: db) else { continue }
            report.findings.append(
                AuditReport.Finding(
                    check: .nothingIsOlder, streamID: id, n: found.n,
                    detail: found.words + (id == nil ? ", of a stream that is not there" : "")
                        + ": the database was cut, or replaced by an older copy "
                        + "(the file -witness beside it says what it had)"))
        }
    }
}
