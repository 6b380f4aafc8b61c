import Foundation
import Headsets
package import Storage
import Synchronization

/// The least and the greatest values of a stream over 128, 4,096 and 131,072 samples, kept in files beside the page: reading
/// the rows of a week takes a minute, reading these takes milliseconds.
///
/// It is a copy that may be thrown away at any time. It follows the database: it is extended as rows come, and where samples
/// have arrived after all (the ledger says so), their buckets are computed anew.
package final class SignalPyramid: Sendable {
    /// The sizes of buckets are `1 << shift` samples.
    static let shifts: [Int64] = [7, 12, 17]
    private static let formatVersion = 1

    /// What is known of the files, kept beside them.
    private struct State: Codable {
        var version = SignalPyramid.formatVersion
        var channels: Int
        /// The n at which the first bucket begins, a multiple of the largest size.
        var base: Int64
        /// Up to here, a multiple of the smallest size, all buckets are there.
        var end: Int64
        var recovered: [RecoveredGap] = []
    }

    private let stream: StreamID
    private let channels: Int
    private let statePath: String
    private let files: [BucketFile]
    private let known = Mutex<State?>(nil)

    /// - Parameter directory: where the files are, or will be.
    /// - Throws: `POSIXError` where they cannot be made.
    package init(of stream: SignalStream, directory: String) throws {
        self.stream = stream.id
        channels = stream.description.channels.count
        let path = directory + "/" + stream.uuid
        statePath = path + ".json"
        files = try Self.shifts.map { [channels] in try BucketFile(path: "\(path).\($0)", channels: channels) }
        let kept = try? JSONDecoder().decode(State.self, from: Data(contentsOf: URL(fileURLWithPath: statePath)))
        if let kept, kept.version == Self.formatVersion, kept.channels == channels { known.withLock { $0 = kept } }
    }

    /// Up to which n all buckets are there; nil for none.
    package var end: Int64? { known.withLock { $0?.end } }

    /// Reads rows until the buckets are complete, or a limit is reached.
    ///
    /// - Parameters:
    ///   - extent: from the first to the newest row.
    ///   - limit: about the most n that are looked at.
    /// - Returns: whether it is complete: up to the newest row but for the last bucket.
    package func extend(from store: some Store, extent: ClosedRange<Int64>, limit: Int64) throws -> Bool {
        let shift = Self.shifts[0]
        let kept = known.withLock { $0 }
        let isNew = kept.map { extent.lowerBound < $0.base } ?? true
        if isNew { for file in files { file.clear() } }
        var state =
            kept.flatMap { isNew ? nil : $0 }
            ?? State(
                channels: channels, base: Self.floor(extent.lowerBound, Self.shifts[2]),
                end: Self.floor(extent.lowerBound, shift))
        var budget = limit
        for gap in try store.recoveredSamples(of: stream, before: state.end)
        where !state.recovered.contains(gap) && budget > 0 {
            let first = max(state.base, Self.floor(gap.firstN, shift))
            let last = min(state.end, Self.floor(gap.firstN &+ max(gap.count, 1) &+ (1 << shift) - 1, shift))
            if first < last { try compute(first..<last, base: state.base, store) }
            budget -= max(0, last - first)
            state.recovered.removeAll { $0.firstN == gap.firstN && $0.channel == gap.channel }
            state.recovered.append(gap)
        }
        let whole = Self.floor(extent.upperBound &+ 1, shift)
        let (before, next) = (state.end, min(whole, Self.floor(state.end + max(0, budget), shift)))
        if next > before {
            try compute(before..<next, base: state.base, store)
            state.end = next
            // What had arrived after all by now is in what was just read.
            state.recovered = try store.recoveredSamples(of: stream, before: next).filter {
                state.recovered.contains($0) || $0.firstN >= before
            }
        }
        let reached = state
        known.withLock { $0 = reached }
        try keep(reached)
        return state.end >= whole && budget > 0
    }

    /// The multiple of `1 << shift` at or below a number.
    private static func floor(_ n: Int64, _ shift: Int64) -> Int64 { (n >> shift) << shift }

    private func keep(_ state: State) throws {
        // A power cut must not leave a state that says more than the files hold.
        for file in files { file.synchronize() }
        try JSONEncoder().encode(state).write(to: URL(fileURLWithPath: statePath), options: .atomic)
    }

    /// Computes the buckets of a range of n, which begins and ends with one of the smallest size, from its rows, and those
    /// above.
    private func compute(_ range: Range<Int64>, base: Int64, _ store: some Store) throws {
        let shift = Self.shifts[0]
        let rowsPerRead = 32_768
        var next = range.lowerBound
        while next < range.upperBound {
            let end = min(range.upperBound, next + Int64(rowsPerRead))
            let rows = try store.rows(of: stream, channelCount: channels, in: next...(end - 1), limit: rowsPerRead)
            let words = buckets(rows, from: next, count: Int((end - next) >> shift))
            try files[0].write(words, at: (next - base) >> shift)
            next = end
        }
        for level in files.indices.dropFirst() {
            let (size, step) = (Self.shifts[level], Self.shifts[level] - Self.shifts[level - 1])
            let first = (range.lowerBound - base) >> size
            let last = (range.upperBound - 1 - base) >> size
            for index in first...last {
                let children = try files[level - 1].read((index << step)..<((index + 1) << step))
                try files[level].write(files[level].merged(children), at: index)
            }
        }
    }

    private func buckets(_ rows: SampleChunk, from first: Int64, count: Int) -> [Int32] {
        let size = files[0].wordCount
        var words = (0..<count).flatMap { _ in files[0].empty }
        for (row, n) in rows.n.enumerated() {
            let begin = Int((n - first) >> Self.shifts[0]) * size
            guard begin >= 0, begin < words.count else { continue }
            let missing = rows.missingChannels[row]
            for channel in 0..<channels where missing & (1 << UInt8(channel)) == 0 {
                let value = rows.values[row * channels + channel]
                let (low, high) = (begin + channel, begin + channels + channel)
                if words[low] == SignalColumns.nothing {
                    words[low] = value
                    words[high] = value
                } else {
                    if value < words[low] { words[low] = value }
                    if value > words[high] { words[high] = value }
                }
            }
            words[begin + 2 * channels] += 1
        }
        return words
    }

    /// Calls `body` for the buckets of a level that lie within a range of n, with the n of each, and the words of all.
    ///
    /// - Returns: the range of n that they cover; nil where none is there.
    func forEachBucket(
        level: Int, in range: Range<Int64>, _ body: (_ first: Int64, _ words: ArraySlice<Int32>) throws -> Void
    ) throws -> Range<Int64>? {
        guard let state = known.withLock({ $0 }) else { return nil }
        let shift = Self.shifts[level]
        let first = max((range.lowerBound - state.base + (1 << shift) - 1) >> shift, 0)
        let end = (min(range.upperBound, state.end) - state.base) >> shift
        guard first < end else { return nil }
        let words = try files[level].read(first..<end)
        let size = files[level].wordCount
        for index in first..<end {
            let begin = Int(index - first) * size
            try body(state.base + (index << shift), words[begin..<(begin + size)])
        }
        return (state.base + (first << shift))..<(state.base + (end << shift))
    }
}

extension SignalPyramid {
    /// Removes the files of streams that are not there any more: of a recording that was deleted, nothing stays here either.
    ///
    /// - Parameter streams: the identifiers of those that are.
    package static func removeFiles(but streams: Set<String>, directory: String) {
        let manager = FileManager.default
        for name in (try? manager.contentsOfDirectory(atPath: directory)) ?? [] {
            let identifier = name.split(separator: ".").first.map(String.init) ?? ""
            let isOurs = name.hasSuffix(".json") || shifts.contains { name.hasSuffix(".\($0)") }
            if isOurs, !streams.contains(identifier) { try? manager.removeItem(atPath: directory + "/" + name) }
        }
    }
}
