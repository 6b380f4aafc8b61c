import Bluetooth
import Foundation
import GRDB

/// The numbers of samples against the arrivals that were kept, about one a second: on the host's clock, and on the headset's
/// own.
extension Audit {
    /// Compares a stream's numbers with its arrivals. Returns how they agree; nil where there are fewer than two.
    mutating func checkClock(of row: Row, since: Int64?) throws -> AuditReport.ClockAgreement? {
        let id: Int64 = row["id"]
        var check = ClockCheck(
            stream: id, nominalPeriod: 1e9 / (row["sampling_frequency"] as Double),
            isCounted: try Bool.fetchOne(
                db, sql: "SELECT NOT EXISTS (SELECT 1 FROM loss_detection WHERE stream_id = ?)", arguments: [id])
                ?? true)
        let segments = try Row.fetchCursor(
            db,
            sql: """
                SELECT first_n, reference_n, reference_boottime_ns, period_ns, uncertainty_ns, host_boot_id, epoch,
                    EXISTS (SELECT 1 FROM gap AS p WHERE p.stream_id = g.stream_id AND p.channel = 0
                        AND p.first_n = g.first_n AND p.count = 0),
                    EXISTS (SELECT 1 FROM gap AS f WHERE f.stream_id = g.stream_id AND f.channel = 0
                        AND f.first_n = g.last_n + 1)
                FROM segment AS g WHERE stream_id = ? AND last_n >= ? ORDER BY first_n
                """, arguments: [id, since ?? .min])
        let arrivals = try Row.fetchCursor(
            db, sql: "SELECT n, boottime_ns, device_ticks FROM arrival WHERE stream_id = ? AND n >= ? ORDER BY n",
            arguments: [id, since ?? .min])
        var segment = try segments.next().map(ClockCheck.Segment.init)
        var next = try segments.next().map(ClockCheck.Segment.init)
        while let row = try arrivals.next() {
            let n: Int64 = row[0]
            while let later = next, later.firstN <= n {
                check.endSegment()
                if later.isBehindGapOfNoCount { check.endRun() }
                segment = later
                next = try segments.next().map(ClockCheck.Segment.init)
            }
            if let segment { check.take(n: n, boottime: row[1], deviceTicks: row[2], on: segment) }
        }
        check.end()
        report.findings += check.findings
        return check.agreement
    }
}

/// How arrivals go with the numbers and the times of samples.
struct ClockCheck {
    /// A piece of the time map.
    struct Segment {
        var firstN: Int64
        var referenceN: Int64
        var reference: Int64
        var period: Double
        /// Nil where an earlier version did not state it.
        var uncertainty: Double?
        var hostBoot: Int64
        var epoch: Int64
        /// True where n did not count the time before it: the headset paused, or the host's boot is another one.
        var isBehindGapOfNoCount: Bool
        /// True where something is missing behind it.
        var isBeforeGap: Bool

        init(_ row: Row) {
            firstN = row[0]
            referenceN = row[1]
            reference = row[2]
            period = row[3]
            uncertainty = row[4]
            hostBoot = row[5]
            epoch = row[6]
            isBehindGapOfNoCount = row[7]
            isBeforeGap = row[8]
        }
    }

    let stream: Int64
    let nominalPeriod: Double
    /// False where no counter shows what is missing.
    let isCounted: Bool
    private(set) var findings: [AuditReport.Finding] = []

    /// The arrivals of one segment.
    private var present: (segment: Segment, count: Int, earliest: Double, last: (n: Int64, lateness: Double))?
    /// One run of arrivals of one host boot.
    private var run: Run?
    private var longest: AuditReport.ClockAgreement?
    private var device = DeviceRun()
    /// By how much the earliest arrival comes before what is stated of its time, in nanoseconds.
    private var excess = 0.0

    /// Beyond what a segment states, its times may differ from arrivals by so many nanoseconds. In the first seconds of a
    /// link, and around a loss that no counter shows, a line states less than it should: 0.4 s were seen where 2 ms were
    /// stated. How much it is stands in ``AuditReport/ClockAgreement/excess``.
    private static let tolerance = 1e9
    /// All arrivals of a segment may be so late, in nanoseconds: a link that carries a backlog.
    private static let backlog = 2e9
    /// Where no counter shows a loss, the last arrival before a gap may be so late, in nanoseconds, and two samples more: the
    /// rehearsals came to 0.03 s.
    private static let lateEnd = 0.25e9
    private static let bin = 600e9

    /// Arrivals on the clock of one host boot, against the nominal rate, by ten minutes.
    private struct Run {
        var hostBoot: Int64
        var originN: Int64
        var origin: Int64
        /// By ten minutes: the earliest y (lateness against the nominal rate) and the least lateness against the map.
        var bins: [Int: (x: Double, y: Double, lateness: Double)] = [:]
    }

    init(stream: Int64, nominalPeriod: Double, isCounted: Bool) {
        (self.stream, self.nominalPeriod, self.isCounted) = (stream, nominalPeriod, isCounted)
    }

    mutating func take(n: Int64, boottime: Int64, deviceTicks: Int64?, on segment: Segment) {
        let time = Double(segment.reference) + Double(n - segment.referenceN) * segment.period
        let lateness = Double(boottime) - time
        let uncertainty = segment.uncertainty ?? 1e9
        excess = max(excess, -uncertainty - lateness)
        if lateness < -uncertainty - Self.tolerance {
            add(
                .arrivalsAgree, n,
                "sample \(n) arrived \(Self.seconds(-lateness)) before the time that it is given, which is said to be right "
                    + "within \(Self.seconds(uncertainty))")
        }
        if let before = present {
            present = (segment, before.count + 1, min(before.earliest, lateness), (n, lateness))
        } else {
            present = (segment, 1, lateness, (n, lateness))
        }
        if run?.hostBoot != segment.hostBoot { endRun() }
        var run = run ?? Run(hostBoot: segment.hostBoot, originN: n, origin: boottime)
        let x = Double(n - run.originN) * nominalPeriod
        let y = Double(boottime &- run.origin) - x
        let index = Int((x / Self.bin).rounded(.down))
        let best = run.bins[index]
        if best.map({ y < $0.y }) ?? true {
            run.bins[index] = (x, y, min(lateness, best?.lateness ?? lateness))
        } else if let best, lateness < best.lateness {
            run.bins[index] = (best.x, best.y, lateness)
        }
        self.run = run
        if let deviceTicks, let finding = device.take(n: n, ticks: deviceTicks, epoch: segment.epoch, period: segment.period) {
            add(.deviceClockAgrees, n, finding)
        }
    }

    /// No further arrival belongs to the segment.
    mutating func endSegment() {
        guard let present else { return }
        self.present = nil
        let uncertainty = present.segment.uncertainty ?? 1e9
        checkEnd(of: present.segment, present.last, uncertainty)
        guard present.count >= 5, present.earliest > uncertainty + Self.backlog else { return }
        add(
            .arrivalsAgree, present.segment.firstN,
            "all \(present.count) arrivals of the segment at \(present.segment.firstN) come at least "
                + "\(Self.seconds(present.earliest)) after the times that it gives")
    }

    /// A loss that nothing shows makes the samples behind it late. Where a gap follows before that was noticed, what is stated
    /// of their times has to say so.
    private mutating func checkEnd(of segment: Segment, _ last: (n: Int64, lateness: Double), _ uncertainty: Double) {
        guard !isCounted, segment.isBeforeGap, last.lateness > uncertainty + Self.lateEnd + 2 * nominalPeriod else { return }
        add(
            .arrivalsAgree, last.n,
            "sample \(last.n), the last before a gap whose arrival is known, arrived \(Self.seconds(last.lateness)) after the "
                + "time that it is given, which is said to be right within \(Self.seconds(uncertainty)); no counter shows what "
                + "is missing before it")
    }

    mutating func end() {
        endSegment()
        endRun()
    }

    /// How the longest run agrees; nil where no run has two arrivals.
    var agreement: AuditReport.ClockAgreement? {
        var agreement = longest
        agreement?.excess = excess / 1e9
        if device.nanoseconds > 0 {
            agreement?.deviceHours = device.nanoseconds / 3600e9
            agreement?.deviceDeviation = device.largest
        }
        return agreement
    }

    /// What comes next is compared by itself.
    mutating func endRun() {
        device.end()
        defer { run = nil }
        guard let run, let first = run.bins.min(by: { $0.key < $1.key })?.value,
            let last = run.bins.max(by: { $0.key < $1.key })?.value, last.x > first.x
        else { return }
        let span = last.x - first.x
        let hours = span / 3600e9
        guard hours > longest?.hours ?? 0 else { return }
        let rate = (last.y - first.y) / span
        let hourly = run.bins.compactMap { index, begin in
            run.bins[index + 6].map { abs(($0.y - begin.y) / ($0.x - begin.x) - rate) }
        }.max()
        longest = AuditReport.ClockAgreement(
            hours: hours, rateOffset: -rate / (1 + rate) * 1e6, hourlyDeviation: hourly.map { $0 * 1e6 },
            disagreement: abs(last.lateness - first.lateness) / span * 1e6, excess: 0, deviceHours: nil, deviceDeviation: nil)
    }

    private mutating func add(_ check: AuditReport.Check, _ n: Int64, _ detail: String) {
        guard findings.count(where: { $0.check == check }) < AuditReport.findingLimit else { return }
        findings.append(AuditReport.Finding(check: check, streamID: stream, n: n, detail: detail))
    }

    static func seconds(_ nanoseconds: Double) -> String { String(format: "%.3f s", nanoseconds / 1e9) }
}

/// The headset's own clock against n, in one run of both.
private struct DeviceRun {
    /// For how long they were compared.
    private(set) var nanoseconds = 0.0
    /// The largest difference of a minute's rate, in millionths.
    private(set) var largest = 0.0
    private var epoch: Int64?
    private var first: (n: Int64, ticks: Int64)?
    private var minute: (n: Int64, ticks: Int64)?
    private var latest: (n: Int64, ticks: Int64)?

    /// The next stamp is the first of another run.
    mutating func end() { epoch = nil }

    /// Compares a stamp with those before. Returns what is wrong.
    mutating func take(n: Int64, ticks: Int64, epoch: Int64, period: Double) -> String? {
        if epoch != self.epoch || ticks <= latest?.ticks ?? .min || n <= latest?.n ?? .min {
            self.epoch = epoch
            first = (n, ticks)
            minute = first
        }
        latest = (n, ticks)
        guard let first, let minute, Double(n - minute.n) * period >= 60e9 else { return nil }
        defer { self.minute = (n, ticks) }
        nanoseconds += Double(n - minute.n) * period
        guard minute.n > first.n else { return nil }
        let ticksPerSample = Double(minute.ticks &- first.ticks) / Double(minute.n - first.n)
        let expected = Double(ticks &- minute.ticks) / ticksPerSample
        let difference = Double(n - minute.n) - expected
        largest = max(largest, abs(difference) / expected * 1e6)
        // Stamps are those of packets, which a headset may fill for a quarter of a second.
        guard abs(difference) > 0.25e9 / period + 0.001 * expected else { return nil }
        return "by the headset's clock \(Int64(clamping: expected.rounded())) samples were taken from \(minute.n) to \(n), "
            + "by their numbers \(n - minute.n)"
    }
}
