import Headsets
import Storage

/// The markers beside a BrainVision file: where segments begin, what is held, and what people and the headset have marked.
struct BrainVisionMarkers {
    private struct Marker {
        var type: String
        var description: String
        /// In rows, from 0.
        var row: Int64
        var rowCount: Int64 = 1
        /// From 1; 0 for all channels.
        var channel = 0
        /// Of a new segment.
        var date: String?
    }

    private let facts: MultiplexedFacts
    private var markers: [Marker] = []

    static let segmentType = "New Segment"
    /// Stretches that analyses leave out.
    static let badType = "Bad Interval"
    static let commentType = "Comment"
    /// A trigger with a number.
    static let stimulusType = "Stimulus"

    init(_ facts: MultiplexedFacts) {
        self.facts = facts
        for piece in facts.layout.pieces {
            markers.append(
                Marker(
                    type: Self.segmentType, description: "", row: piece.row,
                    date: facts.unixNanoseconds(ofSample: piece.firstN).map(Self.date)))
        }
        for held in facts.layout.held {
            markers.append(
                Marker(
                    type: Self.badType, description: EDFAnnotation.skipText, row: held.rows.lowerBound,
                    rowCount: Int64(held.rows.count), channel: held.channel.map { $0 + 1 } ?? 0))
        }
        for length in facts.lengths {
            let isHeld = length.rowCount > 0
            markers.append(
                Marker(
                    type: isHeld ? Self.badType : Self.commentType, description: length.text, row: Int64(length.row.rounded()),
                    rowCount: max(1, length.rowCount)))
        }
        for (row, annotation) in facts.annotations { markers.append(marker(annotation, row: row)) }
        markers = markers.enumerated().sorted { ($0.element.row, $0.offset) < ($1.element.row, $1.offset) }.map(\.element)
    }

    private func marker(_ annotation: AnnotationContents, row: Double) -> Marker {
        let start = min(Int64(row.rounded()), facts.layout.rowCount - 1)
        let end = annotation.durationSeconds.map { duration in
            (row + max(0, min(duration, 1e9)) * facts.stream.samplingFrequency).rounded()
        }
        let rowCount = end.map { Int64(min($0, Double(facts.layout.rowCount))) - start } ?? 1
        // The number is all that these programs read of a trigger, in three digits.
        if let code = annotation.code, (0...999).contains(code) {
            let digits = String(code)
            let text = "S" + String(repeating: " ", count: 3 - digits.count) + digits
            return Marker(type: Self.stimulusType, description: text, row: start, rowCount: max(1, rowCount))
        }
        return Marker(
            type: Self.commentType, description: annotation.description, row: start, rowCount: max(1, rowCount))
    }

    /// `.vmrk`.
    var text: String {
        var lines = [
            "Brain Vision Data Exchange Marker File, Version 1.0", "", "[Common Infos]", "Codepage=UTF-8",
            "DataFile=\(facts.names[BrainVisionHeaders.dataEnding] ?? "")", "", "[Marker Infos]",
            "; Type, description, first sample from 1, number of samples, channel from 1 (0: all), UTC of a new segment. "
                + "\\1 stands for a comma.",
        ]
        for (index, marker) in markers.enumerated() {
            var fields = [
                marker.type, BrainVisionHeaders.text(marker.description), String(marker.row + 1), String(marker.rowCount),
                String(marker.channel),
            ]
            if let date = marker.date { fields.append(date) }
            lines.append("Mk\(index + 1)=" + fields.joined(separator: ","))
        }
        return lines.joined(separator: "\r\n") + "\r\n"
    }

    /// UTC as `yyyyMMddHHmmssffffff`.
    static func date(unixNanoseconds: Int64) -> String {
        CivilTime.iso8601(unixNanoseconds: unixNanoseconds).filter(\.isNumber)
    }
}
