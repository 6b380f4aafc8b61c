import Bluetooth

/// Keeps the sessions of a headset without memory, and what of the present one was sent.
struct SessionRecord {
    private(set) var sessions: [SampleSession] = []
    /// True between start and stop.
    private(set) var isSampling = false
    /// The first packet that was not sent.
    var next: Int64 = 0
    /// How many packets stand for one instant of the stream that paces them.
    private var packetsPerInstant = 1
    /// Nil where a silent radio costs the oldest packets.
    private var queue: RefusingQueue?

    /// - Parameter refusingQueueAhead: see ``HeadsetSpecification``.
    init(refusingQueueAhead: Double? = nil) {
        queue = refusingQueueAhead.map { RefusingQueue(ahead: $0) }
    }

    /// The present session's index; only while there is one.
    var number: Int { sessions.count - 1 }

    /// Begins a session; one that goes on ends.
    ///
    /// - Parameter packetsPerInstant: how many packets stand for one instant of the stream that paces them.
    mutating func start(
        at time: Int64, firstIndexes: [Int64], samplingFrequencies: [Double], crystal: Crystal, delays: [Int64] = [],
        packetsPerInstant: Int = 1
    ) {
        stop(at: time)
        self.packetsPerInstant = packetsPerInstant
        isSampling = true
        next = 0
        queue?.removeAll()
        sessions.append(
            SampleSession(
                began: MonotonicTime(nanoseconds: time), firstIndexes: firstIndexes, samplingFrequencies: samplingFrequencies,
                crystal: crystal, delays: delays))
    }

    /// Ends the session, if there is one.
    mutating func stop(at time: Int64) {
        if isSampling { sessions[sessions.count - 1].ended = MonotonicTime(nanoseconds: time) }
        isSampling = false
    }

    /// The link has ended, or a new one begins: what a queue has refused to let go is gone.
    mutating func linkChanged(at time: Int64) {
        guard queue != nil, isSampling, let session = sessions.last else { return }
        queue?.removeAll()
        next = max(next, session.position(at: MonotonicTime(nanoseconds: time), stream: 0) * Int64(packetsPerInstant))
    }

    /// The first instants of the packets that are sent now: of those that are due, as ``takeDue(at:backlog:step:stream:)``, and
    /// of those that wait in a queue which refuses others.
    mutating func takePackets(at time: Int64, backlog: Int64, step: Int64 = 1, isHeard: Bool) -> [Int64] {
        guard queue != nil, isSampling, let session = sessions.last else {
            let due = takeDue(at: time, backlog: backlog, step: step)
            return Array(stride(from: due.lowerBound, to: due.upperBound, by: Int(step)))
        }
        next -= next % step
        let due = takeDue(at: time, backlog: .max, step: step)
        let perSecond = session.samplingFrequencies[0] * Double(packetsPerInstant) / Double(step)
        return queue?.take(
            Array(stride(from: due.lowerBound, to: due.upperBound, by: Int(step))), limit: Int(backlog / step),
            perSecond: perSecond, isHeard: isHeard, at: time) ?? []
    }

    /// Takes the packets that are due, by the instants of a stream. Of those that a silent radio has held back, more than
    /// `backlog` are lost: as many steps of `step` as it takes.
    mutating func takeDue(at time: Int64, backlog: Int64, step: Int64 = 1, stream: Int = 0) -> Range<Int64> {
        guard isSampling, let session = sessions.last else { return next..<next }
        let end = session.position(at: MonotonicTime(nanoseconds: time), stream: stream) * Int64(packetsPerInstant)
        if end - next > backlog { next += (end - next - backlog + step - 1) / step * step }
        let due = next..<max(next, next + (end - next) / step * step)
        next = due.upperBound
        return due
    }
}
