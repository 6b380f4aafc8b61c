import Assembly
import Bluetooth
import Headsets
import Storage

/// What a notification says about the streams, and what the headset's memory is asked for.
extension RecordedStreams {
    /// Takes a block of samples.
    ///
    /// - Parameters:
    ///   - hasRoom: false where the buffer of samples is full; new samples then go to the ledger.
    ///   - overflowCause: why, then.
    ///   - readsMemory: true where the headset is asked for samples that were missed.
    /// - Returns: commands for the headset's memory, whether the stream has its first sample now, and what its channels of
    ///   triggers say.
    mutating func take(
        _ block: SampleBlock, _ values: ArraySlice<Int32>, at arrival: MonotonicTime, hasRoom: Bool, overflowCause: GapCause,
        readsMemory: Bool
    ) -> (commands: [BufferedEEGCommand], isFirst: Bool, triggers: [Trigger]) {
        guard let index = index(of: block.stream) else { return ([], false, []) }
        if streams[index].assembler.placement.linkStart != nil { alignBanks(index, with: block.counter) }
        let changes = streams[index].hasTriggers ? streams[index].findTriggers(in: block, values) : []
        let (isFirst, stamp) = streams[index].take(
            block, values, at: arrival, in: notification, hasRoom: hasRoom, overflowCause: overflowCause)
        let triggers = changes.isEmpty ? [] : changes.map { trigger($0, of: block, at: index) }
        if let stamp {
            for other in streams.indices where other != index {
                streams[other].assembler.borrow(ticks: stamp, at: arrival)
            }
        }
        if streams[index].assembler.hasMissedWraps, let missed = streams[index].assembler.takeMissedWraps() {
            for other in streams.indices where other != index { streams[other].assembler.learn(of: missed) }
        }
        guard block.origin == .memory, readsMemory else { return ([], isFirst, triggers) }
        return (streams[index].continueReading(after: block, at: arrival), isFirst, triggers)
    }

    // MARK: Events

    /// What a channel of triggers says, and of which sample; of none where nothing shows yet which one it is.
    typealias Trigger = (event: HeadsetEvent, sample: AnnotatedSample?)

    private func trigger(_ change: TriggerChannels.Change, of block: SampleBlock, at index: Int) -> Trigger {
        let isLast = change.instant == block.instantCount - 1
        let event =
            switch change.kind {
            case .value(let value):
                HeadsetEvent(
                    "Trigger \(value) (\(change.channel))", deviceTicks: isLast ? block.deviceTicks : nil, code: Int64(value))
            case .notEntered(let count):
                HeadsetEvent("\(count) changes of \(change.channel) up to here are in the samples alone: too many in a second")
            }
        guard let counter = block.counter else {
            let back = block.instantCount - 1 - change.instant
            return (event, sample(at: index, streams[index].assembler.nextN - 1 - Int64(back)))
        }
        return (event, sample(at: index, streams[index].assembler.n(ofCounter: counter, plus: change.instant)))
    }

    /// The sample that the headset says an event of; nil where nothing shows yet which one it is.
    func sample(of said: HeadsetEvent.Sample) -> AnnotatedSample? {
        guard let index = index(of: said.stream) else { return nil }
        guard let counter = said.counter else { return sample(at: index, streams[index].assembler.nextN - 1) }
        return sample(at: index, streams[index].assembler.n(ofCounter: counter, plus: 0))
    }

    /// A sample whose number the link has shown, and that lies near what was received last: what is farther is no sample of
    /// this moment.
    private func sample(at index: Int, _ n: Int64?) -> AnnotatedSample? {
        guard let n, n >= 0, streams[index].assembler.isNumbered else { return nil }
        let reach = Int64(streams[index].assembler.description.samplingFrequency * Self.eventReach) + 1
        guard n <= streams[index].assembler.nextN.addingClamped(reach) else { return nil }
        return AnnotatedSample(stream: streams[index].assembler.id, n: n)
    }

    /// An event may be said of a sample that comes so many seconds later: longer than any headset holds packets back.
    private static let eventReach = 60.0

    /// The banks of a wide stream are sampled together: what has one counter has one n in each of them.
    private mutating func alignBanks(_ index: Int, with counter: UInt32?) {
        let stream = streams[index].assembler
        for bank in streams.lazy.map(\.assembler) where bank.isBank(besides: stream) {
            streams[index].assembler.align(with: bank, at: counter)
        }
    }

    /// Frames of a stream that were damaged.
    mutating func damaged(position: Int, count: Int) {
        if let index = index(of: position) { streams[index].assembler.takeDamaged(count: count) }
    }

    /// Samples that the headset counted and did not send.
    mutating func unsent(position: Int, counter: UInt32, count: Int, at arrival: MonotonicTime) {
        if let index = index(of: position) { streams[index].assembler.takeUnsent(counter: counter, count: count, at: arrival) }
    }

    /// A headset without counters says how many samples make a period, to within a block.
    mutating func mark(position: Int, period: Int, blockLength: Int, at arrival: MonotonicTime) {
        guard let index = index(of: position) else { return }
        streams[index].assembler.takeMark(period: period, blockLength: blockLength, at: arrival)
    }

    /// Bytes have come that belong to nothing: the link was not silent.
    mutating func receivedNothing(at arrival: MonotonicTime) {
        for index in streams.indices { streams[index].assembler.recordActivity(at: arrival) }
    }

    /// What came once more with other values since the last call: the stream, how many samples, and the n of the first.
    mutating func takeContradictions() -> [(stream: String, samples: Int64, firstN: Int64)] {
        var found: [(stream: String, samples: Int64, firstN: Int64)] = []
        for index in streams.indices {
            guard let contradiction = streams[index].assembler.takeContradiction() else { continue }
            found.append((streams[index].assembler.description.name, contradiction.count, contradiction.firstN))
        }
        return found
    }

    // MARK: Pauses

    /// The headset has interrupted its samples, to measure impedances.
    mutating func pause(at now: MonotonicTime) {
        for index in streams.indices { streams[index].assembler.pause(at: now) }
    }

    /// It still does.
    mutating func extendPause(at now: MonotonicTime) {
        for index in streams.indices { streams[index].assembler.lengthenPause(at: now) }
    }

    // MARK: Memory

    /// When the memory of the headset is to be looked at again; nil for never.
    var memoryDeadline: MonotonicTime? { streams.lazy.compactMap(\.memory.deadline).min() }

    /// A part of what was asked for is not in the memory any more.
    mutating func overwritten(position: Int, from: UInt32, end: UInt32) {
        guard let index = index(of: position) else { return }
        streams[index].assembler.giveUp(from: from, end: end)
        streams[index].memory.overwritten()
    }

    /// The headset has sent everything of a read.
    mutating func readEnded(position: Int) {
        if let index = index(of: position) { streams[index].memory.ended() }
    }

    /// What is to be asked for: what is missing and may still be in the headset's memory.
    mutating func readMemory(at now: MonotonicTime) -> [BufferedEEGCommand] {
        var commands: [BufferedEEGCommand] = []
        for index in streams.indices { commands += streams[index].readMemory(at: now) }
        return commands
    }

    /// Allows the headset to forget everything below these n's, one for each stream: they are committed.
    mutating func acknowledge(upTo committed: [(stream: StreamID, n: Int64)]) -> [BufferedEEGCommand] {
        var commands: [BufferedEEGCommand] = []
        for (stream, n) in committed {
            guard let index = streams.firstIndex(where: { $0.assembler.id == stream }), n > streams[index].acknowledgedN,
                streams[index].assembler.isNumbered, let counter = streams[index].assembler.counter(of: n)
            else { continue }
            streams[index].acknowledgedN = n
            commands.append(.acknowledge(stream: streams[index].assembler.position, upTo: counter))
        }
        return commands
    }
}
