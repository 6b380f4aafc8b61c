import Bluetooth
import Headsets
import Simulation
import Storage

/// Finds out which samples of a headset without counter were stored, by their values.
struct SampleSearch {
    /// So many samples in a row are found once only in some seconds of signal.
    private static let window = 64
    /// How far back and forward is searched, in samples.
    private static let reach: Int64 = 4096

    private let headset: any SessionHeadset
    private let stream: StreamContents
    private let epochs: [EpochRecord]
    private let reader: RecordingReader

    /// Rows that follow each other in the database and were taken one after the other.
    private struct Run {
        var n: Int64
        var session: Int
        var position: Int64
        var count: Int64
    }

    init(_ check: SessionCheck, _ stream: StreamContents, _ epochs: [EpochRecord]) {
        headset = check.headset
        reader = check.reader
        self.stream = stream
        self.epochs = epochs
    }

    /// When each row was taken; nil for those that were not found.
    func times() throws(StorageError) -> (Int64) -> MonotonicTime? {
        let runs = try runs()
        let sessions = headset.sessions
        let position = stream.position
        return { n in
            var (low, high) = (0, runs.count)
            while low < high {
                let middle = (low + high) / 2
                if runs[middle].n <= n { low = middle + 1 } else { high = middle }
            }
            guard low > 0, n < runs[low - 1].n + runs[low - 1].count else { return nil }
            let run = runs[low - 1]
            return sessions[run.session].time(of: run.position + n - run.n, stream: position)
        }
    }

    private func runs() throws(StorageError) -> [Run] {
        guard stream.description.channels.count == 1, let firstN = stream.firstN, let lastN = stream.lastN else { return [] }
        var (numbers, values) = ([Int64](), [Int32]())
        do {
            try reader.forEachChunk(of: stream.id, in: firstN...lastN, rowsPerChunk: 4096) { chunk in
                numbers += chunk.n
                values += chunk.values
            }
        } catch let error as StorageError {
            throw error
        } catch {
            return []
        }
        var runs: [Run] = []
        var offset = 0
        while offset < numbers.count {
            guard let epoch = epochs.last(where: { $0.firstN <= numbers[offset] }),
                let session = headset.sessions.lastIndex(where: { $0.began <= epoch.began })
            else { return runs }
            let sampled = headset.sessions[session]
            var expected = max(0, sampled.position(at: epoch.began, stream: stream.position) - Self.reach)
            if let last = runs.last, last.session == session { expected = max(expected, last.position + last.count) }
            let reach = runs.last?.session == session ? 2 * Self.reach : Self.reach + 64
            guard let found = find(values, offset, session, expected..<expected + reach) else {
                offset += 1
                continue
            }
            var count = 0
            while offset + count < numbers.count, numbers[offset + count] == numbers[offset] + Int64(count),
                sent(session, found + Int64(count)) == values[offset + count]
            {
                count += 1
            }
            runs.append(Run(n: numbers[offset], session: session, position: found, count: Int64(count)))
            offset += max(1, count)
        }
        return runs
    }

    private func find(_ values: [Int32], _ offset: Int, _ session: Int, _ positions: Range<Int64>) -> Int64? {
        guard offset + Self.window <= values.count else { return nil }
        return positions.first { position in
            (0..<Self.window).allSatisfy { sent(session, position + Int64($0)) == values[offset + $0] }
        }
    }

    private func sent(_ session: Int, _ position: Int64) -> Int32? {
        headset.sent(session: session, stream: stream.position, channel: 0, position: position)
    }
}
