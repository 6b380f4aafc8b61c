import Headsets
import Storage

/// Puts the samples of one stream into blocks of data records, fills what is missing, and says so in annotations.
///
/// The loops work on bare memory: they run once for every sample, and the export is to cost little more than reading the rows.
final class EDFTrackWriter {
    /// A block of data records in memory.
    struct Block {
        var base: UnsafeMutableRawPointer
        var firstRecord: Int64
        var recordCount: Int
        var recordByteCount: Int
        /// A checksum of every signal in every record, `signalCount` to a record.
        var digests: UnsafeMutablePointer<UInt64>
        var signalCount: Int
        /// True for each record that holds a row.
        var holdsRows: UnsafeMutablePointer<Bool>
    }

    let timeline: FileTimeline
    let track: FileTimeline.Track
    let variant: EDFVariant
    /// Where the stream's first signal stands among the file's.
    let firstSignal: Int
    /// Where it begins in a record, in bytes.
    let firstOffset: Int
    let mappings: [EDFDigitalMapping]
    /// The texts that mark missing rows, and missing values of each channel.
    let rowTexts: [String]
    let channelTexts: [String]

    private(set) var annotations: [EDFAnnotation] = []
    private(set) var rowCount: Int64 = 0
    /// Values beyond what the format holds, written as its limit.
    private(set) var clippedCount: Int64 = 0
    /// The next position to be written.
    private var cursor: Int64 = 0
    /// The digital value that stands for missing ones, by channel.
    private var edges: [Int32]
    /// Where the stretch without rows began, or nil.
    private var absentSince: Int64?
    /// Where the stretch of NULLs of a channel began, or -1.
    private var nullSince: [Int64]

    private var channelCount: Int { mappings.count }

    init(
        timeline: FileTimeline, track: FileTimeline.Track, variant: EDFVariant, firstSignal: Int, firstOffset: Int,
        mappings: [EDFDigitalMapping], rowTexts: [String], channelTexts: [String], firstValues: [Int32?]
    ) {
        self.timeline = timeline
        self.track = track
        self.variant = variant
        self.firstSignal = firstSignal
        self.firstOffset = firstOffset
        self.mappings = mappings
        self.rowTexts = rowTexts
        self.channelTexts = channelTexts
        let limits = variant.digitalLimits
        edges = zip(mappings, firstValues).map { mapping, value in
            Int32(min(max(mapping.digital(value ?? 0), Int64(limits.lowerBound)), Int64(limits.upperBound)))
        }
        nullSince = [Int64](repeating: -1, count: mappings.count)
    }

    /// Writes the stream's part of a block.
    func fill(_ block: Block, from rows: RowSource) throws {
        let samples = Int64(track.samplesPerRecord)
        let start = block.firstRecord * samples
        let end = start + Int64(block.recordCount) * samples
        cursor = start
        let low = max(start, track.firstIndex)
        let high = min(end, track.endIndex)
        if low < high {
            let shift = track.range.lowerBound - track.firstIndex
            let range = (low + shift)...(high - 1 + shift)
            try rows.forEachChunk(of: track.stream.id, in: range) { chunk in copy(chunk, into: block) }
        }
        fillAbsent(until: end, in: block)
    }

    /// Ends the stretches that are still open when the file ends.
    func finish() {
        if let since = absentSince { annotate(rowTexts, from: since, to: cursor) }
        absentSince = nil
        for channel in 0..<channelCount { endNull(channel, at: cursor) }
    }

    /// The annotations since the last call.
    func takeAnnotations() -> [EDFAnnotation] {
        defer { annotations.removeAll(keepingCapacity: true) }
        return annotations
    }

    private func copy(_ chunk: borrowing SampleChunk, into block: Block) {
        let count = chunk.n.count
        chunk.n.withUnsafeBufferPointer { ns in
            chunk.values.withUnsafeBufferPointer { values in
                chunk.missingChannels.withUnsafeBufferPointer { missing in
                    var row = 0
                    while row < count {
                        let index = track.index(ofSample: ns[row])
                        fillAbsent(until: index, in: block)
                        endAbsent(at: index)
                        let length = runLength(ns, from: row)
                        copyRun(
                            values, missing: missing.count == count ? missing : nil, row: row, count: length, into: block)
                        row += length
                    }
                }
            }
        }
        rowCount += Int64(count)
    }

    /// How many rows from `row` on follow each other without a gap; n ascends, so the last one decides for a whole chunk.
    private func runLength(_ ns: UnsafeBufferPointer<Int64>, from row: Int) -> Int {
        let rest = ns.count - row
        if ns[ns.count - 1] - ns[row] == Int64(rest - 1) { return rest }
        var length = 1
        while row + length < ns.count && ns[row + length] == ns[row] + Int64(length) { length += 1 }
        return length
    }

    /// Copies rows from ``cursor`` on, record by record and channel by channel.
    private func copyRun(
        _ values: UnsafeBufferPointer<Int32>, missing: UnsafeBufferPointer<UInt8>?, row: Int, count: Int, into block: Block
    ) {
        let samples = track.samplesPerRecord
        var row = row
        var left = count
        while left > 0 {
            let position = Int(cursor - block.firstRecord * Int64(samples))
            let (record, within) = (position / samples, position % samples)
            let length = min(left, samples - within)
            block.holdsRows[record] = true
            var anyMissing: UInt8 = 0
            if let missing {
                for index in row..<(row + length) { anyMissing |= missing[index] }
            }
            for channel in 0..<channelCount {
                let bit = UInt8(1) << UInt8(channel)
                copyChannel(
                    channel, values: values, row: row, count: length, record: record, within: within,
                    missing: anyMissing & bit == 0 ? nil : missing, bit: bit, into: block)
            }
            cursor += Int64(length)
            row += length
            left -= length
        }
    }

    private func copyChannel(
        _ channel: Int, values: UnsafeBufferPointer<Int32>, row: Int, count: Int, record: Int, within: Int,
        missing: UnsafeBufferPointer<UInt8>?, bit: UInt8, into block: Block
    ) {
        let mapping = mappings[channel]
        let limits = variant.digitalLimits
        let (low, high) = (Int64(limits.lowerBound), Int64(limits.upperBound))
        let width = variant.bytesPerSample
        let stride = channelCount
        let slot = record * block.signalCount + firstSignal + channel
        var target = target(channel, record: record, within: within, in: block)
        var digest = block.digests[slot]
        var edge = edges[channel]
        var clipped: Int64 = 0
        if missing == nil { endNull(channel, at: cursor) }
        var source = row * stride + channel
        for offset in 0..<count {
            if let missing, missing[row + offset] & bit != 0 {
                if nullSince[channel] < 0 { nullSince[channel] = cursor + Int64(offset) }
            } else {
                if missing != nil { endNull(channel, at: cursor + Int64(offset)) }
                var value = mapping.digital(values[source])
                if value < low || value > high {
                    value = value < low ? low : high
                    clipped += 1
                }
                edge = Int32(truncatingIfNeeded: value)
            }
            Self.store(edge, at: target, width: width)
            digest = SampleDigest.next(digest, edge)
            source += stride
            target += width
        }
        block.digests[slot] = digest
        edges[channel] = edge
        clippedCount += clipped
    }

    /// Fills from ``cursor`` to a position with the edge values.
    private func fillAbsent(until end: Int64, in block: Block) {
        guard cursor < end else { return }
        if absentSince == nil {
            absentSince = cursor
            for channel in 0..<channelCount { endNull(channel, at: cursor) }
        }
        let samples = track.samplesPerRecord
        let width = variant.bytesPerSample
        while cursor < end {
            let position = Int(cursor - block.firstRecord * Int64(samples))
            let (record, within) = (position / samples, position % samples)
            let length = Int(min(end - cursor, Int64(samples - within)))
            for channel in 0..<channelCount {
                let slot = record * block.signalCount + firstSignal + channel
                var target = target(channel, record: record, within: within, in: block)
                var digest = block.digests[slot]
                for _ in 0..<length {
                    Self.store(edges[channel], at: target, width: width)
                    digest = SampleDigest.next(digest, edges[channel])
                    target += width
                }
                block.digests[slot] = digest
            }
            cursor += Int64(length)
        }
    }

    private func target(_ channel: Int, record: Int, within: Int, in block: Block) -> UnsafeMutableRawPointer {
        let width = variant.bytesPerSample
        return block.base + record * block.recordByteCount + firstOffset + (channel * track.samplesPerRecord + within) * width
    }

    /// Little endian, two's complement (EDF specification, data record).
    @inline(__always)
    private static func store(_ value: Int32, at target: UnsafeMutableRawPointer, width: Int) {
        if width == 2 {
            target.storeBytes(of: UInt16(truncatingIfNeeded: value).littleEndian, as: UInt16.self)
        } else {
            target.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
            target.storeBytes(of: UInt8(truncatingIfNeeded: value >> 8), toByteOffset: 1, as: UInt8.self)
            target.storeBytes(of: UInt8(truncatingIfNeeded: value >> 16), toByteOffset: 2, as: UInt8.self)
        }
    }

    private func endAbsent(at index: Int64) {
        guard let since = absentSince else { return }
        absentSince = nil
        // A single sample that the headset always leaves out is held, not rejected: a mark each second would reject all.
        let shift = track.range.lowerBound - track.firstIndex
        if track.stream.isUnsent((since + shift)..<(index + shift)) { return }
        annotate(rowTexts, from: since, to: index)
    }

    @inline(__always)
    private func endNull(_ channel: Int, at index: Int64) {
        guard nullSince[channel] >= 0 else { return }
        annotate([channelTexts[channel]], from: nullSince[channel], to: index)
        nullSince[channel] = -1
    }

    private func annotate(_ texts: [String], from start: Int64, to end: Int64) {
        let onset = timeline.microseconds(ofIndex: start, in: track)
        let duration = timeline.microseconds(ofIndex: end, in: track) - onset
        for text in texts {
            annotations.append(EDFAnnotation(onsetMicroseconds: onset, durationMicroseconds: duration, text: text))
        }
    }
}
