package import Bluetooth
package import Headsets
package import Storage

/// Makes rows of the blocks of one stream: every sample gets its n, is stored once, or is in the gap ledger.
///
/// A block waits (``WaitingBlocks``) until the counter shows which n it has (``Placement``), and becomes rows or fills gaps
/// (``StreamRows``, ``StreamLedger``).
package struct StreamAssembler: Sendable {
    package let id: StreamID
    /// The stream's position in the headset's list of streams.
    package let position: Int
    package private(set) var description: StreamDescription
    /// The channels as they were when the stream began: what people have corrected since is no other shape.
    private let declaredChannels: [ChannelDescription]

    private var waiting: WaitingBlocks
    // What Acquisition asks for each block it reads from values that these two store: a call into this module would first copy
    // the stream, with all its arrays, out of the array that it is an element of.
    package private(set) var placement: Placement
    package private(set) var rows: StreamRows
    /// True where ``takeMissedWraps()`` has something.
    package private(set) var hasMissedWraps = false

    /// A stream that has no samples yet.
    package init(id: StreamID, position: Int, description: StreamDescription) {
        self.id = id
        self.position = position
        self.description = description
        declaredChannels = description.channels
        waiting = WaitingBlocks(description)
        placement = Placement(stream: id, description)
        rows = StreamRows(
            stream: id, description, StreamLedger(stream: id, channelCount: description.channels.count))
    }

    /// A stream as the database has it.
    package init(resuming state: ResumeState.StreamState) {
        id = state.id
        position = state.position
        description = state.description
        declaredChannels = state.declaredChannels
        waiting = WaitingBlocks(description)
        placement = Placement(resuming: state)
        rows = StreamRows(stream: id, description, StreamLedger(resuming: state))
    }

    // MARK: Asking

    /// The first n that is not settled.
    package var nextN: Int64 { rows.nextN }

    /// True once the first sample has its n.
    var hasSamples: Bool { placement.hasSamples }

    /// True once a block of the present link has shown where the stream stands.
    package var isNumbered: Bool { placement.isNumbered }

    /// The boot of the headset that the latest samples are of; nil where it has not said.
    package var bootIdentifier: UInt32? { placement.epoch?.bootIdentifier }

    /// True where something that was received is in no batch yet: its n is not known, or its row is not whole.
    var isHoldingBack: Bool { !waiting.isEmpty || !rows.isWhole }

    /// True where the headset may still have some of what is missing.
    package var isRecoverable: Bool { rows.ledger.isRecoverable }

    /// The first samples that may still be read from the headset's memory; nil where there are none.
    package func firstRecoverable() -> Range<Int64>? {
        placement.epoch.flatMap { rows.ledger.firstRecoverable(from: $0.firstN) }
    }

    /// True where the first recoverable run lies so close to the newest sample that its packet may merely be late.
    var hasFreshGap: Bool {
        guard let run = firstRecoverable() else { return false }
        return nextN - run.upperBound < Int64(description.samplingFrequency)
    }

    /// Every sample below this n is in a batch that was or is being taken, or cannot be had: what may be acknowledged to the
    /// headset after the batch's commit.
    package var settledN: Int64 { min(firstRecoverable()?.lowerBound ?? .max, rows.firstPartialN ?? .max, nextN) }

    /// True where a sample that came later ones before is missing.
    package func lacks(n: Int64) -> Bool { rows.ledger.isMissing(n..<n + 1) }

    /// The headset's counter at sample n, as it would be sent; nil where n lies outside the present epoch.
    package func counter(of n: Int64) -> UInt32? { placement.counter(of: n) }

    /// The n that lies `count` samples after the one with the counter; nil where nothing shows it yet.
    package func n(ofCounter counter: UInt32?, plus count: Int) -> Int64? {
        counter.flatMap { placement.n(of: $0) }.map { $0 + Int64(count) }
    }

    // MARK: Shape

    /// True where rows of both would have the same columns.
    package func hasShape(of other: StreamDescription) -> Bool {
        declaredChannels == other.channels && description.samplingFrequency == other.samplingFrequency
            && description.bank == other.bank && description.counterModulus == other.counterModulus
            && description.samplesPerCount == other.samplesPerCount
    }

    /// Takes from the profile's description what the database does not keep.
    package mutating func adopt(_ described: StreamDescription) {
        guard description.saturation != described.saturation else { return }
        description.saturation = described.saturation
        rows.checkSignals(of: description, stream: id)
    }

    /// True where both are banks of one stream: their positions follow each other as their numbers do.
    package func isBank(besides other: StreamAssembler) -> Bool {
        description.bank != other.description.bank && position - description.bank == other.position - other.description.bank
    }

    /// Takes the rates of earlier recordings for the stream's own, until more is known.
    package mutating func learn(from rates: [ResumeState.LearntRate]) {
        placement.learn(from: rates, streamName: description.name)
    }

    // MARK: Links

    /// Samples are expected on a new link; the next block shows where it stands.
    package mutating func beginLink(_ start: LinkStart) {
        waiting.beginLink()
        placement.beginLink(start)
    }

    /// Takes what another bank of the stream knows of the link's beginning: what has one counter has one n in each of them.
    ///
    /// - Parameter counter: of the first block.
    package mutating func align(with bank: StreamAssembler, at counter: UInt32?) {
        placement.align(n: bank.isNumbered ? bank.n(ofCounter: counter, plus: 0) : nil, nextN: bank.nextN)
    }

    /// No samples are expected any longer: a gap opens, its end unknown.
    package mutating func endLink(cause: GapCause, at now: MonotonicTime) {
        settleReceived(cause: cause, at: now)
        // What was missing before a link that never brought a sample is still missing for the same reason.
        let cause = cause == .quarantined ? cause : placement.linkStart?.absenceCause ?? cause
        placement.endLink()
        // A link that breaks while impedances are measured is another cause from then on.
        if rows.ledger.openGap?.cause == .impedance, cause != .impedance { endOpenGap(at: now) }
        // What is missing from a quarantine on has that cause, where the time until then is known.
        if let gap = rows.ledger.openGap, cause == .quarantined, gap.cause != cause, placement.clock.isKnown {
            endOpenGap(at: now)
        }
        openAbsence(cause: cause, at: now)
    }

    /// Samples are missing from here on, nobody knows until when.
    package mutating func openAbsence(cause: GapCause, at now: MonotonicTime) {
        if hasSamples { rows.ledger.beginOpenGap(cause: cause, at: now) }
    }

    /// The headset measures impedances from now on. What is missing before, as no sample came on this link yet, keeps its own
    /// cause.
    package mutating func pause(at now: MonotonicTime) {
        if let start = placement.linkStart { endRecording(at: now, absenceCause: start.absenceCause) }
        placement.forgetLinkStart()
        endLink(cause: .impedance, at: now)
    }

    /// The headset still measures impedances. The gap is said to be as long as it surely is, so that it does not grow by the
    /// time without a process, should this one end here. A second less than now is less than it will be.
    package mutating func lengthenPause(at now: MonotonicTime) {
        guard rows.ledger.openGap?.cause == .impedance,
            let least = placement.clock.position(at: now - .seconds(1), from: nextN)
        else { return }
        rows.ledger.lengthenOpenGap(to: least)
    }

    /// The recording ends: an open gap ends with it, as long as the elapsed time says.
    ///
    /// - Parameter absenceCause: the cause of what is missing up to the end where no gap says it yet; nil where samples flowed
    ///   until the end.
    package mutating func endRecording(at now: MonotonicTime, absenceCause: GapCause? = nil) {
        settleReceived(at: now)
        if rows.ledger.openGap == nil, hasSamples, let absenceCause {
            if let end = placement.clock.position(at: now, from: nextN) {
                rows.ledger.add(
                    nextN..<end.n, cause: absenceCause, at: now, certainty: .timed(uncertainty: end.uncertainty),
                    isRecoverable: false)
            } else {
                rows.ledger.addGapOfNoCount(at: nextN, cause: absenceCause, noticed: now)
            }
        }
        endOpenGap(at: now)
    }

    /// Rows of which a packet has not come are settled now.
    ///
    /// - Parameter cause: why it will not come any more, where nothing later of its channels came either.
    package mutating func settlePartialRows(cause: GapCause = .packetLost, at now: MonotonicTime) {
        placement.settlePartial(in: &rows, cause: cause, at: now)
    }

    /// Nothing more comes of what was received so far.
    private mutating func settleReceived(cause: GapCause = .packetLost, at now: MonotonicTime) {
        waiting.settle(&placement, &rows)
        placement.settlePartial(in: &rows, cause: cause, at: now)
        placement.settleDamage(in: &rows, at: now)
        placement.interrupt()
        placement.checkAbsence(in: &rows, isOver: true)
    }

    /// The gap is as long as the elapsed time says.
    private mutating func endOpenGap(at now: MonotonicTime) {
        rows.ledger.endOpenGap(at: placement.clock.position(at: now, from: nextN))
    }

    // MARK: What comes

    /// Takes a block.
    ///
    /// - Parameters:
    ///   - values: the block's values.
    ///   - arrival: when it was received.
    ///   - notification: the number of the notification that it came in: they ascend, over all streams of a headset.
    ///   - hasRoom: false where the buffer of samples is full; new samples then go to the ledger.
    /// - Returns: true where the stream has its first sample now.
    @discardableResult
    package mutating func take(
        _ block: SampleBlock, _ values: ArraySlice<Int32>, at arrival: MonotonicTime, in notification: UInt64, hasRoom: Bool
    ) -> Bool {
        guard block.instantCount > 0, block.channelCount > 0, block.firstChannel >= 0,
            block.firstChannel + block.channelCount <= description.channels.count,
            values.count == block.instantCount * block.channelCount
        else { return false }
        let hadSamples = hasSamples
        waiting.take(
            ReceivedBlock(
                block: block, values: values, arrival: arrival, notification: notification, hasRoom: hasRoom),
            &placement, &rows)
        hasMissedWraps = waiting.missedWraps != nil
        return !hadSamples && hasSamples
    }

    /// Why there is no room in the buffer of samples, where there is none.
    package var overflowCause: GapCause {
        get { rows.ledger.overflowCause }
        set { rows.ledger.overflowCause = newValue }
    }

    /// The headset took `count` samples from `counter` on, and never sends them.
    package mutating func takeUnsent(counter: UInt32, count: Int, at now: MonotonicTime) {
        waiting.take(unsent: counter, count: count, at: now, &placement, &rows)
    }

    /// `count` samples of a stream without counter are missing before the next ones.
    package mutating func takeDamaged(count: Int) { placement.addDamaged(count: count) }

    /// Between this mark of the headset and the one before it, it took exactly `period` samples. The mark stands between two
    /// blocks of `blockLength` samples.
    package mutating func takeMark(period: Int, blockLength: Int, at arrival: MonotonicTime) {
        placement.takeMark(period: period, blockLength: blockLength, at: arrival, in: &rows)
    }

    /// Something came of the headset, even if it could not be decoded.
    package mutating func recordActivity(at arrival: MonotonicTime) { waiting.recordActivity(at: arrival) }

    /// The headset says that it cannot send samples with these counters any more.
    package mutating func giveUp(from: UInt32, end: UInt32) {
        guard let first = placement.n(of: from), let last = placement.n(of: end), first < last else { return }
        rows.ledger.giveUp(first..<last)
    }

    /// True where the latest stamp says something of the other streams of the headset.
    package var mayLendStamp: Bool { placement.clock.mayLendStamp }

    /// Takes what the latest stamp of another stream says of the time.
    package mutating func borrow(ticks: UInt64, at arrival: MonotonicTime) {
        placement.borrow(ticks: ticks, at: arrival)
    }

    /// What has come again with other values than those that are stored, since the last call: how many samples, and the n of
    /// the first; nil for none.
    package mutating func takeContradiction() -> (count: Int64, firstN: Int64)? { rows.takeContradiction() }

    /// Wraps that this stream has surely missed, since the last call; nil for none.
    package mutating func takeMissedWraps() -> MissedWraps? {
        hasMissedWraps = false
        return waiting.takeMissedWraps()
    }

    /// Takes what another stream of the headset has missed.
    package mutating func learn(of missed: MissedWraps) {
        if let wrap = placement.wrapLength { waiting.learn(of: missed, wrap: wrap) }
    }

    // MARK: For whoever follows

    /// True while somebody follows: changes of the ledger are kept one by one.
    package mutating func setFollowed(_ isFollowed: Bool) { rows.ledger.isFollowed = isFollowed }

    /// What was assembled since the last time; it is in the next batch all the same.
    ///
    /// - Parameter rowMaximum: so many rows at most are in one run.
    package mutating func takeFollowed(rowMaximum: Int) -> FollowedStream {
        let entries = rows.ledger.takeFollowed()
        let (runs, fills) = rows.takeFollowed(rowMaximum: rowMaximum)
        return FollowedStream(entries: entries, rows: runs, fills: fills)
    }

    /// The time of sample n by the map as it is now; nil before there is one.
    package func time(of n: Int64) -> SampleTime? { placement.clock.time(of: n) }

    /// The gap that goes on; nil for none.
    package var openGap: LedgerEntry? { rows.ledger.openEntry(of: id) }

    /// The stream as it was entered.
    package func entered(in recording: RecordingID) -> NewStream {
        NewStream(id: id, recording: recording, position: position, description: description)
    }

    // MARK: Writing

    /// Moves everything that is to be written into a batch.
    package mutating func move(into batch: inout WriteBatch) {
        // A gap of no count goes with the first row behind it. Should the process die between the two, the next one would enter
        // another gap that begins at the same n.
        if !rows.isWhole, rows.ledger.endsInGapOfNoCount { return }
        // Segments refer to epochs by a foreign key; what recovers a sample comes after the sample.
        placement.moveEpochs(into: &batch)
        rows.move(into: &batch)
        placement.moveTimes(into: &batch)
        rows.moveSignalChecks(into: &batch)
    }
}
