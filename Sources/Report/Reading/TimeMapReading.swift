import Headsets
import Storage

/// Reads how a stream's samples lie in time: the rate of each segment, how late packets came against it, and within what the
/// times are right.
struct TimeMapReading {
    private let stream: StreamContents
    private let axis: TimeAxis
    private static let columnCount = 400

    init(_ stream: StreamContents, axis: TimeAxis) {
        self.stream = stream
        self.axis = axis
    }

    /// - Returns: nil for a stream without a time map.
    func course(in store: any Store) throws -> TimeMapCourse? {
        guard var times = TimeCursor(stream.segments) else { return nil }
        let segments = try store.segments(of: stream.id).map(\.record)
        let nominal = 1e9 / stream.description.samplingFrequency
        var (rate, uncertainty) = (ValueRaster(columnCount: Self.columnCount), ValueRaster(columnCount: Self.columnCount))
        var (samples, weighted, worst, fitted) = (0.0, 0.0, Double?.none, 0)
        for segment in segments {
            let start = axis.fraction(times.unixNanoseconds(ofSample: segment.firstN))
            let end = axis.fraction(times.unixNanoseconds(ofSample: segment.lastN))
            let fast = (nominal / segment.periodNanoseconds - 1) * 1e6
            rate.add(fast, from: start, to: end)
            let count = Double(segment.lastN &- segment.firstN) + 1
            samples += count
            weighted += fast * count
            fitted += segment.observationCount
            if let within = segment.uncertaintyNanoseconds {
                uncertainty.add(within / 1e6, from: start, to: end)
                worst = max(worst ?? 0, within / 1e6)
            }
        }
        var lateness = ValueRaster(columnCount: Self.columnCount)
        var (arrivals, sum) = (0, 0.0)
        try store.forEachLateness(of: stream.id) { n, nanoseconds in
            lateness.add(nanoseconds / 1e6, at: axis.fraction(times.unixNanoseconds(ofSample: n)))
            arrivals += 1
            sum += nanoseconds / 1e6
        }
        let residuals = segments.compactMap(\.residualNanoseconds).sorted()
        var facts: [ReportDocument.Fact] = [
            .init("Pieces of the time map", ReportText.count(Int64(segments.count))),
            .init("Rate against nominal", "\(ReportText.signed(weighted / max(1, samples), 1)) ppm on average"),
            .init(
                "Times are right within",
                worst.map { "\(ReportText.fixed($0, 2)) ms at worst, but for the headset's constant delay" } ?? "not said"),
            .init("Arrivals it was fitted to", ReportText.count(Int64(fitted))),
        ]
        if !residuals.isEmpty {
            facts.append(
                .init("Residual, median of the pieces", "\(ReportText.fixed(residuals[residuals.count / 2] / 1e6, 2)) ms"))
        }
        if arrivals > 0 {
            facts.append(
                .init(
                    "Arrivals that are kept",
                    "\(ReportText.count(Int64(arrivals))), \(ReportText.fixed(sum / Double(arrivals), 2)) ms late on average"))
        }
        return TimeMapCourse(rate: rate.columns, uncertainty: uncertainty.columns, lateness: lateness.columns, facts: facts)
    }
}
