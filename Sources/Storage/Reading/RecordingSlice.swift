import Bluetooth
import Headsets

/// The part of a recording that a reader is to see: some channels of some streams, each from one n to another.
package struct RecordingSlice: Hashable, Sendable {
    /// What of one stream is seen.
    package struct Part: Hashable, Sendable {
        package var stream: StreamID
        /// The n's; within the stream's extent.
        package var range: ClosedRange<Int64>
        /// Which of the stream's channels, from 0, ascending; at least one.
        package var channels: [Int]

        package init(stream: StreamID, range: ClosedRange<Int64>, channels: [Int]) {
            self.stream = stream
            self.range = range
            self.channels = channels
        }
    }

    /// The streams that are seen.
    package var parts: [Part]
    /// UTC nanoseconds since 1970: annotations are cut to it; nil where all are seen.
    package var interval: Range<Int64>?

    package init(parts: [Part], interval: Range<Int64>?) {
        self.parts = parts
        self.interval = interval
    }
}

extension RecordingReader {
    /// A reader of a part of the same recording, at the same moment. What it says of the recording is what is true of the part:
    /// extents, counts of rows, gaps cut at the edges, and what was annotated meanwhile.
    ///
    /// - Throws: ``StorageError`` where the rows of a gap that is cut cannot be counted.
    package func slice(_ slice: RecordingSlice) throws -> RecordingReader {
        var cut = contents
        cut.streams = try slice.parts.compactMap { part in
            guard let stream = contents.streams.first(where: { $0.id == part.stream }) else { return nil }
            return try stream.cut(to: part, from: self)
        }
        cut.startUnixNanoseconds = cut.streams.compactMap { $0.firstN.flatMap($0.unixNanoseconds(ofSample:)) }.min()
        cut.annotations = contents.annotations.compactMap { $0.cut(to: slice) }
        return RecordingReader(
            base: self, contents: cut,
            channels: Dictionary(slice.parts.map { ($0.stream, $0.channels) }, uniquingKeysWith: { first, _ in first }))
    }
}

extension StreamContents {
    /// What is true of a part of the stream.
    fileprivate func cut(to part: RecordingSlice.Part, from reader: RecordingReader) throws -> StreamContents {
        var cut = self
        cut.description.channels = part.channels.map { description.channels[$0] }
        (cut.firstN, cut.lastN) = (part.range.lowerBound, part.range.upperBound)
        cut.gaps = try gaps.compactMap { gap in
            guard let gap = try gap.cut(to: part.range, of: self, from: reader) else { return nil }
            guard gap.channel > 0 else { return gap }
            guard let index = part.channels.firstIndex(of: gap.channel - 1) else { return nil }
            var kept = gap
            kept.channel = index + 1
            return kept
        }
        let missing = cut.gaps.reduce(into: Int64(0)) { if $1.channel == 0 { $0 += $1.count - $1.recovered } }
        cut.rowCount = Int64(part.range.count) - missing
        cut.segments = TimeSegment.cut(segments, to: part.range)
        return cut
    }
}

extension TimeSegment {
    /// What of a stream's time map gives the times of a range.
    package static func cut(_ segments: [TimeSegment], to range: ClosedRange<Int64>) -> [TimeSegment] {
        // The piece before the first one also gives the times of what lies behind its end.
        segments.enumerated().compactMap { index, segment in
            let end = segments.indices.contains(index + 1) ? segments[index + 1].firstN : .max
            guard segment.firstN <= range.upperBound || index == 0, end > range.lowerBound else { return nil }
            var cut = segment
            cut.firstN = min(max(segment.firstN, range.lowerBound), range.upperBound)
            cut.lastN = max(cut.firstN, min(segment.lastN, range.upperBound))
            return cut
        }
    }
}

extension GapContents {
    /// What of the gap lies within a range; nil where nothing does. How many of its samples arrived after all is counted where
    /// the gap is cut: the ledger says it of the whole.
    fileprivate func cut(
        to range: ClosedRange<Int64>, of stream: StreamContents, from reader: RecordingReader
    ) throws -> GapContents? {
        // Between two boots of the host, where nobody knows how many n there would have been, a gap lies before its first n.
        if count == 0 { return range.contains(firstN) && firstN > range.lowerBound ? self : nil }
        let gap = firstN...(firstN + count - 1)
        guard gap.overlaps(range) else { return nil }
        let inside = gap.clamped(to: range)
        if inside == gap { return self }
        var cut = self
        (cut.firstN, cut.count) = (inside.lowerBound, Int64(inside.count))
        if recovered == count {
            cut.recovered = cut.count
        } else if recovered > 0 {
            cut.recovered = 0
            try reader.forEachChunk(of: stream.id, in: inside, rowsPerChunk: 4096) { chunk in
                let bit = channel > 0 ? UInt8(1) << UInt8(channel - 1) : 0
                cut.recovered += Int64(chunk.missingChannels.count { $0 & bit == 0 })
            }
        }
        if missing != nil { cut.missing = cut.count - cut.recovered }
        return cut
    }
}

extension AnnotationContents {
    /// What of the annotation lies within a slice; nil where nothing does.
    fileprivate func cut(to slice: RecordingSlice) -> AnnotationContents? {
        var cut = self
        let part = sample.flatMap { sample in slice.parts.first { $0.stream == sample.stream } }
        if part == nil { cut.sample = nil }
        guard let interval = slice.interval else { return cut }
        let end = onsetUnixNanoseconds.addingClamped(Int64(clamping: max(0, durationSeconds ?? 0) * 1e9))
        // An instant belongs to the slice that holds it; a stretch to each that holds some of it.
        let isInside =
            end > onsetUnixNanoseconds
            ? end > interval.lowerBound && onsetUnixNanoseconds < interval.upperBound
            : interval.contains(onsetUnixNanoseconds)
        if let part, let sample, !((durationSeconds ?? 0) > 0) {
            // Said of a sample, it goes with it, whatever the rounding of times.
            return part.range.contains(sample.n) ? cut : nil
        }
        guard isInside else { return nil }
        cut.onsetUnixNanoseconds = max(onsetUnixNanoseconds, interval.lowerBound)
        if durationSeconds != nil {
            cut.durationSeconds = Double(min(end, interval.upperBound) - cut.onsetUnixNanoseconds) / 1e9
        }
        if let part, let sample, !part.range.contains(sample.n) { cut.sample = nil }
        return cut
    }
}

/// Some channels of rows, in memory that is used again.
struct ChannelProjection {
    private(set) var chunk = SampleChunk()
    private let channels: [Int]
    private let width: Int

    /// - Returns: nil where these are all channels of the stream.
    init?(_ channels: [Int], of contents: RecordingContents, stream: StreamID) {
        let all = contents.streams.first { $0.id == stream }?.description.channels.indices
        guard let all, Array(all) != channels else { return nil }
        self.channels = channels
        width = all.count
    }

    mutating func project(_ whole: borrowing SampleChunk) {
        chunk.n.replaceSubrange(chunk.n.indices, with: whole.n)
        chunk.values.removeAll(keepingCapacity: true)
        chunk.missingChannels.removeAll(keepingCapacity: true)
        for row in whole.n.indices {
            for channel in channels { chunk.values.append(whole.values[row * width + channel]) }
        }
        for missing in whole.missingChannels {
            var kept: UInt8 = 0
            for (index, channel) in channels.enumerated() where missing & (1 << UInt8(channel)) != 0 {
                kept |= 1 << UInt8(index)
            }
            chunk.missingChannels.append(kept)
        }
    }
}
