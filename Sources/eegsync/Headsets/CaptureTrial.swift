import Bluetooth
import Capture
import Headsets

/// What a profile makes of a capture: samples, losses, rates, and the beginning of each channel for a plot.
struct CaptureTrial {
    /// One stream of the profile.
    struct Stream {
        var description: StreamDescription
        /// Blocks of samples.
        var blockCount = 0
        var sampleCount = 0
        /// Samples that the counter says are missing.
        var lostCount = 0
        /// Blocks whose counter was not ahead: repeated, or overtaken.
        var lateCount = 0
        /// Samples that a damaged frame cost.
        var damagedCount = 0
        /// The index after the samples of the first piece that had any, and when it came.
        fileprivate var first: (end: Int64, time: Duration)?
        fileprivate var last: (end: Int64, time: Duration)?
        /// By first channel of a block: the index that comes next.
        fileprivate var next = [Int64?](repeating: nil, count: StreamDescription.channelsPerBank)
        fileprivate var origin: Int64?
        /// The raw values of each channel at the beginning, by index; nil where nothing came.
        fileprivate(set) var beginning: [[Int32?]]
        /// The lowest and the highest raw value of each channel.
        fileprivate(set) var ranges: [ClosedRange<Int32>?]

        /// Samples per second by the times of arrival; nil where they show nothing.
        var measuredFrequency: Double? {
            guard let first, let last, last.time - first.time >= .milliseconds(500) else { return nil }
            return Double(last.end - first.end) / (last.time - first.time).inSeconds
        }
    }

    private(set) var streams: [Stream]
    private(set) var duration: Duration
    /// Notifications, or pieces of a byte stream, that the profile wants.
    private(set) var pieceCount = 0
    /// Those that it has no use for.
    private(set) var foreignCount = 0
    private(set) var byteCount = 0
    private(set) var discardedByteCount = 0
    private(set) var statusCount = 0
    private(set) var lastStatus: HeadsetStatus?
    /// Annotations and texts, the first of them.
    private(set) var texts: [String] = []

    private static let textsMaximum = 10

    /// Decodes a capture.
    ///
    /// - Parameter plotted: how much of the beginning is kept for a plot.
    init(_ capture: CaptureContents, profile: any HeadsetProfile, plotted: Duration) {
        duration = capture.duration
        streams = profile.streams.map { description in
            let count = Int(min(200_000, (plotted.inSeconds * description.samplingFrequency).rounded(.up)))
            return Stream(
                description: description,
                beginning: description.channels.map { _ in [Int32?](repeating: nil, count: count) },
                ranges: description.channels.map { _ in nil })
        }
        // What commands read is played as if it had been notified.
        let reads = CommandPurpose.allCases.flatMap { profile.commands(for: $0, status: nil) }.compactMap { step in
            if case .read(let characteristic) = step { characteristic } else { nil }
        }
        let wanted = profile.requiredCharacteristics + reads
        var decoder = profile.makeDecoder()
        var decoded = Decoded()
        var iterator = capture.pieces.makeIterator()
        while let piece = iterator.next() {
            guard wanted.contains(piece.characteristic) else {
                foreignCount += 1
                continue
            }
            pieceCount += 1
            byteCount += piece.value.count
            decoded.removeAll()
            decoder.decode(piece.value, from: piece.characteristic, into: &decoded)
            for item in decoded.items { take(item, decoded.values, at: piece.time) }
        }
    }

    private mutating func take(_ item: DecodedItem, _ values: [Int32], at time: Duration) {
        switch item {
        case .samples(let block):
            guard streams.indices.contains(block.stream) else { return }
            streams[block.stream].take(block, values[block.values], at: time)
        case .discarded(let count): discardedByteCount += count
        case .damaged(let stream, let count):
            if streams.indices.contains(stream) { streams[stream].damagedCount += count }
        case .status(let status):
            statusCount += 1
            lastStatus = status
        case .event(let event): if texts.count < Self.textsMaximum { texts.append(event.description) }
        case .message(let text): if texts.count < Self.textsMaximum { texts.append(text) }
        case .overwritten, .drainEnded, .unsent, .periodMark, .impedance, .answered, .refused,
            .deviceInformation:
            break
        }
    }
}

extension CaptureTrial.Stream {
    fileprivate mutating func take(_ block: SampleBlock, _ values: ArraySlice<Int32>, at time: Duration) {
        let group = min(max(0, block.firstChannel), next.count - 1)
        let step = Int64(description.samplesPerCount)
        var index = next[group] ?? origin ?? 0
        if let counter = block.counter {
            let modulus = description.counterModulus ?? 1 << 32
            if let expected = next[group] ?? origin {
                let ahead = (Int64(counter) - expected / step) % modulus
                let forward = ahead < 0 ? ahead + modulus : ahead
                // More than half a turn ahead is a little behind.
                index = (expected / step + (forward > modulus / 2 ? forward - modulus : forward)) * step
                if index < expected, next[group] != nil {
                    lateCount += 1
                    return
                }
                if next[group] != nil { lostCount += Int(index - expected) }
            } else {
                index = Int64(counter) * step
            }
        }
        blockCount += 1
        sampleCount += block.instantCount
        let begin = origin ?? index
        origin = begin
        let end = index + Int64(block.instantCount)
        next[group] = end
        if let known = first, known.time < time {
            last = (max(end, last?.end ?? end), time)
        } else {
            first = (max(end, first?.end ?? end), time)
        }
        keep(block, values, from: index - begin)
    }

    private mutating func keep(_ block: SampleBlock, _ values: ArraySlice<Int32>, from index: Int64) {
        var offset = values.startIndex
        for instant in 0..<block.instantCount {
            for channel in block.firstChannel..<block.firstChannel + block.channelCount where channel < beginning.count {
                let value = values[offset + channel - block.firstChannel]
                ranges[channel] = ranges[channel].map { min($0.lowerBound, value)...max($0.upperBound, value) } ?? value...value
                let at = index + Int64(instant)
                if at >= 0, at < beginning[channel].count { beginning[channel][Int(at)] = value }
            }
            offset += block.channelCount
        }
    }
}
