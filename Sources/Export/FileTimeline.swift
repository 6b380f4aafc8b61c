import Headsets
import Storage

/// Where every sample of one file lies: each stream on a sample grid of its own, all counted from the file's first instant.
///
/// Positions follow n, because n is what the headset counted: consecutive samples are never pulled apart or pushed together by
/// a refined time map. What the grid and the recorded times differ by is measured and reported.
struct FileTimeline: Sendable {
    /// One stream of the file.
    struct Track: Sendable {
        var stream: StreamContents
        /// The samples that the file covers.
        var range: ClosedRange<Int64>
        /// The recording's own samples that they were made of, where they were resampled; nil for themselves.
        var resampledRange: ClosedRange<Int64>?
        var samplesPerRecord: Int
        /// The position of the first sample on the stream's grid, from 0.
        var firstIndex: Int64
        /// Seconds from the first sample's grid position to its recorded time.
        var gridOffsetSeconds: Double
        /// The largest distance of the grid from the recorded times, in seconds.
        var maximumDeviationSeconds: Double

        /// One past the last sample's position.
        var endIndex: Int64 { firstIndex + Int64(range.count) }

        func index(ofSample n: Int64) -> Int64 { firstIndex + n - range.lowerBound }
    }

    var tracks: [Track]
    var recordDurationMicroseconds: Int64
    /// UTC nanoseconds since 1970 of the beginning of the first data record; nil where the streams have no times.
    var startUnixNanoseconds: Int64?
    /// What the header's start is ahead of UTC by, in seconds.
    var utcOffsetSeconds = 0

    /// The timeline of parts of streams.
    init(parts: [(stream: StreamContents, range: ClosedRange<Int64>)]) throws {
        let grid = try EDFRecordGrid(frequencies: parts.map(\.stream.description.samplingFrequency))
        recordDurationMicroseconds = grid.durationMicroseconds
        let starts = parts.map { $0.stream.unixNanoseconds(ofSample: $0.range.lowerBound) }
        // Annotations are written to the microsecond, so the file starts at one.
        let start = starts.compactMap { $0 }.min().map { $0.floorDivided(by: 1000) * 1000 }
        startUnixNanoseconds = start
        tracks = []
        for (index, (unix, samplesPerRecord)) in zip(starts, grid.samplesPerRecord).enumerated() {
            let part = parts[index]
            let period = Double(grid.durationMicroseconds) * 1000 / Double(samplesPerRecord)
            var track = Track(
                stream: part.stream, range: part.range, samplesPerRecord: samplesPerRecord, firstIndex: 0,
                gridOffsetSeconds: 0, maximumDeviationSeconds: 0)
            let first = Self.firstOfBanks(index, of: parts)
            if let start, let unix, let firstUnix = starts[first] {
                track.firstIndex =
                    Int64((Double(firstUnix - start) / period).rounded()) + part.range.lowerBound
                    - parts[first].range.lowerBound
                track.gridOffsetSeconds = (Double(unix - start) - Double(track.firstIndex) * period) / 1e9
                func measure(_ n: Int64, at unix: Int64) {
                    let distance = Double(unix - start) - Double(track.index(ofSample: n)) * period
                    track.maximumDeviationSeconds = max(track.maximumDeviationSeconds, abs(distance) / 1e9)
                }
                // Between two knots of the time map the distance changes evenly.
                for segment in part.stream.segments {
                    for n in [segment.firstN, segment.lastN] where part.range.contains(n) {
                        measure(n, at: segment.unixNanoseconds(ofSample: n))
                    }
                }
                for n in [part.range.lowerBound, part.range.upperBound] {
                    if let unix = part.stream.unixNanoseconds(ofSample: n) { measure(n, at: unix) }
                }
            }
            tracks.append(track)
        }
    }

    /// Which bank of a part's stream begins first, and so gives the position on the grid of all of them: equal n are one
    /// instant.
    private static func firstOfBanks(_ index: Int, of parts: [(stream: StreamContents, range: ClosedRange<Int64>)]) -> Int {
        let description = parts[index].stream.description
        let banks = parts.indices.filter { $0 == index || parts[$0].stream.description.isBesides(description) }
        return banks.min {
            (parts[$0].range.lowerBound, parts[$0].stream.description.bank)
                < (parts[$1].range.lowerBound, parts[$1].stream.description.bank)
        } ?? index
    }

    /// Within what the recorded times of all streams are right, in seconds; nil where that is not known of all.
    var timeUncertaintySeconds: Double? {
        let all = tracks.map { $0.stream.timeUncertaintyNanoseconds(in: $0.range) }
        let known = all.compactMap(\.self)
        return known.count == all.count ? known.max().map { $0 / 1e9 } : nil
    }

    /// How many data records cover every sample.
    var recordCount: Int64 {
        tracks.map { ($0.endIndex + Int64($0.samplesPerRecord) - 1) / Int64($0.samplesPerRecord) }.max() ?? 0
    }

    /// Whole seconds since 1970 that the header names; 0 without times.
    var startSeconds: Int64 { (startUnixNanoseconds ?? 0).floorDivided(by: 1_000_000_000) }

    /// Microseconds from the header's second to the first data record: 0 ... 999,999.
    var startFractionMicroseconds: Int64 { ((startUnixNanoseconds ?? 0) - startSeconds * 1_000_000_000) / 1000 }

    /// Microseconds from the header's second to a position on a track's grid.
    func microseconds(ofIndex index: Int64, in track: Track) -> Int64 {
        // 2^63 is beyond 1,000 years of 16 kHz in records of a second.
        let samples = Int64(track.samplesPerRecord)
        let (record, rest) = (index.floorDivided(by: samples), index - index.floorDivided(by: samples) * samples)
        let within = (Double(rest) * Double(recordDurationMicroseconds) / Double(samples)).rounded()
        return startFractionMicroseconds + record * recordDurationMicroseconds + Int64(within)
    }

    /// Microseconds from the header's second to an annotation: to the very sample that the headset said it of, where the file
    /// has that.
    func microseconds(of annotation: AnnotationContents) -> Int64 {
        if let sample = annotation.sample,
            let track = tracks.first(where: { $0.stream.id == sample.stream && $0.range.contains(sample.n) })
        {
            return microseconds(ofIndex: track.index(ofSample: sample.n), in: track)
        }
        return microseconds(ofUnixNanoseconds: annotation.onsetUnixNanoseconds)
    }

    /// Microseconds from the header's second to an instant of UTC: where the first stream's time map puts it between two
    /// samples.
    func microseconds(ofUnixNanoseconds unix: Int64) -> Int64 {
        guard let track = tracks.first else { return startFractionMicroseconds }
        guard let n = track.stream.sample(atUnixNanoseconds: unix) else {
            return startFractionMicroseconds + (unix - (startUnixNanoseconds ?? unix)) / 1000
        }
        let index = n - Double(track.range.lowerBound) + Double(track.firstIndex)
        let micros = index * Double(recordDurationMicroseconds) / Double(track.samplesPerRecord)
        return startFractionMicroseconds + Int64(micros.rounded())
    }
}
