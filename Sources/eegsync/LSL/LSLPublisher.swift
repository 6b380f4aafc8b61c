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
    }

    private var names = TapNames()
    private var streams: [StreamID: Stream] = [:]
    private var markers: [RecordingID: any Outlet] = [:]
    private var headers: [RecordingID: LSLHeader] = [:]
    /// What came before the headers were known.
    private var waitingMarks: [RecordingID: [TapMark]] = [:]
    /// What the greeting has named; nil once it is over.
    private var greeted: (recordings: Set<RecordingID>, number: UInt64)?
    private let makeOutlet: MakeOutlet
    /// What the database has of a recording; nil where it has none yet.
    private let contents: (RecordingID) -> RecordingContents?
    private let clock: () -> LSLClock

    /// A stream waits for the database for so many messages; then its header says less.
    private static let waitingMaximum = 400

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

    /// Takes a message.
    mutating func take(_ message: TapMessage) throws(LSLError) {
        names.take(message.content)
        noteGreeting(message)
        switch message.content {
        case .stream(let stream): if streams[stream.id] == nil { streams[stream.id] = Stream(entered: stream) }
        case .samples(let samples): try take(samples)
        case .committed(let commit):
            // The database has by now what a headset says of itself when it connects.
            for stream in commit.rows.map(\.stream) { try open(stream, isUrgent: true) }
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
        guard stream.live != nil else {
            streams[id]?.waiting.append(samples)
            guard stream.waiting.isEmpty || stream.waiting.count >= Self.waitingMaximum else { return }
            return try open(id, isUrgent: !stream.waiting.isEmpty)
        }
        push(samples, of: id)
    }

    private func push(_ samples: TapSamples, of id: StreamID) {
        guard let stream = streams[id], samples.time != nil else { return }
        let outlet = samples.isLate ? stream.late : stream.live
        let channels = stream.entered.description.channels
        let (rows, clock) = (samples.rows, clock())
        guard rows.channelCount == channels.count else { return }
        var values: [Double] = []
        values.reserveCapacity(rows.values.count)
        for row in 0..<rows.rowCount {
            let missing = rows.missingChannels.isEmpty ? 0 : rows.missingChannels[row]
            for (index, channel) in channels.enumerated() {
                let raw = rows.values[row * channels.count + index]
                values.append(missing >> index & 1 == 1 ? .nan : channel.scale * Double(raw) + channel.offset)
            }
        }
        let stamps = (0..<rows.rowCount).compactMap { samples.time(ofRow: $0).map(clock.stamp) }
        outlet?.push(values, stamps: stamps)
    }

    /// Offers a stream, once its header can be made.
    ///
    /// - Parameter isUrgent: also with what the tap alone says of the headset.
    private mutating func open(_ id: StreamID, isUrgent: Bool) throws(LSLError) {
        guard let stream = streams[id], stream.live == nil,
            let header = try header(of: stream.entered.recording, isUrgent: isUrgent)
        else { return }
        for isLate in [false, true] {
            let (xml, isDouble) = header.stream(stream.entered.description, isLate: isLate)
            let outlet = try makeOutlet(xml, stream.entered.description.channels.count, isDouble)
            if isLate { streams[id]?.late = outlet } else { streams[id]?.live = outlet }
        }
        let waiting = streams[id]?.waiting ?? []
        streams[id]?.waiting.removeAll()
        for samples in waiting { push(samples, of: id) }
    }

    /// The headers of a recording, once they say for good which headset it is: a `source_id` must not change.
    private mutating func header(of recording: RecordingID, isUrgent: Bool) throws(LSLError) -> LSLHeader? {
        if let known = headers[recording] { return known }
        var found = contents(recording)
        if found?.serialNumber == nil, !isUrgent { return nil }
        if found == nil, isUrgent, let headset = names.headsets[recording] {
            found = RecordingContents(
                id: recording, headsetName: headset.name, model: headset.model, serialNumber: nil, label: nil, subject: nil,
                task: nil, startUnixNanoseconds: nil, streams: [], annotations: [])
        }
        guard let header = found.map(LSLHeader.init) else { return nil }
        headers[recording] = header
        // Offered before the first mark, so that inlets are there when it comes.
        markers[recording] = try makeOutlet(header.markers(), 1, false)
        for mark in waitingMarks.removeValue(forKey: recording) ?? [] { push(mark) }
        return header
    }

    // MARK: Marks

    private mutating func take(_ mark: TapMark) throws(LSLError) {
        let recording = mark.annotation.recording
        if try header(of: recording, isUrgent: false) != nil { return push(mark) }
        guard waitingMarks[recording, default: []].count < Self.waitingMaximum else { return }
        waitingMarks[recording, default: []].append(mark)
    }

    private func push(_ mark: TapMark) {
        markers[mark.annotation.recording]?.push(mark.annotation.description, stamp: clock().stamp(mark.annotation.onset))
    }
}

extension LSLOutlet: LSLPublisher.Outlet {}
