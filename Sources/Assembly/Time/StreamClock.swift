import Bluetooth
import Headsets
import Storage

/// The time of a stream's samples, and where the stream stands at a time: by the time map of this process, by the line that an
/// earlier one has left, or by the headset's own clock, where its packets bear stamps.
struct StreamClock: Sendable {
    private let stream: StreamID
    private let samplingFrequency: Double
    private var map: TimeMap?
    /// The last line of an earlier process in the same boot of the host, for what follows.
    private var earlierSegment: SegmentRecord?
    /// What earlier links and recordings have taught of the headset's clock.
    private var learntRate: ArrivalEnvelope.Rate?
    private var deviceClock: DeviceClock?
    /// What is written next.
    private var segments: [SegmentRecord] = []
    private var arrivals: [ArrivalRecord] = []
    /// So many samples before the latest ones were lost, perhaps, and are in no gap.
    private var unentered: Int64 = 0

    /// How late a first arrival may be that is not known to be on time, in seconds: a queue that a link has filled.
    static let arrivalTolerance = 0.1
    /// A pause is so long at least, in seconds: stamps, and arrivals, are late by tenths of it.
    static let leastPause = 1.0
    /// The two clocks agree on a pause to so many seconds: a packet may take a quarter of a second to fill.
    static let stampTolerance = 0.25
    /// What a rate was measured as long ago is believed to so much, as a part: temperature and age move crystals.
    static let learntDeviation = 20e-6

    /// Creates a clock.
    ///
    /// - Parameter earlierSegment: the last line of an earlier process in the same boot of the host; nil for none.
    init(stream: StreamID, samplingFrequency: Double, earlierSegment: SegmentRecord? = nil) {
        self.stream = stream
        self.samplingFrequency = samplingFrequency
        self.earlierSegment = earlierSegment
    }

    // MARK: Where the stream stands

    /// True once the time map of this process has begun.
    var hasMap: Bool { map != nil }

    /// True where the time that has passed shows where the stream stands.
    var isKnown: Bool { map != nil || earlierSegment != nil }

    /// Where the stream stands at `now` by the time map of this process; nil before that has begun.
    func mapPosition(at now: MonotonicTime) -> StreamPosition? { map?.position(at: now) }

    /// The same where what the link began with has not waited.
    func linePosition(at now: MonotonicTime) -> StreamPosition? { map?.positionByLine(at: now) }

    /// By how many nanoseconds more than is stated the latest samples may have been taken before their times: they came faster
    /// than they were sampled.
    func waited(at time: MonotonicTime? = nil) -> Double { map?.waited(at: time) ?? 0 }

    /// The time of sample n by the piece of the map that goes on; nil before there is one.
    func time(of n: Int64) -> SampleTime? {
        map.map {
            SampleTime(
                at: $0.time(of: n), periodNanoseconds: $0.segment.periodNanoseconds,
                uncertaintyNanoseconds: $0.segment.uncertaintyNanoseconds.map { $0 + waited() })
        }
    }

    /// The time of sample n by the map of this process, or by the line that an earlier one has left in the same boot of the
    /// host.
    func line(at n: Int64) -> SampleTime? {
        if let known = time(of: n) { return known }
        return earlierSegment.map { segment in
            let passed = n.distance(from: segment.referenceN) * segment.periodNanoseconds
            return SampleTime(
                at: segment.referenceTime + .nanoseconds(Int64(clamping: passed.rounded())),
                periodNanoseconds: segment.periodNanoseconds, uncertaintyNanoseconds: segment.uncertaintyNanoseconds)
        }
    }

    /// Where the stream stands at `now` by the time that has passed: by the line of this process, or that of an earlier one in
    /// the same boot of the host. Nil across boots of the host: how far they are apart only clocks know that may still be
    /// wrong.
    ///
    /// - Parameter nextN: the stream stands at no n below.
    func position(at now: MonotonicTime, from nextN: Int64) -> StreamPosition? {
        let tolerance = Int64(clamping: (samplingFrequency * Self.arrivalTolerance).rounded(.up))
        if let map {
            let position = map.position(at: now)
            let uncertainty = position.uncertainty.addingClamped(tolerance).addingClamped(unentered)
            return StreamPosition(n: max(nextN, position.n), uncertainty: uncertainty)
        }
        guard let segment = earlierSegment else { return nil }
        let elapsed = Double(now.nanoseconds) - Double(segment.referenceTime.nanoseconds)
        let deviation = 3 * (learntRate ?? .unknown).deviation
        let uncertainty = (segment.uncertaintyNanoseconds ?? 0) + max(0, elapsed) * deviation
        return StreamPosition(
            n: max(nextN, segment.referenceN.addingClamped(Int64(clamping: (elapsed / segment.periodNanoseconds).rounded()))),
            uncertainty: Int64(clamping: uncertainty / segment.periodNanoseconds).addingClamped(tolerance))
    }

    /// Where the stream stands with the last sample of a block: by the headset's own clock, where that knows it better.
    func position(of block: SampleBlock, at arrival: MonotonicTime, from nextN: Int64) -> StreamPosition? {
        let position = position(at: arrival, from: nextN)
        guard let ticks = block.deviceTicks, let own = deviceClock?.position(ticks: ticks, at: arrival),
            own.uncertainty < position?.uncertainty ?? .max
        else { return position }
        return StreamPosition(n: max(nextN, own.n), uncertainty: own.uncertainty)
    }

    /// Whether the headset paused before a block that follows the one before it directly: it comes so much later than its n
    /// lets expect, and is stamped as much later. What has waited in a queue was stamped in time.
    func showsPause(before block: SampleBlock, lastN n: Int64, at arrival: MonotonicTime) -> Bool {
        guard let due = map?.position(at: arrival), let ticks = block.deviceTicks,
            let own = deviceClock?.position(ticks: ticks, at: arrival)
        else { return false }
        let late = (Double(due.n) - Double(n)) / samplingFrequency
        let stampedLate = (Double(own.n) - Double(n)) / samplingFrequency
        return late >= Self.leastPause && abs(late - stampedLate) <= Self.stampTolerance
    }

    /// Whether the headset's rate is known to so much, as a part.
    func isRateKnown(within deviation: Double) -> Bool { (map?.rate.deviation ?? 1) < deviation }

    // MARK: What shows the time

    /// Takes the rate of an earlier recording for the stream's own, until more is known.
    mutating func learn(from rates: [ResumeState.LearntRate], streamName: String) {
        let known = rates.first { rate in
            rate.samplingFrequency == samplingFrequency
                && (rate.stream == streamName || streamName.hasPrefix(rate.stream + "_"))
        }
        guard let known else { return }
        let slope = known.periodNanoseconds * samplingFrequency / 1e9 - 1
        learntRate = ArrivalEnvelope.Rate(slope: slope, deviation: Self.learntDeviation)
    }

    /// The headset stamps its samples from now on, or goes on to.
    mutating func use(_ stamps: SampleStamps) {
        guard stamps.tickFrequency > 0, deviceClock?.stamps != stamps else { return }
        deviceClock = DeviceClock(stamps, samplingFrequency: samplingFrequency)
    }

    /// Another run of n begins, at an n that was itself known by a clock.
    mutating func beginRun() { deviceClock?.beginStretch() }

    /// A time map begins where the first block of a link has arrived, `referenceN` at `time`.
    mutating func beginSegment(epoch: Int, firstN: Int64, referenceN: Int64, at time: MonotonicTime) {
        interrupt()
        collect()
        unentered = 0
        var next = TimeMap(
            stream: stream, epoch: epoch, firstN: firstN, referenceN: referenceN, at: time,
            samplingFrequency: samplingFrequency, rate: map?.rate ?? learntRate ?? .unknown)
        if let map {
            next.setFloor(map.time(of: map.segment.lastN))
        } else if let segment = earlierSegment {
            let last = Double(segment.lastN - segment.referenceN) * segment.periodNanoseconds
            next.setFloor(segment.referenceTime + .nanoseconds(Int64(clamping: last.rounded())))
        }
        map = next
    }

    /// Takes the arrival of a live block whose last sample is n.
    mutating func observe(_ block: SampleBlock, lastN n: Int64, at arrival: MonotonicTime) {
        map?.observe(n: n, count: block.instantCount, at: arrival, deviceTicks: block.deviceTicks)
        if let ticks = block.deviceTicks { deviceClock?.stamp(n: n, ticks: ticks, at: arrival) }
    }

    /// The time map reaches to sample n at least.
    mutating func extend(to n: Int64) { map?.extend(to: n) }

    /// The link has ended: what is known is all that will be.
    mutating func interrupt() { map?.interrupt() }

    /// So many samples were entered as missing that were lost at an unknown n since some seconds.
    mutating func misplaced(count: Int64) { map?.misplaced(count: count) }

    /// So many samples were lost before the first of these, perhaps, and are not entered: the gap behind them is known no
    /// better.
    mutating func misplaced(_ late: LateBlocks) {
        map?.misplaced(count: late.leastLateness, from: late.firstN, earliest: late.earliest)
        unentered = late.leastLateness
    }

    /// True where the latest stamp says something of the other streams of the headset.
    var mayLendStamp: Bool { deviceClock.map { $0.stamps.isExact && $0.isSteady } ?? false }

    /// Takes what the latest stamp of another stream says: had the latest sample of this one come with that packet, it would
    /// have come so much earlier than the packet as the headset's clock says.
    mutating func borrow(ticks: UInt64, at arrival: MonotonicTime) {
        guard let period = map?.segment.periodNanoseconds,
            let (n, own, seconds) = deviceClock?.latestSample(near: ticks, at: arrival, period: period / 1e9)
        else { return }
        map?.borrow(n: n, at: arrival - .nanoseconds(Int64(clamping: seconds * 1e9)), deviceTicks: own)
    }

    // MARK: Writing

    /// Moves everything that is to be written into a batch.
    ///
    /// - Parameter lateness: so many samples may be missing before the latest ones, unless they have waited: the process may
    ///   end before that is known.
    mutating func move(into batch: inout WriteBatch, lateness: Int64) {
        collect(lateness: lateness)
        batch.changes += segments.map(Change.segment)
        batch.changes += arrivals.map(Change.arrival)
        segments.removeAll()
        arrivals.removeAll()
    }

    /// The map up to here is written as it is.
    private mutating func collect(lateness: Int64 = 0) {
        segments += map?.take(lateness: lateness) ?? []
        arrivals += map?.takeEvidence() ?? []
    }
}
