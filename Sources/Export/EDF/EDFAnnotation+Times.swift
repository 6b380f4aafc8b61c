import FoundationEssentials

/// What the times of a file are, where they are not the recorded ones in UTC.
extension EDFAnnotation {
    /// Texts of ours begin so; no reader takes them for an event of the recording or for a stretch to leave out.
    static let timesPrefix = "eegsync: "
    /// What is less than this, in seconds, is not said.
    static let leastDeviationSeconds = 50e-6

    /// Annotations at the file's beginning.
    ///
    /// - Parameter zone: of the header's start; nil for UTC.
    static func times(of timeline: FileTimeline, zone: TimeZone?) -> [EDFAnnotation] {
        var texts: [String] = []
        let deviation = timeline.tracks.map(\.maximumDeviationSeconds).max() ?? 0
        if timeline.tracks.contains(where: { $0.resampledRange != nil }) {
            texts.append("the samples were computed to lie at the nominal rate in UTC")
        } else if deviation >= leastDeviationSeconds {
            texts.append("samples lie at the nominal rate, up to \(EDFField.fixed(deviation * 1e3, decimals: 1)) ms from UTC")
        }
        let offset = timeline.tracks.map { abs($0.gridOffsetSeconds) }.max() ?? 0
        if offset >= leastDeviationSeconds {
            texts.append("a stream's first sample was moved by \(EDFField.fixed(offset * 1e3, decimals: 1)) ms")
        }
        if let zone {
            let minutes = abs(timeline.utcOffsetSeconds) / 60
            let sign = timeline.utcOffsetSeconds < 0 ? "-" : "+"
            texts.append(
                "the start is local time, UTC\(sign)\(CivilTime.digits(minutes / 60)):\(CivilTime.digits(minutes % 60)), "
                    + zone.identifier)
        }
        return texts.flatMap {
            annotations(onset: timeline.startFractionMicroseconds, duration: nil, text: timesPrefix + $0)
        }
    }
}
