import Storage

/// The stretches of time in which at least one stream has rows without a break. A break is where no stream has any, so that no
/// row is left out; a stream that is missing alone is filled and annotated.
struct UnbrokenSegments {
    /// For each segment the tracks that have rows in it, and from which to which n.
    private(set) var segments: [[(track: Int, range: ClosedRange<Int64>)]] = []

    /// - Parameter runs: The runs of rows of each track of the timeline, ascending.
    init(timeline: FileTimeline, runs: [[ClosedRange<Int64>]]) {
        struct Piece {
            var start: Double
            var end: Double
            var track: Int
            var range: ClosedRange<Int64>
        }
        let periods = timeline.tracks.map { Double(timeline.recordDurationMicroseconds) / Double($0.samplesPerRecord) }
        var pieces: [Piece] = []
        for (index, track) in timeline.tracks.enumerated() {
            for run in runs[index] {
                pieces.append(
                    Piece(
                        start: Double(track.index(ofSample: run.lowerBound)) * periods[index],
                        end: Double(track.index(ofSample: run.upperBound) + 1) * periods[index], track: index, range: run))
            }
        }
        pieces.sort { ($0.start, $0.track) < ($1.start, $1.track) }
        // Half a sample of the fastest stream: less than any missing sample, more than any rounding.
        let tolerance = (periods.min() ?? 1) / 2
        var end = -Double.infinity
        for piece in pieces {
            if piece.start > end + tolerance || segments.isEmpty { segments.append([]) }
            end = max(end, piece.end)
            let last = segments.count - 1
            if let known = segments[last].firstIndex(where: { $0.track == piece.track }) {
                segments[last][known].range = segments[last][known].range.lowerBound...piece.range.upperBound
            } else {
                segments[last].append((piece.track, piece.range))
            }
        }
        segments = segments.map { $0.sorted { $0.track < $1.track } }
    }
}
