import Assembly
import Bluetooth
import Headsets
import Reconnection
import Storage

/// Everything of a headset that lives as long as the recording: its streams, in the order in which the headset describes them.
struct RecordedStreams {
    let recording: RecordingID
    /// The streams that the recording could not be gone on with.
    let unusable: [StreamID]
    /// Why samples are missing that came while no process acquired.
    let absenceCause: GapCause
    let montage: Montage?
    /// What earlier recordings have taught of the headset's clocks.
    private let learntRates: [ResumeState.LearntRate]

    var streams: [RecordedStream]
    /// Streams of an earlier shape of the headset, until their last rows are written.
    private var retired: [StreamAssembler] = []
    /// What the headset has changed of its streams.
    private var changes: StreamChanges
    /// When the latest live sample of any stream arrived.
    private(set) var latestLiveSample: MonotonicTime?
    /// The number of the latest notification.
    private(set) var notification: UInt64 = 0
    /// When streams are looked at that have fallen silent while others flow.
    private var nextSilenceCheck: MonotonicTime = .boot

    /// Goes on with what the database has.
    ///
    /// - Returns: the error beside it where its streams are described in a way that nothing can be computed from; there are
    ///   none then.
    static func resuming(
        _ resume: ResumeState, montage: Montage?
    ) -> (streams: RecordedStreams, error: StreamDescriptionError?) {
        // Of several streams at one position the latest is the headset's present shape.
        let latest = resume.streams.filter { stream in
            !resume.streams.contains { $0.position == stream.position && $0.id > stream.id }
        }
        do throws(StreamDescriptionError) {
            try StreamDescription.check(latest.map(\.description))
            return (RecordedStreams(resume, latest, unusable: [], montage: montage), nil)
        } catch {
            return (RecordedStreams(resume, [], unusable: latest.map(\.id), montage: montage), error)
        }
    }

    private init(
        _ resume: ResumeState, _ latest: [ResumeState.StreamState], unusable: [StreamID], montage: Montage?
    ) {
        recording = resume.recording
        self.unusable = unusable
        self.montage = montage
        learntRates = resume.learntRates
        let isSameHostBoot = resume.streams.allSatisfy { $0.isSameHostBoot || !$0.hasSamples }
        absenceCause = isSameHostBoot ? .daemonDown : .hostRestarted
        changes = StreamChanges(furtherStreamCount: resume.streams.count - latest.count - unusable.count)
        streams = latest.map { RecordedStream(StreamAssembler(resuming: $0)) }
        for index in streams.indices { streams[index].assembler.learn(from: learntRates) }
    }

    /// True before the headset has described anything.
    var isEmpty: Bool { streams.isEmpty }

    /// Rows that are not in a batch yet.
    var rowCount: Int {
        let present = streams.indices.reduce(0) { $0 + streams[$1].assembler.rows.draft.rowCount }
        return retired.indices.reduce(present) { $0 + retired[$1].rows.draft.rowCount }
    }

    /// The boot identifier of the latest epoch; nil where the headset has none.
    var bootIdentifier: UInt32? { streams.lazy.compactMap(\.assembler.bootIdentifier).first }

    /// What comes from here on came in one notification.
    mutating func beginNotification() { notification += 1 }

    /// Where the stream with a position lies among them.
    func index(of position: Int) -> Int? {
        if position < streams.count, streams[position].assembler.position == position { return position }
        return streams.firstIndex { $0.assembler.position == position }
    }

    // MARK: Shape

    /// True where the recording has streams of another shape than these. A headset that sends another preset than it was set
    /// to shows its streams by its first samples: until then, neither is believed.
    func hasOtherShape(than expected: [StreamDescription]) -> Bool {
        named(expected).enumerated().contains { position, description in
            streams.contains { $0.assembler.position == position && !$0.assembler.hasShape(of: description) }
        }
    }

    /// True where the recording has the stream at a position just as it is described here.
    func hasStream(_ position: Int, of descriptions: [StreamDescription]) -> Bool {
        let named = named(descriptions)
        guard named.indices.contains(position) else { return true }
        return streams.first { $0.assembler.position == position }?.assembler.hasShape(of: named[position]) ?? false
    }

    /// True where the recording has these streams and no other.
    func haveShape(of descriptions: [StreamDescription]) -> Bool {
        let named = named(descriptions)
        return named.count == streams.count && zip(streams, named).allSatisfy { $0.assembler.hasShape(of: $1) }
    }

    /// Creates the streams that the headset has and the recording does not have yet. A headset that comes back with other
    /// channels or another frequency gets further streams: its samples are not the old ones with new columns.
    ///
    /// - Parameter nextID: the first key that no stream has.
    /// - Returns: the new ones, and the positions at which they are.
    /// - Throws: why the headset cannot be recorded with them. Nothing has changed then.
    mutating func adopt(
        _ descriptions: [StreamDescription], nextID: inout StreamID, limits: AcquisitionLimits, at now: MonotonicTime
    ) throws(QuarantineReason) -> [NewStream] {
        let named = named(descriptions)
        do throws(StreamDescriptionError) {
            try StreamDescription.check(named)
        } catch {
            throw .description(fault: "\(error)")
        }
        let further = named.enumerated().count { position, description in
            !streams.contains { $0.assembler.position == position && $0.assembler.hasShape(of: description) }
        }
        if !streams.isEmpty { try changes.admit(further, limits: limits, at: now) }
        var new: [NewStream] = []
        // One suffix for all, so that the banks of a stream go on to bear one name; for all that come later, as a name may have
        // been that of another position.
        let suffix = streams.isEmpty ? "" : "_\(nextID.rawValue)"
        for (position, described) in named.enumerated() {
            if let index = streams.firstIndex(where: { $0.assembler.position == position }) {
                if streams[index].assembler.hasShape(of: described) {
                    streams[index].assembler.adopt(described)
                    continue
                }
                retire(index, at: now)
            }
            var description = described
            description.name += suffix
            new.append(NewStream(id: nextID, recording: recording, position: position, description: description))
            var assembler = StreamAssembler(id: nextID, position: position, description: description)
            assembler.learn(from: learntRates)
            streams.append(RecordedStream(assembler))
            nextID = StreamID(rawValue: nextID.rawValue + 1)
        }
        // A headset that has not said yet what it sends has not changed it.
        while !descriptions.isEmpty, let index = streams.firstIndex(where: { $0.assembler.position >= descriptions.count }) {
            retire(index, at: now)
        }
        streams.sort { $0.assembler.position < $1.assembler.position }
        return new
    }

    /// The headset does not send it any more.
    private mutating func retire(_ index: Int, at now: MonotonicTime) {
        var assembler = streams.remove(at: index).assembler
        // Where an earlier process died with it, nobody has opened the gap that lies between the two shapes.
        assembler.endRecording(at: now, absenceCause: assembler.isNumbered ? nil : absenceCause)
        retired.append(assembler)
    }

    private func named(_ descriptions: [StreamDescription]) -> [StreamDescription] {
        montage?.applied(to: descriptions) ?? descriptions
    }

    // MARK: Links

    /// The next block of each stream shows where it stands.
    ///
    /// - Parameter positions: only the streams at these; nil for all.
    mutating func beginLink(_ session: StreamingSession, of profile: any HeadsetProfile, positions: [Int]? = nil) {
        for index in streams.indices where positions?.contains(streams[index].assembler.position) ?? true {
            begin(index, session, of: profile)
        }
    }

    private mutating func begin(_ index: Int, _ session: StreamingSession, of profile: any HeadsetProfile) {
        let status = session.link.lastStatus
        let position = streams[index].assembler.position
        streams[index].beginLink(
            LinkStart(
                epochRule: profile.epochRule, bootIdentifier: status?.bootIdentifier, hasMemory: profile.memory != .none,
                buffered: status?.buffered.first { $0.stream == position }, absenceCause: absenceCause,
                stamps: profile.sampleStamps))
    }

    /// The link has ended, or the headset was let go.
    ///
    /// - Parameters:
    ///   - endsRecording: true where nothing follows: there is no gap after the last sample.
    ///   - silenceNotice: streams that were silent for so long have ended before the others.
    mutating func endLink(cause: GapCause, endsRecording: Bool, silenceNotice: Duration, at now: MonotonicTime) {
        let silent = streams.indices.filter { endsRecording && isSilent($0, for: silenceNotice) }
        for index in streams.indices {
            if silent.contains(index) { streams[index].assembler.endLink(cause: .silence, at: now) }
            if endsRecording {
                streams[index].assembler.settlePartialRows(cause: cause, at: now)
            } else {
                streams[index].assembler.endLink(cause: cause, at: now)
            }
        }
    }

    /// The headset is let go because of what it sends.
    mutating func endLinkInQuarantine(at now: MonotonicTime) {
        for index in streams.indices { streams[index].assembler.endLink(cause: .quarantined, at: now) }
    }

    /// Live samples have come.
    mutating func receivedLiveSamples(at arrival: MonotonicTime) { latestLiveSample = arrival }

    /// Streams that have ended while others flow: what is missing of them is in the ledger from now on.
    mutating func endSilentStreams(_ session: StreamingSession, of profile: any HeadsetProfile, at now: MonotonicTime) {
        guard now >= nextSilenceCheck else { return }
        nextSilenceCheck = now + Self.silenceCheckInterval
        for index in streams.indices where isSilent(index, for: profile.timing.silenceLimit * Self.silenceLimits) {
            streams[index].assembler.endLink(cause: .silence, at: now)
            begin(index, session, of: profile)
        }
    }

    /// How long a stream is waited for whose samples do not come any more while others flow, in limits of the link's
    /// silence. It costs nothing: what is missing begins with the last sample.
    private static let silenceLimits = 2
    /// How often that is looked at.
    private static let silenceCheckInterval = Duration.seconds(1)
    /// So many of its packets must be missing.
    private static let missingPacketLimit = 8

    /// True where a stream has sent on this link, and now has not for `limit` and for some of its packets before the latest
    /// sample of any stream.
    private func isSilent(_ index: Int, for limit: Duration) -> Bool {
        guard let arrival = streams[index].latestArrival, streams[index].assembler.isNumbered, let latestLiveSample else {
            return false
        }
        let description = streams[index].assembler.description
        let packet = description.samplePeriod * description.samplesPerCount
        return latestLiveSample - arrival > max(limit, packet * Self.missingPacketLimit)
    }

    // MARK: Recording

    /// What an earlier process received last is missing for a reason of its own: the gap opens before a link does.
    mutating func openAbsence(cause: GapCause, at now: MonotonicTime) {
        for index in streams.indices { streams[index].assembler.openAbsence(cause: cause, at: now) }
    }

    /// The recording ends: open gaps end.
    ///
    /// - Parameters:
    ///   - end: when the operator stopped it, on this boot's clock as far as that is known.
    ///   - wasAbsent: true where no process acquired at that time.
    mutating func endRecording(at end: MonotonicTime, wasAbsent: Bool) {
        for index in streams.indices {
            // Of a stream that no block of this process has continued yet, nobody has opened a gap either.
            let isAbsent = wasAbsent || !streams[index].assembler.isNumbered
            streams[index].assembler.endRecording(at: end, absenceCause: isAbsent ? absenceCause : nil)
        }
    }

    /// The database refused a batch: what is in memory follows rows that were never stored.
    mutating func discard() {
        streams.removeAll()
        retired.removeAll()
    }

    // MARK: For whoever follows

    /// True while somebody follows what is assembled.
    mutating func setFollowed(_ isFollowed: Bool) {
        for index in streams.indices { streams[index].assembler.setFollowed(isFollowed) }
        for index in retired.indices { retired[index].setFollowed(isFollowed) }
    }

    /// Hands what was assembled since the last time to `body`, stream by stream.
    ///
    /// - Parameter rowMaximum: so many rows at most are in one run.
    mutating func takeFollowed(
        rowMaximum: Int, _ body: (StreamAssembler, FollowedStream, _ arrival: MonotonicTime?) -> Void
    ) {
        for index in retired.indices {
            let followed = retired[index].takeFollowed(rowMaximum: rowMaximum)
            body(retired[index], followed, nil)
        }
        for index in streams.indices {
            let followed = streams[index].assembler.takeFollowed(rowMaximum: rowMaximum)
            guard !followed.rows.isEmpty || !followed.entries.isEmpty || !followed.fills.isEmpty else { continue }
            body(streams[index].assembler, followed, streams[index].latestArrival)
        }
    }

    // MARK: Writing

    /// Moves everything that is to be written into a batch. Returns the n's that may be acknowledged after its commit.
    mutating func move(into batch: inout WriteBatch, headset: HeadsetID) -> [(stream: StreamID, n: Int64)] {
        let present = streams.map(\.assembler.id)
        batch.parts.append(
            HeadsetPart(
                headset: headset, recording: recording, streams: retired.map(\.id) + present + unusable,
                presentStreams: present))
        for index in retired.indices { retired[index].move(into: &batch) }
        retired.removeAll()
        for index in streams.indices { streams[index].assembler.move(into: &batch) }
        return streams.map { ($0.assembler.id, $0.assembler.isNumbered ? $0.assembler.settledN : .min) }
    }
}
