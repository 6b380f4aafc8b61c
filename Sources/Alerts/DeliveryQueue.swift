package import Bluetooth

/// The messages that one way still has to deliver, in the order in which they are tried: that of their age, but those that have
/// failed go behind the others. Of each alert only the newest message matters, so there is one of each at most; what a receiver
/// never heard of and is over is not sent at all.
package struct DeliveryQueue: Hashable, Sendable, Codable {
    /// The most messages that wait; beyond it the oldest is dropped, and counted.
    package static let waitingMaximum = 50
    /// How often a receiver may refuse a message for what it says; then it is dropped, and counted.
    static let rejectionMaximum = 3
    /// How often in a row a message may fail for whatever reason before it goes behind the others, and then each time: what
    /// only it fails on, such as a name that a program cannot read, looks like any other failure.
    static let failureMaximum = 3
    /// The time from a failed delivery to the next attempt, doubled with each failure.
    static let retryMinimum = Duration.seconds(5)
    static let retryMaximum = Duration.seconds(300)

    /// A message that waits.
    struct Waiting: Hashable, Sendable, Codable {
        var notice: Notice
        /// True where it may have arrived: a delivery was begun, and nobody knows how it ended.
        var mayHaveArrived = false
        /// How often the receiver has refused it for what it says; nil for never, also in what an earlier version has kept.
        var rejections: Int?
        /// How often in a row it has failed for another reason; nil for never.
        var failures: Int?
    }

    /// The way's name.
    package let way: String
    private(set) var waiting: [Waiting] = []
    /// Alerts that the receiver knows to be raised, or may know.
    private(set) var known: [String] = []
    /// How many messages were dropped or became needless since the last one that was delivered.
    package private(set) var undelivered = 0
    /// Why the latest attempt failed; nil where it did not.
    package private(set) var problem: String?
    private var failures = 0
    /// No attempt before then; on the clock of the present boot, so it is not kept.
    private var nextAttempt = MonotonicTime.boot

    private enum CodingKeys: String, CodingKey {
        case way, waiting, known, undelivered, problem
    }

    /// A queue without messages.
    package init(way: String) {
        self.way = way
    }

    /// How many messages wait.
    package var count: Int { waiting.count }

    /// Takes a message.
    package mutating func add(_ notice: Notice) {
        let alert = notice.alert
        let isKnown = known.contains(alert) || waiting.contains { $0.notice.alert == alert && $0.mayHaveArrived }
        let before = waiting.count
        waiting.removeAll { $0.notice.alert == alert }
        undelivered += before - waiting.count
        if notice.event == .recovered && !isKnown {
            // Nobody has heard that it began.
            undelivered += 1
            return
        }
        if isKnown { know(alert) }
        waiting.append(Waiting(notice: notice))
        if waiting.count > Self.waitingMaximum, let oldest = oldestIndex {
            let dropped = waiting.remove(at: oldest)
            // Its end is sent, for the receiver may have heard of it.
            if dropped.mayHaveArrived { know(dropped.notice.alert) }
            undelivered += 1
        }
    }

    /// The message that was made first: the first in the queue may have been made later than one that failed and is behind it.
    /// The last one was added now, whatever has become of the clock; of those of one instant it is the first in the queue.
    private var oldestIndex: Int? {
        waiting.indices.dropLast().min { waiting[$0].notice.atUnixNanoseconds < waiting[$1].notice.atUnixNanoseconds }
    }

    /// True where a message waits and is due.
    package func isDue(at now: MonotonicTime) -> Bool { !waiting.isEmpty && now >= nextAttempt }

    /// The message to be delivered now, which from now on may have arrived; nil where none waits, or it is too early. Keep the
    /// queue before delivering.
    package mutating func begin(at now: MonotonicTime) -> Notice? {
        guard isDue(at: now) else { return nil }
        waiting[0].mayHaveArrived = true
        return waiting[0].notice
    }

    /// The delivery of a message has ended.
    package mutating func end(_ notice: Notice, _ outcome: DeliveryOutcome, at now: MonotonicTime) {
        guard let index = waiting.firstIndex(where: { $0.notice.id == notice.id }) else { return }
        switch outcome {
        case .delivered:
            waiting.remove(at: index)
            known.removeAll { $0 == notice.alert }
            if notice.event != .recovered { know(notice.alert) }
            undelivered = 0
            problem = nil
            failures = 0
            nextAttempt = .boot
        case .refused(let reason), .unclear(let reason):
            if case .refused = outcome { waiting[index].mayHaveArrived = false }
            let failureCount = (waiting[index].failures ?? 0) + 1
            waiting[index].failures = failureCount
            // Of one alert only one message waits, so none overtakes another of its own alert.
            if failureCount >= Self.failureMaximum {
                let failed = waiting.remove(at: index)
                waiting.append(failed)
            }
            fail(reason, at: now)
        case .rejected(let reason):
            // The others need not wait for what nobody will take.
            var rejected = waiting.remove(at: index)
            let rejections = (rejected.rejections ?? 0) + 1
            (rejected.rejections, rejected.mayHaveArrived) = (rejections, false)
            if rejections < Self.rejectionMaximum { waiting.append(rejected) } else { undelivered += 1 }
            fail(reason, at: now)
        }
    }

    /// An attempt has failed: the next one comes later.
    private mutating func fail(_ reason: String, at now: MonotonicTime) {
        problem = reason
        let delay = min(Self.retryMaximum, Self.retryMinimum * (1 << min(failures, 10)))
        failures += 1
        nextAttempt = now + delay
    }

    private mutating func know(_ alert: String) {
        known.removeAll { $0 == alert }
        known.append(alert)
        if known.count > AlertEngine.raisedMaximum { known.removeFirst() }
    }
}

/// How the delivery of a message ended.
package enum DeliveryOutcome: Hashable, Sendable {
    /// The receiver has it.
    case delivered
    /// The receiver surely does not have it.
    case refused(reason: String)
    /// The receiver surely does not have it, and refuses it for what it says: another message may pass.
    case rejected(reason: String)
    /// It may have arrived.
    case unclear(reason: String)

    /// Why it is not known to have arrived; nil where it is.
    package var reason: String? {
        switch self {
        case .delivered: nil
        case .refused(let reason), .rejected(let reason), .unclear(let reason): reason
        }
    }
}
