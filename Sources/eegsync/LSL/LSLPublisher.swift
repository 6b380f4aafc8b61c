import Bluetooth
import Export
import Headsets
import Storage
import Tap

/// From what the tap says to outlets: one for each stream of each recording that goes on, one for what comes late of it, and
/// one for the marks of each headset.
struct LSLPublisher {
    /// What sends; liblsl's outlet but in tests.
    protocol Outlet: AnyObject {
        func push(_ values: [Double], stamps: [Double])
        func push(_ text: String, stamp: Double)
    }

    /// Makes an outlet of a header.
    typealias MakeOutlet = (_ header: String, _ channelCount: Int, _ isDouble: Bool) throws(LSLError) -> any Outlet

    private struct Stream {
        var entered: NewStream
        var live: (any Outlet)?
        /// Of rows from the headset's memory, which come in no regular order. Offered from the beginning: what is sent before
        /// an inlet is there is lost to it.
        var late: (any Outlet)?
        /// What came before the database had the recording.
        var waiting: [TapSamples] = []
        /// How many messages came since it was last tried to offer it.
        var untriedCount = 0
        var sent = SentRows()
    }

    private var names = TapNames()
    private var streams: [StreamID: Stream] = [:]
    private var markers: [RecordingID: any Outlet] = [:]
    private var headers: [RecordingID: LSLHeader] = [:]
    /// What keeps outlets from being made, and was said.
    private var problems: Set<LSLError> = []
    /// What came before the headers were known.
    private var waitingMarks: [RecordingID: [TapMark]] = [:]
    /// What the greeting has named; nil once it is over.
    private var greeted: (recordings: Set<RecordingID>, number: UInt64)?
    private let makeOutlet: MakeOutlet
    /// What the database has of a recording; nil where it has none yet.
    private let contents: (RecordingID) -> RecordingContents?
    private let clock: () -> LSLClock

    /// A stream waits for the database for so many messages; then its header says less. Where even then it cannot be offered,
    /// it is tried again after as many, and the oldest are dropped.
    static let waitingMaximum = 400

    init(
        makeOutlet: @escaping MakeOutlet, contents: @escaping (RecordingID) -> RecordingContents?,
        clock: @escaping () -> LSLClock
    ) {
        (self.makeOutlet, self.contents, self.clock) = (makeOutlet, contents, clock)
    }

    /// The streams that are offered, by name of headset and stream.
    var offered: [String] {
        streams.values.filter { $0.live != nil }.map { stream in
            "\(names.headsets[stream.entered.recording]?.name ?? "")-\(stream.entered.description.bankName)"
        }.sorted()
    }

    /// How many messages of samples wait for outlets.
    var waitingCount: Int { streams.values.reduce(0) { $0 + $1.waiting.count } }

    /// Takes a message.
    ///
    /// - Throws: ``LSLError`` where an outlet cannot be made: once, until one could be made again.
    mutating func take(_ message: TapMessage) throws(LSLError) {
        do throws(LSLError) {
            try takeContent(of: message)
        } catch {
            if problems.insert(error).inserted { throw error }
        }
    }

    private mutating func takeContent(of message: TapMessage) throws(LSLError) {
        names.take(message.content)
        noteGreeting(message)
        switch message.content {
        case .stream(let stream): if streams[stream.id] == nil { streams[stream.id] = Stream(entered: stream) }
        case .samples(let samples): try take(samples)
        case .committed(let commit): try take(commit)
        case .mark(let mark): try take(mark)
        case .recording(.stopped(let recording, _)): end(recording)
        default: break
        }
    }

    /// What a greeting does not name has ended while nobody listened. Streams keep their outlets over a restart of the daemon.
    private mutating func noteGreeting(_ message: TapMessage) {
        switch message.content {
        case .hello: greeted = ([], message.number)
        case .headset(let headset): greeted?.recordings.insert(headset.recording)
        default:
            guard let (recordings, number) = greeted, message.number != number else { return }
            greeted = nil
            let known = Set(streams.values.map(\.entered.recording)).union(markers.keys)
            for recording in known.subtracting(recordings) { end(recording) }
        }
    }

    private mutating func end(_ recording: RecordingID) {
        streams = streams.filter { $0.value.entered.recording != recording }
        markers[recording] = nil
        headers[recording] = nil
        waitingMarks[recording] = nil
    }

    // MARK: Samples

    private mutating func take(_ samples: TapSamples) throws(LSLError) {
        let id = samples.rows.stream
        guard let stream = streams[id] else { return }
        if stream.live != nil { return push(samples, of: id) }
        let untriedCount = stream.untriedCount + 1
        streams[id]?.waiting.append(samples)
        streams[id]?.untriedCount = untriedCount
        defer {
            let excess = (streams[id]?.waiting.count ?? 0) - Self.waitingMaximum
            if excess > 0 { streams[id]?.waiting.removeFirst(excess) }
        }
        // The first of all, and then each time that so many have come.
        let isFirst = stream.waiting.isEmpty
        if isFirst || untriedCount >= Self.waitingMaximum { try open(id, isUrgent: !isFirst) }
    }

    /// The rows of a transaction are stored, and nobody says them again.
    private mutating func take(_ commit: TapCommit) throws(LSLError) {
        var problem: LSLError?
        for rows in commit.rows {
            streams[rows.stream]?.sent.forget(rows.firstN..<max(rows.firstN, rows.firstN.addingClamped(rows.count)))
            // The database has by now what a headset says of itself when it connects.
            do throws(LSLError) { try open(rows.stream, isUrgent: true) } catch { problem = error }
        }
        if let problem { throw problem }
    }

    private mutating func push(_ samples: TapSamples, of id: StreamID) {
        guard let stream = streams[id], samples.time != nil else { return }
        let outlet = samples.isLate ? stream.late : stream.live
        let channels = stream.entered.description.channels
        let (rows, clock) = (samples.rows, clock())
        guard rows.channelCount == channels.count else { return }
        // What a daemon had said, and not stored when it was killed, comes again from a headset with a memory.
        let unsent = stream.sent.unsent(of: samples)
        streams[id]?.sent.note(samples)
        var values: [Double] = []
        values.reserveCapacity(rows.values.count)
        for row in unsent {
            let missing = rows.missingChannels.isEmpty ? 0 : rows.missingChannels[row]
            for (index, channel) in channels.enumerated() {
                let raw = rows.values[row * channels.count + index]
                values.append(missing >> index & 1 == 1 ? .nan : channel.scale * Double(raw) + channel.offset)
            }
        }
        let stamps = unsent.compactMap { samples.time(ofRow: $0).map(clock.stamp) }
        outlet?.push(values, stamps: stamps)
    }

    /// Offers a stream, once its header can be made: both of its outlets, or none.
    ///
    /// - Parameter isUrgent: also with what the tap alone says of the headset.
    private mutating func open(_ id: StreamID, isUrgent: Bool) throws(LSLError) {
        streams[id]?.untriedCount = 0
        guard let stream = streams[id], stream.live == nil,
            let header = try header(of: stream.entered.recording, isUrgent: isUrgent)
        else { return }
        let live = try outlet(of: stream, header, isLate: false)
        let late = try outlet(of: stream, header, isLate: true)
        problems.removeAll()
        streams[id]?.live = live
        streams[id]?.late = late
        streams[id]?.waiting.removeAll()
        for samples in stream.waiting { push(samples, of: id) }
    }

    private func outlet(of stream: Stream, _ header: LSLHeader, isLate: Bool) throws(LSLError) -> any Outlet {
        let (xml, isDouble) = header.stream(stream.entered.description, isLate: isLate)
        return try makeOutlet(xml, stream.entered.description.channels.count, isDouble)
    }

    /// The headers of a recording, once they say for good which headset it is: a `source_id` must not change.
    private mutating func header(of recording: RecordingID, isUrgent: Bool) throws(LSLError) -> LSLHeader? {
        if headers[recording] == nil { headers[recording] = newHeader(of: recording, isUrgent: isUrgent) }
        guard let header = headers[recording] else { return nil }
        guard markers[recording] == nil else { return header }
        // Offered before the first mark, so that inlets are there when it comes.
        markers[recording] = try makeOutlet(header.markers(), 1, false)
        for mark in waitingMarks.removeValue(forKey: recording) ?? [] { push(mark) }
        return header
    }

    private func newHeader(of recording: RecordingID, isUrgent: Bool) -> LSLHeader? {
        var found = contents(recording)
        if found?.serialNumber == nil, !isUrgent { return nil }
        if found == nil, isUrgent, let headset = names.headsets[recording] {
            found = RecordingContents(
                id: recording, headsetName: headset.name, model: headset.model, serialNumber: nil, label: nil, subject: nil,
                task: nil, startUnixNanoseconds: nil, streams: [], annotations: [])
        }
        return found.map(LSLHeader.init)
    }

    // MARK: Marks

    private mutating func take(_ mark: TapMark) throws(LSLError) {
        let recording = mark.annotation.recording
        if markers[recording] != nil { return push(mark) }
        if waitingMarks[recording, default: []].count < Self.waitingMaximum {
            waitingMarks[recording, default: []].append(mark)
        }
        _ = try header(of: recording, isUrgent: false)
    }

    private func push(_ mark: TapMark) {
        markers[mark.annotation.recording]?.push(mark.annotation.description, stamp: clock().stamp(mark.annotation.onset))
    }
}

extension LSLOutlet: LSLPublisher.Outlet {}
