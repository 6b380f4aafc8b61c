import Foundation
import Headsets
import Page
import Storage

/// What the page is answered about signals.
struct SignalRoutes: Sendable {
    /// Gaps and marks of a picture beyond these would only lie upon each other.
    static let gapsMaximum = 1000

    let reading: PageReading
    let pictures: SignalPictures
    let live: any LiveSource
    /// The most rows of an answer: the longest time that rows are sent of, at 2,000 Hz. What lacks is said.
    var rowsMaximum = 120_000

    /// Answers what is asked about a recording.
    func respond(_ wanted: PageRoute.Signals, recording: RecordingID) async throws -> PageResponse {
        switch wanted {
        case .streams: .json(try await streams(of: recording))
        case .newest(let id, let after):
            try await of(id, recording) { try await newest($0, after: after, recording) }
        case .rows(let id, let time):
            try await of(id, recording) { try await rows($0, in: time, recording) }
        case .columns(let id, let time, let count):
            try await of(id, recording) { try await columns($0, in: time, count: count, recording) }
        }
    }

    private func of(
        _ id: Int64, _ recording: RecordingID, _ body: (SignalStream) async throws -> PageResponse
    ) async throws -> PageResponse {
        let stream = try await reading.run { store in
            try store.signalStreams(of: recording).first { $0.id.rawValue == id }
        }
        guard let stream else { return PageRoute.noStream }
        return try await body(stream)
    }

    /// The streams of a recording, and how it is called.
    private func streams(of recording: RecordingID) async throws -> Data {
        let pictures = pictures
        return try await reading.run { store in
            let streams = try store.signalStreams(of: recording)
            return PageReading.timed(
                try PageReading.document(
                    ["streams": try streams.map { SignalFacts($0, try pictures.timeline(of: $0.id, store)) }]))
        }
    }

    /// The newest rows behind an n.
    private func newest(_ stream: SignalStream, after: Int64?, _ recording: RecordingID) async throws -> PageResponse {
        let chunk = try await live.rows(of: stream, after: after)
        return try await reading.run { store in
            // Whoever asks may say any number.
            let known = after.flatMap { after in stream.extent.map { min(max(after, $0.lowerBound), $0.upperBound) } }
            let first = [known, chunk.n.first].compactMap(\.self).min()
            let timeline = StreamTimeline(try store.timeSegments(of: stream.id, from: first ?? .max))
            // While the headset is away no rows come, but marks do.
            let now = PageReading.nowUnixNanoseconds
            let since = (known ?? first).flatMap { timeline.unixNanoseconds(of: $0) } ?? now
            let newest = chunk.n.last.flatMap { timeline.unixNanoseconds(of: $0) } ?? now
            let marks = max(0, min(since, now))..<(max(now, newest) + 1)
            return .frame(try Self.rows(chunk, stream, timeline, store, recording, marks: marks))
        }
    }

    /// All rows of a short time.
    private func rows(_ stream: SignalStream, in time: Range<Int64>, _ recording: RecordingID) async throws -> PageResponse {
        guard let extent = stream.extent else { return PageRoute.noTime }
        let (pictures, most) = (pictures, rowsMaximum)
        return try await reading.run { store in
            let timeline = try pictures.timeline(of: stream.id, store)
            let channels = stream.description.channels.count
            var chunk = SampleChunk()
            // One more than is sent shows that something lacks.
            for piece in timeline.pieces(in: time, of: extent) where chunk.n.count <= most {
                let rows = try store.rows(
                    of: stream.id, channelCount: channels, in: piece.range, limit: most + 1 - chunk.n.count)
                chunk.append(rows, channels: channels)
            }
            let isComplete = chunk.n.count <= most
            chunk.keepFirst(most, channels: channels)
            return .frame(try Self.rows(chunk, stream, timeline, store, recording, in: time, isComplete: isComplete))
        }
    }

    /// The least and the greatest values in each column of a picture.
    private func columns(
        _ stream: SignalStream, in time: Range<Int64>, count: Int, _ recording: RecordingID
    ) async throws -> PageResponse {
        let pictures = pictures
        return try await reading.run { store in
            let timeline = try pictures.timeline(of: stream.id, store)
            var painter = SignalPainter(
                store: store, stream: stream, timeline: timeline, pyramid: try pictures.pyramid(of: stream, store), time: time,
                columns: count)
            try painter.paint()
            var facts = try Self.facts("columns", count, stream, timeline, store, recording, time, marks: time)
            facts.isComplete = painter.isComplete
            return .frame(SignalFrame.columns(try PageReading.document(facts), painter.picture))
        }
    }

    /// A frame of rows.
    ///
    /// - Parameters:
    ///   - time: what was asked for; nil for that of the rows.
    ///   - marks: of which time marks are sent; nil for that of the rows.
    private static func rows(
        _ chunk: SampleChunk, _ stream: SignalStream, _ timeline: StreamTimeline, _ store: ReadOnlyStore,
        _ recording: RecordingID, in time: Range<Int64>? = nil, marks: Range<Int64>? = nil, isComplete: Bool = true
    ) throws -> Data {
        let instants = chunk.n.map { timeline.unixNanoseconds(of: $0) ?? 0 }
        let first = instants.first ?? time?.lowerBound ?? 0
        let last = instants.last ?? first
        let length = time ?? first..<(max(first, last) + 1)
        var facts = try facts(
            "rows", chunk.n.count, stream, timeline, store, recording, length, marks: marks ?? length)
        facts.isComplete = isComplete
        facts.startMs = Double(first) / 1e6
        facts.lastN = chunk.n.last
        let channels = stream.description.channels.count
        var values = chunk.values
        for (row, missing) in chunk.missingChannels.enumerated() where missing != 0 {
            for channel in 0..<channels where missing & (1 << UInt8(channel)) != 0 {
                values[row * channels + channel] = SignalColumns.nothing
            }
        }
        return SignalFrame.rows(
            try PageReading.document(facts), seconds: instants.map { Float(Double($0 - first) / 1e9) }, values: values)
    }

    private static func facts(
        _ kind: String, _ count: Int, _ stream: SignalStream, _ timeline: StreamTimeline, _ store: ReadOnlyStore,
        _ recording: RecordingID, _ time: Range<Int64>, marks: Range<Int64>
    ) throws -> FrameFacts {
        let milliseconds = { (n: Int64) in timeline.unixNanoseconds(of: n).map { Double($0) / 1e6 } }
        var facts = FrameFacts(
            kind: kind, startMs: Double(time.lowerBound) / 1e6, endMs: Double(time.upperBound) / 1e6,
            channels: stream.description.channels.count, count: count,
            periodMs: 1000 / stream.description.samplingFrequency,
            newestMs: stream.extent.flatMap { milliseconds($0.upperBound) },
            nowMs: Double(PageReading.nowUnixNanoseconds) / 1e6)
        // What began before the picture, and what lasts beyond it.
        let pieces = stream.extent.map { timeline.pieces(in: time, of: $0) } ?? []
        let around = (pieces.first?.range.lowerBound ?? stream.extent?.upperBound ?? 0)...Int64.max
        let gaps = try store.signalGaps(
            of: stream.id, in: around.lowerBound...max(around.lowerBound, pieces.last?.range.upperBound ?? .max - 1),
            limit: gapsMaximum)
        facts.gaps = gaps.compactMap { gap in
            guard let start = milliseconds(gap.firstN - 1) else { return nil }
            return FrameFacts.Gap(
                startMs: start, endMs: gap.count.flatMap { milliseconds(gap.firstN + $0) }, cause: gap.cause,
                meaning: gap.meaning, count: gap.count, recovered: gap.recovered)
        }
        // A mark between two answers belongs to one of them.
        let instants = (marks.lowerBound - 1_000_000_000)...marks.upperBound
        facts.marks = try store.annotations(of: recording, in: instants, limit: gapsMaximum).map {
            FrameFacts.Mark(
                startMs: Double($0.onsetUnixNanoseconds) / 1e6, durationSeconds: $0.durationSeconds, text: $0.description,
                source: $0.source)
        }
        return facts
    }
}
