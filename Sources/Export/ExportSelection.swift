import Bluetooth
import Headsets
import Storage

/// Which part of a recording is exported: the same for every format, whose writers see a recording that is no larger.
package struct ExportSelection: Hashable, Sendable {
    /// An edge of the exported time.
    ///
    /// A sample belongs to the selection if it is not before the first edge and before the second,
    /// so that two selections which meet share no sample and lose none.
    package enum Edge: Hashable, Sendable {
        /// UTC nanoseconds since 1970.
        case at(Int64)
        /// Nanoseconds after the recording's first sample.
        case afterStart(Int64)
        /// Nanoseconds before the recording's end: one sampling period after its last sample, as far as it goes now.
        case beforeEnd(Int64)
        /// A sample of the first chosen stream, and of its further banks; the other streams are cut at the time of that sample.
        case sample(Int64)
    }

    /// The first edge; nil for the recording's beginning.
    package var from: Edge?
    /// The second edge; nil for the recording's end.
    package var to: Edge?
    /// Names of streams; all of the recording's where empty.
    package var streams: [String]
    /// Names of channels in these streams; all where empty. A stream without any of them is left out.
    package var channels: [String]

    package init(from: Edge? = nil, to: Edge? = nil, streams: [String] = [], channels: [String] = []) {
        self.from = from
        self.to = to
        self.streams = streams
        self.channels = channels
    }

    /// Whether it is the whole recording.
    package var isWhole: Bool { self == ExportSelection() }

    /// The selection as the reader of a recording understands it.
    ///
    /// - Throws: ``ExportError``: `unknownStream`, `unknownChannel`, `emptyRecording` where nothing of the recording is chosen,
    ///   `notRepresentable` where edges are times and the recording has none.
    func slice(of contents: RecordingContents) throws(ExportError) -> RecordingSlice {
        let chosen = try chosenStreams(of: contents)
        let edges = try TimeEdges(self, of: contents, first: chosen.first)
        var parts: [RecordingSlice.Part] = []
        for stream in chosen {
            let all = stream.description.channels.indices
            let wanted = all.filter { channels.isEmpty || channels.contains(stream.description.channels[$0].name) }
            guard !wanted.isEmpty, stream.rowCount > 0, let range = edges.range(of: stream) else { continue }
            parts.append(RecordingSlice.Part(stream: stream.id, range: range, channels: wanted))
        }
        guard !parts.isEmpty else { throw .emptyRecording(contents.id) }
        return RecordingSlice(parts: parts, interval: from == nil && to == nil ? nil : edges.interval)
    }

    /// The streams of the chosen names, in the recording's order.
    private func chosenStreams(of contents: RecordingContents) throws(ExportError) -> [StreamContents] {
        var names: [String] = []
        for stream in contents.streams where !names.contains(stream.description.name) { names.append(stream.description.name) }
        for name in streams where !names.contains(name) { throw .unknownStream(name: name, available: names) }
        let chosen = contents.streams.filter { streams.isEmpty || streams.contains($0.description.name) }
        var available: [String] = []
        for channel in chosen.flatMap(\.description.channels) where !available.contains(channel.name) {
            available.append(channel.name)
        }
        for name in channels where !available.contains(name) { throw .unknownChannel(name: name, available: available) }
        return chosen
    }
}

/// The edges of a selection, in time and in n.
private struct TimeEdges {
    /// UTC nanoseconds since 1970, from the first edge to before the second.
    private(set) var interval: Range<Int64>
    private var from: ExportSelection.Edge?
    private var to: ExportSelection.Edge?
    /// The stream that edges in n count in.
    private var counted: String?

    init(_ selection: ExportSelection, of contents: RecordingContents, first: StreamContents?) throws(ExportError) {
        (from, to, counted) = (selection.from, selection.to, first?.description.name)
        let end = contents.streams.compactMap(\.endUnixNanoseconds).max()
        func time(_ edge: ExportSelection.Edge) -> Int64? {
            switch edge {
            case .at(let unix): unix
            case .afterStart(let span): contents.startUnixNanoseconds?.addingClamped(span)
            case .beforeEnd(let span): end?.subtractingClamped(span)
            case .sample(let n): first?.unixNanoseconds(ofSample: n)
            }
        }
        let (lower, upper) = (from.map(time), to.map(time))
        if from != nil && lower == .some(nil) || to != nil && upper == .some(nil) {
            throw .notRepresentable(
                what: "A part of recording \(contents.id.rawValue)", reason: "its samples have no times yet",
                advice: "Export the whole recording.")
        }
        let begin = lower.flatMap(\.self) ?? .min
        interval = begin..<max(begin, upper.flatMap(\.self) ?? .max)
    }

    /// Which of a stream's n's lie between the edges; nil where none does.
    func range(of stream: StreamContents) -> ClosedRange<Int64>? {
        guard let first = stream.firstN, let last = stream.lastN, first <= last else { return nil }
        let isCounted = stream.description.name == counted
        var (lower, end) = (first, last.addingClamped(1))
        switch from {
        case .sample(let n) where isCounted: lower = max(first, n)
        case nil: break
        default: lower = stream.firstSample(from: first, notBefore: interval.lowerBound) ?? end
        }
        switch to {
        case .sample(let n) where isCounted: end = min(end, n)
        case nil: break
        default: end = stream.firstSample(from: lower, notBefore: interval.upperBound) ?? end
        }
        return lower < end ? lower...(end - 1) : nil
    }
}

extension StreamContents {
    /// UTC nanoseconds since 1970 at which the sample after the last one is due; nil where the stream has none, or no times.
    fileprivate var endUnixNanoseconds: Int64? {
        guard let lastN, rowCount > 0 else { return nil }
        return unixNanoseconds(ofSample: lastN)?.addingClamped(
            Int64(clamping: (1e9 / description.samplingFrequency).rounded()))
    }

    /// The first n from `start` to the stream's last one whose time is not before an instant; nil where there is none.
    fileprivate func firstSample(from start: Int64, notBefore unix: Int64) -> Int64? {
        guard let lastN else { return nil }
        for (index, segment) in segments.enumerated() {
            // The first piece of the time map also gives the times of what lies before it, the last one of what follows.
            let first = index == 0 ? start : max(start, segment.firstN)
            let last = segments.indices.contains(index + 1) ? segments[index + 1].firstN.addingClamped(-1) : lastN
            guard first <= last, segment.unixNanoseconds(ofSample: last) >= unix else { continue }
            // Times are whole nanoseconds and ascend, so that halving finds the very sample.
            var (low, high) = (first, last)
            while low < high {
                let middle = low + Int64(UInt64(bitPattern: high &- low) / 2)
                if segment.unixNanoseconds(ofSample: middle) < unix { low = middle + 1 } else { high = middle }
            }
            return low
        }
        return nil
    }
}
