import Bluetooth
import Headsets
import Storage

/// How the length of a gap is known, where no counter has counted it.
extension EDFAnnotation {
    /// The texts begin with `BAD`, as the gaps' own do: MNE leaves the same stretches out, and makes no events of them.
    static let timedText = "BAD_LENGTH_TIMED"
    static let unknownText = "BAD_LENGTH_UNKNOWN"

    /// An annotation over each gap of whole rows whose length was not counted.
    ///
    /// - Parameter labels: of the signals that are meant; empty for all signals of the file.
    static func lengths(of track: FileTimeline.Track, in timeline: FileTimeline, labels: [String]) -> [EDFAnnotation] {
        let gaps = track.stream.gaps.filter {
            $0.channel == 0 && $0.count > $0.recovered && $0.cause != .notSent && $0.certainty != GapCertainty.counted.name
                && track.range.contains($0.firstN)
        }
        return gaps.flatMap { gap in
            let first = track.index(ofSample: gap.firstN)
            let end = track.index(ofSample: min(gap.firstN.addingClamped(gap.count), track.range.upperBound + 1))
            let onset = timeline.microseconds(ofIndex: first, in: track)
            let duration = timeline.microseconds(ofIndex: end, in: track) - onset
            var text = unknownText
            if gap.certainty != GapCertainty.unknown.name {
                text = timedText + (gap.uncertainty.map { " +-\($0) \($0 == 1 ? "sample" : "samples")" } ?? "")
            }
            let texts = labels.isEmpty ? [text] : labels.map { text + channelSeparator + $0 }
            return texts.map { EDFAnnotation(onsetMicroseconds: onset, durationMicroseconds: duration, text: $0) }
        }
    }
}
