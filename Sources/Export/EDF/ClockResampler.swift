import Headsets
import Storage

/// Computes samples that lie at the nominal rate in UTC from a stream's own, by its time map.
///
/// Position k of the file's grid has the value that the signal had then: of the samples around that instant, weighted by a
/// ``SincKernel``. Where the sample before or behind it is missing, so is the computed one; missing ones further away count as
/// the last before them. Values are the headset's counts times ``multipliers``, so that rounding to whole numbers costs no more
/// than the file's own bits.
struct ClockResampler {
    /// The stream as its file has it: n is the position on the file's grid, and the time map is that grid.
    let track: FileTimeline.Track
    private let source: StreamContents
    private let range: ClosedRange<Int64>
    private let rows: RowSource
    private let positions: SamplePositions
    private let multipliers: [Double]
    private let kernel = SincKernel()

    /// How far computed values may lie beyond the headset's own, of their span: a band-limited signal overshoots its samples.
    private static let headroom = 0.125

    /// - Parameters:
    ///   - original: where the stream's own samples would lie.
    ///   - timeline: of the file.
    ///   - extremes: the lowest and highest count of each channel, where the declared range does not fit the format; else nil.
    ///   - rows: the stream's own.
    init(
        _ original: FileTimeline.Track, in timeline: FileTimeline, variant: EDFVariant, extremes: [ClosedRange<Int32>?]?,
        rows: RowSource
    ) {
        source = original.stream
        range = original.range
        self.rows = rows
        let start = timeline.startUnixNanoseconds ?? 0
        let period = Double(timeline.recordDurationMicroseconds) * 1000 / Double(original.samplesPerRecord)
        positions = SamplePositions(of: source, in: range, start: start, period: period)
        var description = source.description
        var multipliers: [Double] = []
        for index in description.channels.indices {
            let channel = description.channels[index]
            let counts = extremes?[index] ?? channel.rawMinimum...channel.rawMaximum
            let (wide, multiplier) = Self.widened(counts, variant: variant)
            multipliers.append(multiplier)
            description.channels[index].scale = channel.scale / multiplier
            description.channels[index].rawMinimum = wide.lowerBound
            description.channels[index].rawMaximum = wide.upperBound
        }
        self.multipliers = multipliers
        let first = Int64(positions.position(ofSample: range.lowerBound).rounded(.up))
        let last = max(first, Int64(positions.position(ofSample: range.upperBound).rounded(.down)))
        var stream = source
        stream.description = description
        let grid = TimeSegment(
            firstN: first, lastN: last, referenceN: 0, referenceUnixNanoseconds: start, periodNanoseconds: period,
            hostBoot: source.segments.first?.hostBoot ?? 1,
            uncertaintyNanoseconds: source.timeUncertaintyNanoseconds(in: range))
        stream.segments = source.segments.isEmpty ? [] : [grid]
        stream.gaps = source.gaps.map { [positions] gap in
            var moved = gap
            moved.firstN = Int64(positions.position(ofSample: gap.firstN - 1).rounded(.down)) + 1
            let end = Int64(positions.position(ofSample: gap.firstN + gap.count).rounded(.up))
            moved.count = max(0, end - moved.firstN)
            moved.recovered = min(gap.recovered, moved.count)
            return moved
        }
        track = FileTimeline.Track(
            stream: stream, range: first...last, resampledRange: range, samplesPerRecord: original.samplesPerRecord,
            firstIndex: first, gridOffsetSeconds: 0, maximumDeviationSeconds: 0)
    }

    /// Counts with room for what overshoots, times the largest power of two that the format holds.
    private static func widened(_ counts: ClosedRange<Int32>, variant: EDFVariant) -> (ClosedRange<Int32>, Double) {
        let span = max(1, Double(counts.upperBound) - Double(counts.lowerBound))
        let (low, high) = (Double(counts.lowerBound) - span * headroom, Double(counts.upperBound) + span * headroom)
        let room = Double(variant.digitalLimits.upperBound) - Double(variant.digitalLimits.lowerBound)
        var multiplier = 1.0
        while (high - low) * multiplier * 2 < room - 2, max(abs(low), abs(high)) * multiplier * 2 < 1e9 { multiplier *= 2 }
        return (
            Int32(
                clamping: Int64((low * multiplier).rounded(.down)))...Int32(clamping: Int64((high * multiplier).rounded(.up))),
            multiplier
        )
    }

    /// The first counts of each channel, as the file has them.
    func firstValues(from reader: RecordingReader) throws -> [Int32?] {
        let first = try FirstValues.find(of: source, in: range, from: reader)
        return zip(first, multipliers).map { value, multiplier in
            value.map { Int32(clamping: Int64(Double($0) * multiplier)) }
        }
    }

    /// Calls `body` with the computed samples of a range of positions, in ascending order.
    func forEachChunk(in wanted: ClosedRange<Int64>, _ body: (borrowing SampleChunk) throws -> Void) throws {
        let channelCount = multipliers.count
        let half = Int64(SincKernel.halfWidth)
        let low = max(range.lowerBound, Int64(positions.sample(atPosition: wanted.lowerBound).rounded(.down)) - half)
        let high = min(range.upperBound, Int64(positions.sample(atPosition: wanted.upperBound).rounded(.up)) + half)
        guard low <= high else { return }
        let window = try SampleWindow(of: source, in: low...high, from: rows, margin: SincKernel.halfWidth)
        guard !window.isEmpty else { return }
        var chunk = SampleChunk()
        var coefficients = [Double](repeating: 0, count: SincKernel.tapCount)
        for k in wanted {
            let n = min(max(positions.sample(atPosition: k), Double(range.lowerBound)), Double(range.upperBound))
            let whole = n.rounded(.down)
            // What is within a millionth of a sample is that sample.
            let isExact = n - whole < 1e-6
            let before = Int64(whole)
            guard let missing = window.missing(at: before, and: isExact ? before : before + 1) else { continue }
            kernel.write(fraction: n - whole, to: &coefficients)
            chunk.n.append(k)
            chunk.missingChannels.append(missing)
            for channel in 0..<channelCount {
                let value = window.sum(coefficients, at: before, channel: channel) * multipliers[channel]
                chunk.values.append(Int32(clamping: Int64(value.rounded())))
            }
        }
        if !chunk.n.isEmpty { try body(chunk) }
    }
}
