import Foundation
import Glibc
import Headsets
package import Storage
import Synchronization

/// The least and the greatest values of a stream over 128, 4,096 and 131,072 samples, kept in files beside the page: reading
/// the rows of a week takes a minute, reading these takes milliseconds.
///
/// It is a copy that may be thrown away at any time: files that are not as they were written are made anew. It follows the
/// database: it is extended as rows come, and where samples have arrived after all (the ledger says so), their buckets are
/// computed anew, a part of a long gap at a time. One process at a time has the files.
package final class SignalPyramid: Sendable {
    /// The sizes of buckets are `1 << shift` samples.
    static let shifts: [Int64] = [7, 12, 17]
    private static let formatVersion = 2
    /// So many n later what is known of the files is written again: a process that ends loses no more, which the next one
    /// computes in a tenth of a second.
    private static let keptEvery: Int64 = 32_768

    /// What is known of the files, kept beside them.
    private struct State: Codable {
        var version = SignalPyramid.formatVersion
        var channels: Int
        /// The n at which the first bucket begins, a multiple of the largest size.
        var base: Int64
        /// From the base up to here, a multiple of the smallest size, all whole buckets are there.
        var end: Int64
        /// What is in the buckets of what has arrived after all.
        var recovered: [RecoveredGap] = []
    }

    /// The latest gap whose buckets were computed anew.
    private struct Pass {
        /// As the ledger had it when this began: what arrived meanwhile may lie behind, and is for the next one.
        var gap: RecoveredGap
        /// Where it goes on; nil at its end.
        var next: Int64?

        func isOf(_ other: RecoveredGap) -> Bool { other.firstN == gap.firstN && other.channel == gap.channel }

        /// The order in which gaps have their turn: this one to its end, then those behind it, then from the beginning. So one
        /// into which samples come all the time keeps none waiting.
        func inTurn(_ gaps: [RecoveredGap]) -> [RecoveredGap] {
            let first = gaps.firstIndex { other in
                isOf(other) ? next != nil : (other.firstN, other.channel) > (gap.firstN, gap.channel)
            }
            return first.map { Array(gaps[$0...] + gaps[..<$0]) } ?? gaps
        }
    }

    private struct Known {
        var state: State?
        /// As it was written last.
        var kept: State?
        var pass: Pass?
        /// Where something has arrived after all that is not in the buckets.
        var behind: [Range<Int64>] = []
    }

    private let stream: StreamID
    private let channels: Int
    private let directory: String
    private let statePath: String
    private let reserve: DiskReserve
    private let files: [BucketFile]
    private let known = Mutex(Known())

    /// - Parameters:
    ///   - directory: where the files are, or will be.
    ///   - reserve: what of its disk is not filled.
    /// - Throws: ``PictureFileError`` where they cannot be made.
    package init(
        of stream: SignalStream, directory: String, reserve: DiskReserve = DiskReserve()
    ) throws(PictureFileError) {
        // A database of somebody else may have anything as an identifier, and files have its name.
        guard UUID(uuidString: stream.uuid) != nil else { throw PictureFileError(code: EINVAL) }
        self.stream = stream.id
        self.directory = directory
        self.reserve = reserve
        channels = stream.description.channels.count
        let path = directory + "/" + stream.uuid
        statePath = path + ".json"
        var files: [BucketFile] = []
        for shift in Self.shifts { files.append(try BucketFile(path: "\(path).\(shift)", channels: channels)) }
        self.files = files
        let kept = try? JSONDecoder().decode(State.self, from: Data(contentsOf: URL(fileURLWithPath: statePath)))
        if let kept, let extent = stream.extent, isSound(kept, extent) {
            known.withLock { $0 = Known(state: kept, kept: kept) }
        } else {
            for file in files { file.clear() }
        }
    }

    /// Whether the files are long enough for what is said of them, and the stream is, too.
    private func isSound(_ state: State, _ extent: ClosedRange<Int64>) -> Bool {
        guard state.version == Self.formatVersion, state.channels == channels,
            state.base == Self.floor(extent.lowerBound, Self.shifts[2]), state.end >= state.base,
            state.end <= Self.floor(extent.upperBound &+ 1, Self.shifts[0]),
            state.end == Self.floor(state.end, Self.shifts[0])
        else { return false }
        return zip(files, Self.shifts).allSatisfy { $0.bucketCount >= (state.end - state.base) >> $1 }
    }

    /// Up to which n all buckets are there; nil for none.
    package var end: Int64? { known.withLock { $0.state?.end } }

    /// True where something that arrived after all in a range of n is not in the buckets yet, as far as was looked.
    func lacks(_ range: Range<Int64>) -> Bool { known.withLock { $0.behind.contains { $0.overlaps(range) } } }

    /// True where the files were removed: another object makes them anew.
    package var isLost: Bool { !files.allSatisfy(\.isNamed) }

    /// Reads rows until the buckets are complete, or a limit is reached: new ones first, then those that arrived after all.
    ///
    /// - Parameters:
    ///   - extent: from the first to the newest row.
    ///   - limit: about the most n that are looked at.
    /// - Returns: whether it is complete: up to the newest row but for the last bucket, with what had arrived after all.
    /// - Throws: `StorageError` where rows cannot be read; ``PictureFileError`` where buckets cannot be kept.
    package func extend(from store: some Store, extent: ClosedRange<Int64>, limit: Int64) throws -> Bool {
        guard !isLost else { throw PictureFileError(code: ENOENT) }
        let shift = Self.shifts[0]
        let before = known.withLock { $0 }
        let isNew = before.state.map { extent.lowerBound < $0.base } ?? true
        if isNew { for file in files { file.clear() } }
        let base = Self.floor(extent.lowerBound, Self.shifts[2])
        var state = before.state.flatMap { isNew ? nil : $0 } ?? State(channels: channels, base: base, end: base)
        var budget = max(0, limit)
        let whole = Self.floor(extent.upperBound &+ 1, shift)
        let (begin, next) = (state.end, min(whole, Self.floor(state.end + budget, shift)))
        // Read before the rows: what arrives meanwhile changes it.
        let ledger = try store.recoveredSamples(of: stream, before: max(begin, next))
        var painted = Set(state.recovered)
        if next > begin {
            try compute(begin..<next, of: state, until: next, store)
            state.end = next
            budget -= next - begin
            // What had arrived after all by then is in what was just read.
            state.recovered = ledger.filter { painted.contains($0) || $0.firstN >= begin }
            painted = Set(state.recovered)
        }
        let changed = ledger.filter { !painted.contains($0) }
        var pass = isNew ? nil : before.pass
        var behind: [Range<Int64>] = []
        var isRecomputed = false
        for gap in pass?.inTurn(changed) ?? changed {
            let range = buckets(of: gap, in: state)
            guard budget > 0 else {
                behind.append(range)
                continue
            }
            var present = pass.flatMap { $0.isOf(gap) && $0.next != nil ? $0 : nil } ?? Pass(gap: gap, next: range.lowerBound)
            let first = max(range.lowerBound, present.next ?? range.lowerBound)
            let last = min(range.upperBound, first + max(1 << shift, Self.floor(budget, shift)))
            if first < last { try compute(first..<last, of: state, until: state.end, store) }
            budget -= max(0, last - first)
            present.next = last < range.upperBound ? last : nil
            pass = present
            if present.next != nil {
                behind.append(range)
                continue
            }
            state.recovered.removeAll { present.isOf($0) }
            state.recovered.append(present.gap)
            // What has arrived during the pass may lie in what was computed before that.
            if present.gap != gap { behind.append(range) }
            isRecomputed = true
        }
        let (reached, reachedPass, left) = (state, pass, behind)
        known.withLock { ($0.state, $0.pass, $0.behind) = (reached, reachedPass, left) }
        // A bucket of before has a checksum, too: it must not come back from a power cut.
        if isRecomputed { for file in files { file.synchronize() } }
        let isOld = before.kept.map { reached.end - $0.end >= Self.keptEvery } ?? true
        if isNew || isRecomputed || isOld { try keep(reached) }
        return state.end >= whole && behind.isEmpty
    }

    /// The n of the buckets that hold a gap, as far as they are there.
    private func buckets(of gap: RecoveredGap, in state: State) -> Range<Int64> {
        let size = Int64(1) << Self.shifts[0]
        let first = max(state.base, Self.floor(gap.firstN, Self.shifts[0]))
        let last = min(state.end, Self.floor(gap.firstN &+ max(gap.count, 1) &+ size &- 1, Self.shifts[0]))
        return first..<max(first, last)
    }

    /// The multiple of `1 << shift` at or below a number.
    private static func floor(_ n: Int64, _ shift: Int64) -> Int64 { (n >> shift) << shift }

    private func keep(_ state: State) throws(PictureFileError) {
        do {
            try JSONEncoder().encode(state).write(to: URL(fileURLWithPath: statePath), options: .atomic)
        } catch {
            throw PictureFileError(code: EIO)
        }
        known.withLock { $0.kept = state }
    }

    /// Nothing is known of the files any more: they are made anew.
    private func forget() { known.withLock { $0 = Known() } }

    /// Computes the buckets of a range of n, which begins and ends with one of the smallest size, from its rows, and those
    /// above that are whole.
    ///
    /// - Parameter end: up to there the buckets of the smallest size are there, when this is done.
    private func compute(_ range: Range<Int64>, of state: State, until end: Int64, _ store: some Store) throws {
        let (shift, base) = (Self.shifts[0], state.base)
        try requireRoom(for: range.upperBound - range.lowerBound)
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
            let last = min(((range.upperBound - 1 - base) >> size) + 1, (end - base) >> size)
            for index in first..<max(first, last) {
                try merge((index << step)..<((index + 1) << step), into: index, level: level)
            }
        }
    }

    /// Computes a bucket from those below it.
    private func merge(_ children: Range<Int64>, into index: Int64, level: Int) throws(PictureFileError) {
        do {
            try files[level].write(files[level].merged(files[level - 1].read(children)), at: index)
        } catch {
            forget()
            throw error
        }
    }

    private func requireRoom(for samples: Int64) throws(PictureFileError) {
        // The levels above take a thirtieth more.
        let bytes = ((samples >> Self.shifts[0]) + 1) * Int64(files[0].wordCount * 4) / 30 * 31
        do {
            try reserve.require(max(1, bytes), at: directory, for: "a picture")
        } catch {
            throw PictureFileError(code: ENOSPC)
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
    /// - Returns: the range of n that they cover; nil where none is there, or one is not as it was written.
    func forEachBucket(
        level: Int, in range: Range<Int64>, _ body: (_ first: Int64, _ words: ArraySlice<Int32>) throws -> Void
    ) throws -> Range<Int64>? {
        guard let state = known.withLock({ $0.state }) else { return nil }
        let shift = Self.shifts[level]
        let first = max((range.lowerBound - state.base + (1 << shift) - 1) >> shift, 0)
        let end = (min(range.upperBound, state.end) - state.base) >> shift
        guard first < end else { return nil }
        let words: [Int32]
        do {
            words = try files[level].read(first..<end)
        } catch {
            forget()
            return nil
        }
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
            guard let identifier = identifier(ofFile: name), !streams.contains(identifier) else { continue }
            try? manager.removeItem(atPath: directory + "/" + name)
        }
    }

    /// The identifier of the stream whose file has a name; nil for names of other files.
    private static func identifier(ofFile name: String) -> String? {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2, UUID(uuidString: parts[0]) != nil else { return nil }
        return parts[1] == "json" || shifts.contains { parts[1] == String($0) } ? parts[0] : nil
    }
}
