import Foundation
import GRDB

/// What clocks say of the length of gaps, against the times of the samples around them: both stand in the database, and are
/// written at different times.
extension Audit {
    /// Beyond what the gaps and the times around them state, they may differ by so many nanoseconds: 0.46 s were seen in the
    /// rehearsals, behind links whose first packets came late together.
    private static let gapTolerance = 1e9

    mutating func checkTimedGaps(of stream: Int64, since: Int64?) throws {
        let pairs = try Row.fetchCursor(
            db,
            sql: """
                WITH pair AS (
                    SELECT a.last_n AS last_n, b.first_n AS first_n, a.period_ns AS earlier, b.period_ns AS later,
                        b.reference_boottime_ns - a.reference_boottime_ns
                            + (b.first_n - b.reference_n) * b.period_ns - (a.last_n - a.reference_n) * a.period_ns AS elapsed,
                        coalesce(a.uncertainty_ns, 1e9) + coalesce(b.uncertainty_ns, 1e9) AS uncertainty
                    FROM segment AS a JOIN segment AS b ON b.stream_id = a.stream_id AND b.first_n = (
                        SELECT min(first_n) FROM segment AS c WHERE c.stream_id = a.stream_id AND c.first_n > a.first_n)
                    WHERE a.stream_id = ?1 AND a.last_n >= ?2 AND a.host_boot_id = b.host_boot_id AND b.first_n > a.last_n + 1)
                SELECT p.*, sum(g.uncertainty) AS stated FROM pair AS p JOIN gap AS g
                    ON g.stream_id = ?1 AND g.channel = 0 AND g.first_n BETWEEN p.last_n + 1 AND p.first_n
                GROUP BY p.last_n
                HAVING sum(g.certainty = 'timed') > 0 AND min(g.count) > 0 AND count(g.count) = count(*)
                    AND count(g.uncertainty) = sum(g.certainty = 'timed')
                ORDER BY p.last_n
                """, arguments: [stream, since ?? .min])
        var count = 0
        while let row = try pairs.next(), count < AuditReport.findingLimit {
            let (last, first): (Int64, Int64) = (row["last_n"], row["first_n"])
            let (earlier, later): (Double, Double) = (row["earlier"], row["later"])
            let elapsed: Double = row["elapsed"]
            let steps = Double(first - last)
            let byNumbers = steps * (earlier + later) / 2
            // Which of both periods it was in between, nobody knows.
            let stated =
                (row["stated"] as Double) * max(earlier, later) + (row["uncertainty"] as Double)
                + steps * abs(earlier - later) / 2
            guard abs(byNumbers - elapsed) > stated + Self.gapTolerance else { continue }
            count += 1
            report.findings.append(
                AuditReport.Finding(
                    check: .timedGapsAgree, streamID: stream, n: last + 1,
                    detail: "from sample \(last) to \(first) it is \(ClockCheck.seconds(byNumbers)) by their numbers, and "
                        + "\(ClockCheck.seconds(elapsed)) by their times, which are said to agree within "
                        + "\(ClockCheck.seconds(stated))"))
        }
    }
}
