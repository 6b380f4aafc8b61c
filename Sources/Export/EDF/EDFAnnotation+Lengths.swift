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
        track.stream.gaps.filter { track.range.contains($0.firstN) }.flatMap { gap -> [EDFAnnotation] in
            guard let text = lengthText(of: gap) else { return [] }
            let first = track.index(ofSample: gap.firstN)
            let end = track.index(ofSample: min(gap.firstN.addingClamped(gap.count), track.range.upperBound + 1))
            let onset = timeline.microseconds(ofIndex: first, in: track)
            let duration = timeline.microseconds(ofIndex: end, in: track) - onset
            let texts = labels.isEmpty ? [text] : labels.map { text + channelSeparator + $0 }
            return texts.map { EDFAnnotation(onsetMicroseconds: onset, durationMicroseconds: duration, text: $0) }
        }
    }

    /// What is said of a gap whose length was not counted; nil where it was, where the gap is one channel's, or where nothing
    /// is missing.
    static func lengthText(of gap: GapContents) -> String? {
        guard gap.channel == 0, gap.count > gap.recovered, gap.cause != .notSent,
            gap.certainty != GapCertainty.counted.name
        else { return nil }
        if gap.certainty == GapCertainty.unknown.name { return unknownText }
        return timedText + (gap.uncertainty.map { " +-\($0) \($0 == 1 ? "sample" : "samples")" } ?? "")
    }
}
