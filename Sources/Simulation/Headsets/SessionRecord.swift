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
