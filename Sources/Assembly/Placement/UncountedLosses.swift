import Bluetooth
import Headsets
import Storage

/// What is lost of a stream without counter, as damaged packets, the headset's own marks, and else the time show it.
struct UncountedLosses: Sendable {
    private let stream: StreamID
    private let channelCount: Int
    private let samplePeriod: Duration
    /// So many samples may be late without a loss.
    private let backlog: Int64
    /// Samples known to be missing before the next ones.
    private var damagedCount: Int64 = 0
    /// When the latest block came.
    private var latestArrival = MonotonicTime.boot
    /// How many instants the latest block held.
    private var blockLength: Int64 = 0
    private var marks: PeriodMarks?
    /// The marks' period, and how many samples have come since the latest mark on this link; nil before the first mark.
    private var unmarked: (period: Int64, count: Int64)?
    /// Losses of a stream that has no marks either.
    private var lossByTime = LossByTime()
    /// What came later than a link may keep it back, since the last block on time.
    private var late = LateRun()
    /// What was entered last to show losses; nil before anything was.
    private var detection: LossDetection?
    private var newDetections: [LossDetectionRecord] = []

    /// Marks that stay away for so many of their periods show nothing any more.
    private static let timeoutPeriods: Int64 = 4

    init(stream: StreamID, _ description: StreamDescription) {
        self.stream = stream
        channelCount = description.channels.count
        samplePeriod = .seconds(1 / description.samplingFrequency)
        backlog = Int64(clamping: (description.samplingFrequency * LossByTime.backlog).rounded(.up))
    }

    mutating func beginLink() {
        damagedCount = 0
        marks = nil
        unmarked?.count = 0
        lossByTime.reset()
        late = LateRun()
    }

    // MARK: Damage

    /// `count` samples are missing before the next ones.
    mutating func addDamaged(count: Int) { damagedCount += Int64(count) }

    /// True where samples are known to be missing before the next ones.
    var hasDamage: Bool { damagedCount > 0 }

    /// How many samples were damaged since the last call.
    mutating func takeDamaged() -> Int64 {
        defer { damagedCount = 0 }
        return damagedCount
    }

    // MARK: Time

    /// A block has come. Returns whether it comes so long after the one before that it holds another instant.
    mutating func noteArrival(_ arrival: MonotonicTime) -> Bool {
        defer { latestArrival = arrival }
        return arrival - latestArrival > samplePeriod / 2
    }

    /// A block of all channels has come: where it is late, and all others of the last while are, samples were lost.
    ///
    /// - Parameters:
    ///   - nextN: the n of its first sample, if none was.
    ///   - due: where the stream stands by the time.
    ///   - isRateCertain: whether the headset's rate is known better than losses could change it.
    /// - Returns: how many were lost before it, and within what that is right; nil for none.
    mutating func takeLateness(
        of block: SampleBlock, nextN: Int64, due: StreamPosition?, isRateCertain: Bool, at arrival: MonotonicTime
    ) -> (count: Int64, uncertainty: Int64)? {
        blockLength = Int64(block.instantCount)
        noteLateness(nextN: nextN, due: due, at: arrival)
        guard marks == nil, let due else { return nil }
        guard isRateCertain else {
            lossByTime.reset()
            return nil
        }
        let lateness = due.n - (nextN + blockLength - 1)
        let lost = lossByTime.take(
            lateness: lateness, block: blockLength, uncertainty: due.uncertainty, backlog: backlog, at: arrival)
        return lost.map { ($0, max(blockLength / 2, due.uncertainty, backlog)) }
    }

    private mutating func noteLateness(nextN: Int64, due: StreamPosition?, at arrival: MonotonicTime) {
        guard let due else { return late = LateRun() }
        let lastN = nextN + blockLength - 1
        let lateness = due.n - lastN
        guard lateness > due.uncertainty.addingClamped(backlog) else { return late = LateRun() }
        late.add(
            LateBlocks(
                firstN: nextN, leastLateness: lateness, earliest: Arrival(n: lastN, nanoseconds: arrival.nanoseconds)),
            backlog: backlog)
    }

    /// By how many samples all that comes is late now; 0 where the last block was on time.
    var lateness: Int64 { late.steps.last?.leastLateness ?? 0 }

    /// The link ends. Returns what was late until then: so many samples may have been lost before it, which nothing more will
    /// show; nothing where the last block was on time.
    mutating func takeLate() -> [LateBlocks] {
        defer { late = LateRun() }
        return late.steps
    }

    // MARK: Marks

    /// True where marks are counted: behind damage only once they are.
    var countsMarks: Bool { blockLength > 0 && (damagedCount == 0 || marks != nil) }

    /// Between this mark of the headset and the one before it, it took exactly `period` samples.
    ///
    /// - Parameters:
    ///   - block: the mark stands between two blocks of so many samples.
    ///   - nextN: the n of the next sample, as counted so far.
    ///   - dueN: the same by the time that has passed.
    /// - Returns: how many samples were lost; 0 where the mark is the first.
    mutating func takeMark(period: Int, block: Int, nextN: Int64, dueN: Int64) -> Int64 {
        let (period, block) = (Int64(period), Int64(block))
        unmarked = (period, 0)
        if var known = marks, known.counts(period: period, block: block),
            let lost = known.take(n: nextN, dueN: dueN)
        {
            marks = known
            return lost
        }
        marks = PeriodMarks(n: nextN, dueN: dueN, period: period, block: block)
        return 0
    }

    // MARK: What shows a loss

    /// Says from the block on, whose first sample is `nextN`, what shows a loss, where that has changed.
    mutating func noteDetection(_ block: SampleBlock, nextN: Int64, isRateCertain: Bool) {
        unmarked?.count += Int64(block.instantCount)
        let present: LossDetection =
            if let unmarked, unmarked.count < unmarked.period * Self.timeoutPeriods {
                .mark
            } else if marks == nil, isRateCertain, block.channelCount == channelCount {
                .clock
            } else {
                .nothing
            }
        guard present != detection else { return }
        detection = present
        newDetections.append(LossDetectionRecord(stream: stream, firstN: nextN, means: present))
    }

    /// Moves what is to be written into a batch.
    mutating func move(into batch: inout WriteBatch) {
        batch.changes += newDetections.map(Change.lossDetection)
        newDetections.removeAll()
    }
}
