import Assembly
import Bluetooth
import Headsets
import Storage

/// One stream of a recording, and what is known of it on the present link.
struct RecordedStream {
    /// From blocks to rows and the ledger; lives as long as the recording.
    var assembler: StreamAssembler
    /// Reads on the present link what the stream lacks.
    var memory = MemoryReader()
    /// When the latest live sample of the present link arrived; nil before the first.
    var latestArrival: MonotonicTime?
    /// What changes in channels of triggers.
    private var triggers: TriggerChannels
    /// The n up to which the headset was allowed on the present link to forget.
    var acknowledgedN = Int64.min

    init(_ assembler: StreamAssembler) {
        self.assembler = assembler
        triggers = TriggerChannels(assembler.description)
    }

    /// The next block of a link shows where the stream stands.
    mutating func beginLink(_ start: LinkStart) {
        (memory, latestArrival, acknowledgedN) = (MemoryReader(), nil, .min)
        triggers.beginLink()
        assembler.beginLink(start)
    }

    /// Takes a block of samples, without a copy of the stream, which is large.
    ///
    /// - Parameters:
    ///   - notification: the number of the notification that it came in.
    ///   - hasRoom: false where the buffer of samples is full; new samples then go to the ledger.
    ///   - overflowCause: why, then.
    /// - Returns: whether the stream has its first sample now, and the headset's stamp on the block, where it says something
    ///   of the other streams.
    mutating func take(
        _ block: SampleBlock, _ values: ArraySlice<Int32>, at arrival: MonotonicTime, in notification: UInt64, hasRoom: Bool,
        overflowCause: GapCause
    ) -> (isFirst: Bool, stamp: UInt64?) {
        if block.origin == .live { latestArrival = arrival }
        assembler.overflowCause = overflowCause
        let isFirst = assembler.take(block, values, at: arrival, in: notification, hasRoom: hasRoom)
        guard block.origin == .live, let ticks = block.deviceTicks, assembler.mayLendStamp else { return (isFirst, nil) }
        return (isFirst, ticks)
    }

    /// True where some channels hold triggers.
    var hasTriggers: Bool { !triggers.isEmpty }

    /// The triggers of a block that is to be taken, by the index of their sample in it.
    mutating func findTriggers(in block: SampleBlock, _ values: ArraySlice<Int32>) -> [TriggerChannels.Change] {
        guard block.channelCount > 0, values.count == block.instantCount * block.channelCount else { return [] }
        let (assembler, first) = (assembler, assembler.n(ofCounter: block.counter, plus: 0))
        return triggers.changes(in: block, values) { instant in
            // What was read from memory, or overtaken, may have come before.
            guard assembler.isNumbered, let first else { return block.origin == .live }
            return first + Int64(instant) >= assembler.nextN || assembler.lacks(n: first + Int64(instant))
        }
    }

    /// A block that was taken came from the memory. Returns what else it is asked for.
    mutating func continueReading(after block: SampleBlock, at arrival: MonotonicTime) -> [BufferedEEGCommand] {
        let end = assembler.n(ofCounter: block.counter, plus: block.instantCount)
        return memory.received(assembler, end: end, at: arrival)
    }

    /// What the memory is asked for: what is missing, and may still be in it.
    mutating func readMemory(at now: MonotonicTime) -> [BufferedEEGCommand] {
        guard !memory.isIdle || assembler.isRecoverable, assembler.isNumbered else { return [] }
        return memory.next(assembler, at: now)
    }
}
