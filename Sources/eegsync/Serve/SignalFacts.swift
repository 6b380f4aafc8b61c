import Foundation
import Headsets
import Page
import Storage

/// What the page must know of a stream before it draws it.
struct SignalFacts: Encodable {
    /// One channel: value = scale × raw + offset, in unit.
    struct Channel: Encodable {
        var name: String
        var type: String
        var unit: String
        var scale: Double
        var offset: Double
    }

    var id: Int64
    var name: String
    var samplingFrequency: Double
    var channels: [Channel]
    /// Milliseconds since 1970 of the first and the newest row; nil without rows or time map.
    var startMs: Double?
    var endMs: Double?

    init(_ stream: SignalStream, _ timeline: StreamTimeline) {
        id = stream.id.rawValue
        name = stream.description.bankName
        samplingFrequency = stream.description.samplingFrequency
        channels = stream.description.channels.map {
            Channel(name: $0.name, type: $0.type, unit: $0.unit, scale: $0.scale, offset: $0.offset)
        }
        guard let extent = stream.extent else { return }
        startMs = timeline.unixNanoseconds(of: extent.lowerBound).map { Double($0) / 1e6 }
        endMs = timeline.unixNanoseconds(of: extent.upperBound).map { Double($0) / 1e6 }
    }
}

/// What stands in front of the numbers of a frame.
struct FrameFacts: Encodable {
    /// A gap as it is drawn.
    struct Gap: Encodable {
        var startMs: Double
        /// Nil while its end is not known.
        var endMs: Double?
        var cause: String
        var meaning: String
        var count: Int64?
        var recovered: Int64
    }

    /// An annotation as it is drawn.
    struct Mark: Encodable {
        var startMs: Double
        var durationSeconds: Double?
        var text: String
        var source: String
    }

    /// `rows` or `columns`.
    var kind: String
    var startMs: Double
    var endMs: Double?
    var channels: Int
    /// How many rows, or columns.
    var count: Int
    var lastN: Int64?
    /// Between two samples.
    var periodMs: Double
    /// False where something is not painted yet, or rows were left out as there are too many.
    var isComplete = true
    /// Of the newest row.
    var newestMs: Double?
    /// This machine's time.
    var nowMs: Double
    var gaps: [Gap] = []
    var marks: [Mark] = []
}
