import GRDB

/// What the parts of a recording say of first and last.
extension Audit {
    /// - Parameters:
    ///   - firstRow: the lowest n of a row; nil where there is none.
    ///   - lastRow: the highest one.
    mutating func checkExtents(stream: Int64, firstRow: Int64?, lastRow: Int64?) throws {
        let found = try Row.fetchOne(
            db,
            sql: """
                SELECT
                    (SELECT min(n) FROM (SELECT min(first_n) AS n FROM block WHERE stream_id = ?1 AND channel = 0
                        UNION ALL SELECT first_n FROM undigested_rows WHERE stream_id = ?1)) AS first_block,
                    (SELECT max(n) FROM (SELECT max(last_n) AS n FROM block WHERE stream_id = ?1 AND channel = 0
                        UNION ALL SELECT last_n FROM undigested_rows WHERE stream_id = ?1)) AS last_block,
                    (SELECT min(first_n) FROM segment WHERE stream_id = ?1) AS first_segment,
                    (SELECT max(last_n) FROM segment WHERE stream_id = ?1) AS last_segment,
                    (SELECT min(first_n) FROM epoch WHERE stream_id = ?1) AS first_epoch,
                    (SELECT max(first_n) FROM epoch WHERE stream_id = ?1) AS last_epoch,
                    (SELECT min(n) FROM arrival WHERE stream_id = ?1) AS first_arrival,
                    (SELECT max(n) FROM arrival WHERE stream_id = ?1) AS last_arrival,
                    (SELECT max(first_n + coalesce(count, 0)) FROM gap WHERE stream_id = ?1 AND channel = 0) AS gap_end
                """, arguments: [stream])
        guard let found else { return }
        func bound(_ name: String) -> Int64? { found[name] }
        let end = [lastRow, bound("gap_end").map { $0 - 1 }].compactMap(\.self).max()
        func compare(_ first: Int64?, _ last: Int64?, _ isRight: (Int64, Int64) -> Bool, _ words: (Int64, Int64) -> String) {
            guard let first, let last, !isRight(first, last) else { return }
            add(stream, min(first, last), words(first, last))
        }
        compare(bound("first_block"), firstRow, ==) { "blocks of rows begin at \($0), rows at \($1)" }
        compare(bound("last_block"), lastRow, ==) { "blocks of rows reach to \($0), rows to \($1)" }
        compare(bound("first_segment"), firstRow, <=) { "times begin at \($0), rows at \($1)" }
        compare(bound("last_segment"), lastRow, >=) { "times reach to \($0), rows to \($1)" }
        compare(bound("last_segment"), end, <=) { "times reach to \($0), rows and gaps to \($1)" }
        compare(bound("first_epoch"), firstRow, <=) { "the first epoch begins at \($0), rows at \($1)" }
        compare(bound("last_epoch"), end.map { $0 + 1 }, <=) {
            "the last epoch begins at \($0), rows and gaps end before \($1)"
        }
        compare(bound("last_arrival"), end, <=) { "the last arrival is of \($0), rows and gaps reach to \($1)" }
        compare(bound("first_arrival"), firstRow, >=) { "the first arrival is of \($0), rows begin at \($1)" }
        guard lastRow == nil else { return }
        for name in ["last_block", "last_segment"] {
            if let n = bound(name) { add(stream, n, "there is a \(name.dropFirst(5)) that reaches to \(n), but no row") }
        }
    }

    private mutating func add(_ stream: Int64, _ n: Int64, _ detail: String) {
        report.findings.append(AuditReport.Finding(check: .extentsAgree, streamID: stream, n: n, detail: detail))
    }
}
