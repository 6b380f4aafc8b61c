import Headsets
import Storage

/// The events of a dataset: boundaries where samples are missing, what is held, and what people and the headset have marked.
struct EEGLABEvents {
    private struct Event {
        var type: String
        /// In samples from 1; a boundary lies between two.
        var latency: Double
        /// In samples.
        var duration: Double
    }

    private var events: [Event] = []

    /// What EEGLAB and its readers know for data that were left out.
    static let boundary = "boundary"

    init(_ facts: MultiplexedFacts) {
        // Where no sample is missing, as the headset counted on, a piece has a time of its own and no boundary.
        for piece in facts.layout.pieces.dropFirst() where piece.missing > 0 {
            events.append(
                Event(type: Self.boundary, latency: Double(piece.row) + 0.5, duration: Double(piece.missing)))
        }
        for held in facts.layout.held {
            let channel = held.channel.map { " " + facts.stream.channels[$0].name } ?? ""
            events.append(
                Event(
                    type: EDFAnnotation.skipText + channel, latency: Double(held.rows.lowerBound + 1),
                    duration: Double(held.rows.count)))
        }
        for length in facts.lengths {
            events.append(
                Event(type: length.text, latency: max(1, length.row + 1), duration: Double(length.rowCount)))
        }
        for (row, annotation) in facts.annotations {
            let duration = annotation.durationSeconds.map { max(0, $0) * facts.stream.samplingFrequency }
            events.append(Event(type: annotation.description, latency: row + 1, duration: duration ?? 0))
        }
        events = events.enumerated().sorted { ($0.element.latency, $0.offset) < ($1.element.latency, $1.offset) }
            .map(\.element)
    }

    /// `EEG.event`.
    var value: MATValue {
        guard !events.isEmpty else { return .empty }
        return .structures(
            fields: ["type", "latency", "duration"],
            events.map { [.text($0.type), .number($0.latency), .number($0.duration)] })
    }
}
