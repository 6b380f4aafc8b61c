import Bluetooth
import Headsets
import Storage
import Tap

/// A reader of the tap that keeps what it hears, and compares it with the database.
final class TapWitness {
    /// A row as it was said.
    struct Row: Hashable {
        var values: [Int32]
        var missing: UInt8
    }

    private(set) var messages: [TapMessage] = []
    /// What does not agree.
    private(set) var problems: [String] = []
    private(set) var rowCount = 0
    private(set) var committedCount = 0
    private var rows: [StreamID: [Int64: Row]] = [:]
    private var committed: [StreamID: Set<Int64>] = [:]
    /// Rows that really were stored, where somebody says so.
    private var stored: [StreamID: Set<Int64>]?
    private var streams: Set<StreamID> = []
    /// What an earlier process said and did not call stored.
    private var repeatable: [StreamID: Set<Int64>] = [:]
    private var latestNumber: UInt64 = 0
    private let keepsMessages: Bool

    /// - Parameter keepsMessages: false where they are too many.
    init(keepsMessages: Bool = true) { self.keepsMessages = keepsMessages }

    /// Hears.
    func hear(_ said: [TapMessage]) {
        if keepsMessages { messages += said }
        for message in said { take(message) }
    }

    /// A batch was stored, whatever the tap says.
    func store(_ batch: WriteBatch) {
        stored = stored ?? [:]
        for run in batch.samples {
            let numbers = run.firstN..<run.firstN + Int64(run.rowCount)
            stored?[run.stream, default: []].formUnion(numbers)
            if let unsaid = numbers.first(where: { rows[run.stream]?[$0] == nil }) {
                problems.append("n \(unsaid) of stream \(run.stream.rawValue) was stored before it was said")
            }
        }
    }

    private func take(_ message: TapMessage) {
        switch message.content {
        case .hello:
            // Another process: what the one before had not stored may come again. A transaction that was under way when it
            // died may have been completed, so it is kept.
            for (stream, rows) in rows { repeatable[stream] = Set(rows.keys).subtracting(committed[stream] ?? []) }
            latestNumber = message.number
        case .stream(let stream): streams.insert(stream.id)
        default: break
        }
        if message.number != latestNumber, message.number != latestNumber + 1 {
            problems.append("message \(message.number) follows \(latestNumber)")
        }
        latestNumber = message.number
        switch message.content {
        case .samples(let samples): take(samples)
        case .fill(let fill): take(fill)
        case .committed(let commit): take(commit, at: message)
        default: break
        }
    }

    private func take(_ samples: TapSamples) {
        let run = samples.rows
        rowCount += run.rowCount
        if !streams.contains(run.stream) { problems.append("stream \(run.stream.rawValue) was not said") }
        for row in 0..<run.rowCount {
            let n = run.firstN + Int64(row)
            if rows[run.stream]?[n] != nil, repeatable[run.stream]?.remove(n) == nil {
                problems.append("n \(n) of stream \(run.stream.rawValue) was said twice")
            }
            rows[run.stream, default: [:]][n] = Row(
                values: Array(run.values[row * run.channelCount..<(row + 1) * run.channelCount]),
                missing: run.missingChannels.isEmpty ? 0 : run.missingChannels[row])
        }
    }

    private func take(_ fill: ChannelFill) {
        for (offset, value) in fill.values.enumerated() {
            let n = fill.firstN + Int64(offset)
            rows[fill.stream]?[n]?.values[fill.channel - 1] = value
            rows[fill.stream]?[n]?.missing &= ~(1 << (fill.channel - 1))
        }
    }

    private func take(_ commit: TapCommit, at message: TapMessage) {
        if commit.through >= message.number { problems.append("\(message.number) says that what follows is stored") }
        for run in commit.rows {
            let numbers = run.firstN..<run.firstN + run.count
            committedCount += Int(run.count)
            committed[run.stream, default: []].formUnion(numbers)
            if let stored, let early = numbers.first(where: { stored[run.stream]?.contains($0) != true }) {
                problems.append("n \(early) of stream \(run.stream.rawValue) is said to be stored and is not")
            }
            if let unsaid = numbers.first(where: { rows[run.stream]?[$0] == nil }) {
                problems.append("n \(unsaid) of stream \(run.stream.rawValue) is stored and was never said")
            }
        }
    }

    /// Compares what was said with everything that is stored. Returns how many rows were compared.
    func compare(with store: some Store) throws -> Int {
        var compared = 0
        for summary in try store.recordings() {
            let reader = try store.reader(of: RecordingID(rawValue: summary.id))
            for stream in reader.contents.streams {
                guard let first = stream.firstN, let last = stream.lastN else { continue }
                var unstored = committed[stream.id] ?? []
                let width = stream.description.channels.count
                try reader.forEachChunk(of: stream.id, in: first...last, rowsPerChunk: 4096) { chunk in
                    for (row, n) in chunk.n.enumerated() {
                        compared += 1
                        unstored.remove(n)
                        let said = rows[stream.id]?[n]
                        let missing = chunk.missingChannels[row]
                        let isSame =
                            said?.missing == missing
                            && (0..<width).allSatisfy { channel in
                                missing >> channel & 1 == 1 || said?.values[channel] == chunk.values[row * width + channel]
                            }
                        if !isSame { problems.append("n \(n) of stream \(stream.id.rawValue) is stored otherwise than said") }
                    }
                }
                if let n = unstored.min() { problems.append("n \(n) of stream \(stream.id.rawValue) was said to be stored") }
            }
        }
        return compared
    }

    /// Compares the pieces of the time map, and the time that was said of each sample, with those that are stored.
    ///
    /// - Returns: how many pieces there are, and the largest difference of a sample's time, in nanoseconds.
    func compareTimes(with store: some Store, of recording: RecordingID) throws -> (pieces: Int, difference: Int64) {
        var (pieces, difference) = (0, Int64(0))
        for stream in try store.streams(of: recording) {
            let segments = try store.evidence(of: stream).segments.map(\.record)
            pieces += segments.count
            var said: [Int64: SegmentRecord] = [:]
            for message in messages {
                if case .segment(let segment) = message.content, segment.stream == stream { said[segment.firstN] = segment }
            }
            if said.values.sorted(by: { $0.firstN < $1.firstN }) != segments {
                problems.append("the time map of stream \(stream.rawValue) is stored otherwise than said")
            }
            for message in messages {
                guard case .samples(let samples) = message.content, samples.rows.stream == stream, let time = samples.time,
                    let segment = segments.last(where: { $0.firstN <= samples.rows.firstN })
                else { continue }
                let span = Double(samples.rows.firstN - segment.referenceN) * segment.periodNanoseconds
                let stored = segment.referenceTime.nanoseconds + Int64(span.rounded())
                let apart = abs(time.first.nanoseconds - stored)
                difference = max(difference, apart)
                let tolerance = (time.uncertaintyNanoseconds ?? 0) + (segment.uncertaintyNanoseconds ?? 0)
                if Double(apart) > tolerance + 1 {
                    problems.append("n \(samples.rows.firstN) was said \(apart) ns from where it is, +- \(tolerance)")
                }
            }
        }
        return (pieces, difference)
    }
}
