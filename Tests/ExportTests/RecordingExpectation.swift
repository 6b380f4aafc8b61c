import Headsets
import Storage

@testable import Export

/// What a fixture holds, made from its formulas: what a reader of any format must find of it.
struct RecordingExpectation: Codable {
    struct Channel: Codable {
        var name: String
        var type: String
        var unit: String
        var scale: Double
        var offset: Double
    }

    struct Stream: Codable {
        var name: String
        var samplingFrequency: Double
        var channels: [Channel]
        /// The n of each row.
        var n: [Int64]
        /// UTC nanoseconds since 1970 of each row.
        var unixNanoseconds: [Int64]
        /// Raw values of each row; nil where one is missing.
        var values: [[Int32?]]
    }

    struct Annotation: Codable {
        var text: String
        var unixNanoseconds: Int64
        var durationSeconds: Double?
        /// The sample that it was said of.
        var n: Int64?
    }

    var name: String
    var subject: String?
    var streams: [Stream]
    var annotations: [Annotation]

    init(_ name: String, _ fixture: RecordingFixture) {
        self.name = name
        subject = fixture.subject
        streams = []
        for stream in fixture.streams {
            let description = stream.description
            let channels = description.channels.map {
                Channel(name: $0.name, type: $0.type, unit: $0.unit, scale: $0.scale, offset: $0.offset)
            }
            let rows = stream.range.compactMap { n in fixture.row(stream, n).map { (n, $0) } }
            if description.bank > 0, let last = streams.indices.last {
                // The fixtures' banks have the same rows.
                streams[last].channels += channels
                for (index, row) in rows.enumerated() { streams[last].values[index] += row.1 }
                continue
            }
            let period = 1e9 / description.samplingFrequency * stream.stretch
            streams.append(
                Stream(
                    name: description.name, samplingFrequency: description.samplingFrequency, channels: channels,
                    n: rows.map(\.0),
                    unixNanoseconds: rows.map { row in
                        fixture.start + stream.delay
                            + Int64((Double(row.0 - stream.range.lowerBound) * period).rounded())
                    }, values: rows.map(\.1)))
        }
        annotations = fixture.annotations.map {
            Annotation(
                text: $0.description, unixNanoseconds: $0.onsetUnixNanoseconds, durationSeconds: $0.durationSeconds,
                n: $0.sample?.n)
        }
    }

    /// Recordings beside those of EDF+: a clock that drifts with a gap each minute, and a stream of two banks with triggers.
    static var fixtures: [(String, RecordingFixture)] {
        let minutes = (1...4).map { Int64($0) * 15_360 }
        let drift = RecordingFixture(streams: [
            .init(
                description: RecordingFixture.description(), range: 0...76_799,
                absent: minutes.enumerated().map { $0.element...($0.element + [25, 128, 255, 480][$0.offset]) },
                stretch: 1.000_05)
        ])
        let channels = (1...12).map {
            RecordingFixture.channel("E\($0)", scale: 0.022_351_744_455_307_063, raw: -8_388_608...8_388_607)
        }
        var second = RecordingFixture.description(frequency: 250, channels: Array(channels[8...]))
        second.bank = 1
        func value(_ n: Int64, _ channel: Int) -> Int32 { RecordingFixture.value(n, channel) * 4001 + Int32(n % 7) }
        var wide = RecordingFixture(
            streams: [
                .init(
                    description: RecordingFixture.description(frequency: 250, channels: Array(channels[..<8])), range: 0...2499,
                    absent: [1000...1099], value: value),
                .init(description: second, range: 0...2499, absent: [1000...1099], value: { value($0, $1 + 8) }),
            ], task: "oddball")
        wide.annotations = [100, 999, 1100, 2499].map { n in
            AnnotationContents(
                onsetUnixNanoseconds: wide.start + Int64(n) * 4_000_000, durationSeconds: nil, description: "Trigger \(n % 3)",
                source: "headset", sample: AnnotatedSample(stream: StreamID(rawValue: 1), n: Int64(n)), code: Int64(n % 3))
        }
        return [("drift", drift), ("wide", wide)]
    }
}
