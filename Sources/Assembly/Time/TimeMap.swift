import Bluetooth
import Headsets
import Storage

/// Maps a stream's n to `CLOCK_BOOTTIME`, learnt from the arrivals of live samples.
///
/// Of about each second the earliest arrival is kept as evidence (``ArrivalWindow``). The map is a line from knot to knot, a
/// minute apart, so that time never jumps; each knot lies on the ``ArrivalEnvelope`` of the evidence on both sides of it, and
/// stays provisional until that is complete. The time of a sample is that of its earliest possible arrival: the constant part
/// of the delay stays in it.
struct TimeMap: Sendable {
    /// The piece that goes on.
    private(set) var segment: SegmentRecord
    /// What the rate is known to be.
    private(set) var rate: ArrivalEnvelope.Rate
    /// Evidence that was not taken yet.
    private var freshEvidence = WaitingEvidence()

    /// Nominal nanoseconds between two samples.
    private let nominalPeriod: Double
    /// Where x and y are 0.
    private let origin: (n: Int64, nanoseconds: Int64)
    private var window: ArrivalWindow
    /// The evidence of the present stretch, as far back as a fit reaches.
    private var points: [ArrivalEnvelope.Point] = []
    /// The line through the latest evidence.
    private var live: ArrivalEnvelope?
    /// Knots from the last final one on, ascending; the last one begins ``segment``.
    private var knots: [Knot]
    /// What was handed over of pieces that may still change.
    private var handedOver: [SegmentRecord] = []
    /// The end of the segment before the map: no time lies before it.
    private var floorNanoseconds: Int64?
    private var lastEvidenceN: Int64?
    /// How many instants the blocks hold.
    private var blockLength = 1
    private var punctual = PunctualArrival()
    private var burst = FirstBurst()

    /// The distance of knots: within it no crystal bends by more than some hundredths of a millisecond.
    static let knotNanoseconds = 60e9
    /// Evidence so far from a knot, on both sides, decides where it lies.
    static let reachNanoseconds = 45e9
    /// Fewer arrivals around a knot know it worse than those that came since.
    private static let fewPoints = 16
    /// Without evidence for so long the map is interrupted: what is before and behind is fitted by itself.
    static let interruptionNanoseconds = 60e9
    /// What another stream's packet says is believed where it is earlier than the line, and what that is uncertain by, by no
    /// more nanoseconds.
    private static let borrowedEarliness = 20e6
    /// Arrivals so near before a piece are looked at with it.
    private static let touchNanoseconds = 3e9
    /// What the rate may have changed by since the minute before, as a part.
    static let rateDrift = 5e-6

    /// Begins a time map at sample n, whose first arrival is `time`.
    ///
    /// - Parameter rate: what is known of the headset's clock.
    init(
        stream: StreamID, epoch: Int, firstN: Int64, referenceN: Int64, at time: MonotonicTime, samplingFrequency: Double,
        rate: ArrivalEnvelope.Rate = .unknown
    ) {
        nominalPeriod = 1e9 / samplingFrequency
        window = ArrivalWindow(samplingFrequency: samplingFrequency)
        origin = (referenceN, time.nanoseconds)
        self.rate = rate
        let x = Double(firstN &- referenceN) * nominalPeriod
        knots = [
            Knot(n: firstN, y: rate.slope * x, uncertainty: 100e6, lateness: nil, pointCount: 0, isFinal: false)
        ]
        segment = SegmentRecord(
            stream: stream, firstN: firstN, lastN: firstN, epoch: epoch, referenceN: referenceN, referenceTime: time,
            periodNanoseconds: nominalPeriod * (1 + rate.slope), residualNanoseconds: nil, observationCount: 0,
            uncertaintyNanoseconds: 100e6)
    }

    // MARK: Asking

    /// By how many nanoseconds more than is stated the samples may have been taken before their times.
    func waited(at time: MonotonicTime? = nil) -> Double { time.map(burst.waited) ?? burst.waited }

    /// The instant of sample n.
    func time(of n: Int64) -> MonotonicTime {
        MonotonicTime(
            nanoseconds: segment.referenceTime.nanoseconds.addingClamped(
                Int64(clamping: (Double(n &- segment.referenceN) * segment.periodNanoseconds).rounded())))
    }

    /// Where the stream stands at `time`: by the line, or by the latest arrival that came on time, where that knows it better.
    /// So it does while the rate is not known well.
    func position(at time: MonotonicTime) -> StreamPosition {
        var position = positionByLine(at: time)
        let waited = burst.waited(at: time)
        position.uncertainty = position.uncertainty.addingClamped(Int64(clamping: (waited / nominalPeriod).rounded(.up)))
        return position
    }

    /// The same where what the link began with has not waited.
    func positionByLine(at time: MonotonicTime) -> StreamPosition {
        let line = lineUncertainty(at: time)
        let rate = live?.rate ?? rate
        let period = bounded(nominalPeriod * (1 + rate.slope))
        if let position = punctual.position(at: time, rate, period: period, within: line) { return position }
        let elapsed = Double(time.nanoseconds) - Double(segment.referenceTime.nanoseconds) + lift
        return StreamPosition(
            n: segment.referenceN.addingClamped(Int64(clamping: (elapsed / segment.periodNanoseconds).rounded())),
            uncertainty: Int64(clamping: (line / segment.periodNanoseconds).rounded(.up)))
    }

    /// Within how many nanoseconds the line is right at `time`.
    private func lineUncertainty(at time: MonotonicTime) -> Double {
        let x = Double(time.nanoseconds) - Double(origin.nanoseconds)
        return live?.uncertainty(at: x) ?? (segment.uncertaintyNanoseconds ?? 0) + 3 * rate.deviation * abs(x)
    }

    // MARK: Answers

    /// The segment reaches to sample n at least.
    mutating func extend(to n: Int64) {
        segment.lastN = max(segment.lastN, n)
    }

    /// Takes the arrival of a live block whose last sample is n.
    ///
    /// - Parameters:
    ///   - count: how many instants it holds.
    ///   - deviceTicks: the headset's own clock, where it came with the block.
    mutating func observe(n: Int64, count: Int, at time: MonotonicTime, deviceTicks: UInt64? = nil) {
        let arrival = Arrival(n: n, nanoseconds: time.nanoseconds, deviceTicks: deviceTicks)
        descend(to: arrival)
        segment.observationCount += 1
        blockLength = count
        burst.note(arrival, nominalPeriod: nominalPeriod)
        punctual.note(arrival, live?.rate ?? rate, nominalPeriod: nominalPeriod)
        if let evidence = window.take(arrival, period: segment.periodNanoseconds) { add(evidence) }
    }

    /// Takes what a packet of another stream says of sample n, which was observed: by the headset's clock it could have come
    /// at `time`.
    mutating func borrow(n: Int64, at time: MonotonicTime, deviceTicks: UInt64) {
        let earliness = Double(self.time(of: n).nanoseconds) - lift - Double(time.nanoseconds)
        guard segment.observationCount > 0, earliness <= lineUncertainty(at: time) + Self.borrowedEarliness else { return }
        let arrival = Arrival(n: n, nanoseconds: time.nanoseconds, deviceTicks: deviceTicks)
        descend(to: arrival)
        window.better(arrival, period: segment.periodNanoseconds)
    }

    /// Until there is a line, the earliest arrival so far is the best that is known.
    private mutating func descend(to arrival: Arrival) {
        guard points.isEmpty, knots.count == 1 else { return }
        let y = y(of: arrival)
        let due = knots[0].y + rate.slope * (x(of: arrival.n) - x(of: knots[0].n))
        guard segment.observationCount == 0 || y < due else { return }
        knots[0].y += y - due
        draw()
    }

    /// So many samples were entered as missing that were lost at an unknown n since some seconds: the rows since then have
    /// times that are early by as much at the most.
    ///
    /// - Parameters:
    ///   - n: since which sample; nil for the present piece.
    ///   - earliest: what shows it, which is kept for whoever fits the map anew.
    mutating func misplaced(count: Int64, from n: Int64? = nil, earliest: Arrival? = nil) {
        if let earliest, earliest.n > lastEvidenceN ?? .min { keep(earliest) }
        var first = knots.count - 1
        if let n { first = knots.divide(at: n, y: y(of: Arrival(n: n, nanoseconds: time(of: n).nanoseconds))) ?? first }
        for index in knots.indices.dropFirst(first) { knots[index].misplaced = max(knots[index].misplaced, count) }
        draw()
    }

    /// No time of the map may lie before `time`: the last of the segment before it.
    mutating func setFloor(_ time: MonotonicTime) {
        floorNanoseconds = time.nanoseconds
        draw()
    }

    /// The link has ended: what is known is all that will be.
    mutating func interrupt() {
        if let evidence = window.finish() { add(evidence) }
    }

    /// Hands over the pieces that have changed since the last call, in ascending order.
    ///
    /// - Parameter lateness: by how many samples all that comes is late now, without anything that shows why.
    mutating func take(lateness: Int64 = 0) -> [SegmentRecord] {
        var pieces = zip(knots, knots.dropFirst()).map { piece(from: $0, to: $1) } + [openPiece(lateness)]
        if let final = knots.lastIndex(where: \.isFinal), final > 0 { knots.removeFirst(final) }
        pieces.removeAll { piece in
            handedOver.contains { $0.firstN == piece.firstN && !piece.isWorthWriting(over: $0) }
        }
        handedOver.removeAll { old in pieces.contains { $0.firstN == old.firstN } || old.firstN < knots[0].n }
        handedOver += pieces
        return pieces
    }

    /// The open piece, with what its last sample is uncertain by: it may lie seconds behind the latest evidence.
    private func openPiece(_ lateness: Int64) -> SegmentRecord {
        var piece = segment
        let (begin, end) = (x(of: segment.firstN), x(of: segment.lastN))
        let known = segment.uncertaintyNanoseconds ?? 0
        let atEnd = live?.uncertainty(at: end) ?? known + 3 * rate.deviation * (end - begin)
        piece.uncertaintyNanoseconds = max(known, atEnd) + burst.waited + Double(lateness) * nominalPeriod
        return piece
    }

    /// Hands over the evidence since the last call.
    mutating func takeEvidence() -> [ArrivalRecord] {
        freshEvidence.take()
    }

    // MARK: Fitting

    private func x(of n: Int64) -> Double { Double(n &- origin.n) * nominalPeriod }

    private func y(of arrival: Arrival) -> Double { Double(arrival.nanoseconds &- origin.nanoseconds) - x(of: arrival.n) }

    private mutating func keep(_ evidence: Arrival) {
        let time = MonotonicTime(nanoseconds: evidence.nanoseconds)
        freshEvidence.append(
            ArrivalRecord(stream: segment.stream, n: evidence.n, at: time, deviceTicks: evidence.deviceTicks))
    }

    private mutating func add(_ evidence: Arrival) {
        keep(evidence)
        let x = x(of: evidence.n)
        if let last = lastEvidenceN, x - self.x(of: last) > Self.interruptionNanoseconds {
            beginStretch(at: evidence.n, after: last)
        }
        lastEvidenceN = max(evidence.n, lastEvidenceN ?? evidence.n)
        // What the headset's memory gives back from before the link lies on one line that reaches back.
        if points.isEmpty, knots.count == 1, x - self.x(of: knots[0].n) > Self.interruptionNanoseconds {
            knots.append(Knot(n: evidence.n, y: 0, uncertainty: 0, lateness: nil, pointCount: 0, isFinal: false))
        }
        points.append(ArrivalEnvelope.Point(x: x, y: y(of: evidence)))
        let oldest = x - 2 * Self.reachNanoseconds - Self.knotNanoseconds
        if let kept = points.firstIndex(where: { $0.x >= oldest }), kept > 64 { points.removeFirst(kept) }
        while let last = knots.last, x - self.x(of: last.n) >= Self.knotNanoseconds {
            let period = max(1, Int64(clamping: (Self.knotNanoseconds / nominalPeriod).rounded()))
            knots.append(
                Knot(n: last.n.addingClamped(period), y: 0, uncertainty: 0, lateness: nil, pointCount: 0, isFinal: false))
        }
        refit(at: x)
    }

    /// Where nothing came for long, what was before stays as it was, and what comes begins anew.
    private mutating func beginStretch(at n: Int64, after last: Int64) {
        let begin = knots.last?.n ?? n
        let slope = rate.slope
        let behind = live
        for index in knots.indices { knots[index].isFinal = true }
        func knot(at n: Int64, isFinal: Bool) -> Knot {
            Knot(
                n: n, y: behind?.y(at: x(of: n)) ?? slope * x(of: n), uncertainty: behind?.uncertainty(at: x(of: n)) ?? 100e6,
                lateness: nil, pointCount: 0, isFinal: isFinal)
        }
        if last > begin { knots.append(knot(at: last, isFinal: true)) }
        knots.append(knot(at: n, isFinal: false))
        points.removeAll(keepingCapacity: true)
        rate.deviation = (rate.deviation * rate.deviation + Self.rateDrift * Self.rateDrift).squareRoot()
    }

    /// A packet that holds more instants waits longer until it is full, and is sent in its turn.
    private var supposedLateness: Double { 2e6 + 0.25 * Double(blockLength - 1) * nominalPeriod }

    private mutating func refit(at now: Double) {
        let reach = Self.reachNanoseconds
        guard
            let latest = ArrivalEnvelope(
                points(from: now - 2 * reach, to: now), prior: rate, supposedLateness: supposedLateness)
        else { return }
        live = latest
        for index in knots.indices where !knots[index].isFinal {
            let x = x(of: knots[index].n)
            let around = points(from: x - reach, to: x + reach)
            let fit = ArrivalEnvelope(around, prior: rate, supposedLateness: supposedLateness)
            let knowsLittle = (fit?.pointCount ?? 0) < Self.fewPoints
            guard let fit, !knowsLittle || fit.uncertainty(at: x) <= latest.uncertainty(at: x) else {
                // It lies before nearly all evidence, as samples from memory do.
                knots[index].y = latest.y(at: x)
                knots[index].uncertainty = latest.uncertainty(at: x)
                continue
            }
            knots[index].y = fit.y(at: x)
            knots[index].uncertainty = fit.uncertainty(at: x)
            knots[index].lateness = fit.lateness
            knots[index].pointCount = fit.pointCount
            guard now >= x + reach else { continue }
            knots[index].isFinal = true
            learn(from: fit, upTo: index)
        }
        draw(at: now)
    }

    private func points(from first: Double, to last: Double) -> ArraySlice<ArrivalEnvelope.Point> {
        let begin = points.firstIndex { $0.x >= first } ?? points.endIndex
        let end = points.lastIndex { $0.x <= last }.map { $0 + 1 } ?? begin
        return points[begin..<max(begin, end)]
    }

    /// A final knot gives the rate from the one before; it may have changed a little when the next one comes.
    private mutating func learn(from fit: ArrivalEnvelope, upTo index: Int) {
        var known = fit.rate
        if index > 0, knots[index - 1].isFinal, knots[index - 1].pointCount > 0 {
            let (before, after) = (knots[index - 1], knots[index])
            let span = x(of: after.n) - x(of: before.n)
            let deviation = (before.uncertainty + after.uncertainty) / 3 / max(1, span)
            if span > 0, deviation < known.deviation {
                known = ArrivalEnvelope.Rate(slope: (after.y - before.y) / span, deviation: deviation)
            }
        }
        known.deviation = (known.deviation * known.deviation + Self.rateDrift * Self.rateDrift).squareRoot()
        rate = known
    }

    // MARK: Drawing

    private func nanoseconds(of knot: Knot) -> Int64 {
        let time = unbounded(knot)
        guard let floorNanoseconds, time <= floorNanoseconds else { return time }
        return floorNanoseconds.addingClamped(1)
    }

    private func unbounded(_ knot: Knot) -> Int64 {
        origin.nanoseconds.addingClamped(Int64(clamping: (x(of: knot.n) + knot.y).rounded()))
    }

    /// By how much the open piece is drawn later than its line, to pass the segment before it: where the stream stands now, the
    /// line says.
    private var lift: Double {
        knots.last.map { Double(nanoseconds(of: $0)) - Double(unbounded($0)) } ?? 0
    }

    /// Within what a piece's time is right, besides what the fits know: where the segment before it has to be passed, and where
    /// rows lie beside their n.
    private func displacement(of knot: Knot) -> Double {
        Double(nanoseconds(of: knot)) - Double(unbounded(knot)) + Double(knot.misplaced) * nominalPeriod
    }

    private func piece(from knot: Knot, to next: Knot) -> SegmentRecord {
        let count = max(1, Double(next.n &- knot.n))
        let (begin, end) = (nanoseconds(of: knot), nanoseconds(of: next))
        var piece = segment
        piece.firstN = knot.n
        piece.lastN = max(knot.n, next.n &- 1)
        piece.referenceN = knot.n
        piece.referenceTime = MonotonicTime(nanoseconds: begin)
        // A longer one would reach beyond the next piece.
        let period = (Double(end) - Double(begin)) / count
        piece.periodNanoseconds = period > 0 ? period : bounded(period)
        piece.residualNanoseconds = next.lateness ?? knot.lateness
        piece.observationCount = next.pointCount
        let slope = (next.y - knot.y) / max(nominalPeriod, x(of: next.n) - x(of: knot.n))
        piece.uncertaintyNanoseconds =
            max(knot.uncertainty, next.uncertainty) + contradiction(from: knot, to: x(of: next.n), slope: slope)
            + displacement(of: knot) + ArrivalEnvelope.bend(between: x(of: next.n) - x(of: knot.n) - Self.knotNanoseconds)
        return piece
    }

    /// The open piece: from the last knot through where the line is now.
    private mutating func draw(at now: Double? = nil) {
        guard let knot = knots.last else { return }
        let begin = x(of: knot.n)
        var slope = live?.rate.slope ?? rate.slope
        var uncertainty = knot.uncertainty
        if let now, let live {
            if now - begin > 5e9 { slope = (live.y(at: now) - knot.y) / (now - begin) }
            uncertainty = max(uncertainty, live.uncertainty(at: now)) + contradiction(from: knot, to: now, slope: slope)
        }
        let first = nanoseconds(of: knot)
        segment.firstN = knot.n
        segment.lastN = max(segment.lastN, knot.n)
        segment.referenceN = knot.n
        segment.referenceTime = MonotonicTime(nanoseconds: first)
        segment.periodNanoseconds = bounded(nominalPeriod * (1 + slope))
        segment.residualNanoseconds = live?.lateness
        segment.uncertaintyNanoseconds = uncertainty + displacement(of: knot)
    }

    /// By how much arrivals contradict a line that ought to touch them from below. Where they stay above it, all of some
    /// seconds, the samples there may be later than it says, as something was lost or came twice that no counter shows; where
    /// one lies below, they are earlier: the line rises over such a step, and nothing arrives before it was sent.
    private func contradiction(from knot: Knot, to end: Double, slope: Double) -> Double {
        let begin = x(of: knot.n)
        var (most, before, last) = (0.0, Double.infinity, Double.infinity)
        for point in points(from: begin - Self.touchNanoseconds, to: end) {
            let lateness = point.y - knot.y - slope * (point.x - begin)
            if point.x >= begin {
                most = max(most, -lateness)
                if last < .infinity { most = max(most, min(before, last, lateness)) }
            }
            (before, last) = (last, lateness)
        }
        return most
    }

    /// Time goes on, whatever arrives.
    private func bounded(_ period: Double) -> Double { min(max(period, nominalPeriod * 0.01), nominalPeriod * 100) }
}
