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
            if stream == nil, scope.recording != nil { continue }
            let id: Int64? = stream?["id"]
            let row = try Row.fetchOne(
                db, sql: "SELECT row_count, digest, last_n FROM block WHERE stream_id = ? AND chain = ? AND number = ?",
                arguments: [id, head.chain.rawValue, head.number])
            var problem: String?
            if let row {
                let count: Int = row["row_count"]
                if count < head.rowCount {
                    problem = "has \(count) rows, but it had \(head.rowCount)"
                } else if count == head.rowCount, Array(row["digest"] as Data) != head.digest.bytes {
                    problem = "is another one than there was"
                }
            } else {
                problem = "is not there"
            }
            guard let problem else { continue }
            report.findings.append(
                AuditReport.Finding(
                    check: .nothingIsOlder, streamID: id, n: row?["last_n"],
                    detail: "\(head.chain.rawValue) block \(head.number)"
                        + (id == nil ? " of a stream that is not there" : "")
                        + " \(problem): the database was cut, or replaced by "
                        + "an older copy (the file -witness beside it says what it had)"))
        }
    }
}
