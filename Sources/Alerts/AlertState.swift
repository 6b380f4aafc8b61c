package import Bluetooth

/// What an engine remembers of alerts across restarts: what was raised and is not over, and what came and went lately.
///
/// Instants are on the clock of one boot of the machine; ``resumed(boot:at:)`` brings those of an earlier boot onto the
/// present one's.
package struct AlertState: Hashable, Sendable, Codable {
    /// An alert that was raised and is not over.
    struct Raised: Hashable, Sendable, Codable {
        var rule: String
        var headset: String?
        var severity: AlertRule.Severity
        var ways: [String]
        var text: String
        /// When the condition began to hold.
        var since: Int64
        /// When people were notified last.
        var notified: Int64
        /// How often it was raised again soon after it had been over.
        var flaps: Int
        /// Since when the condition is clear; not kept across restarts.
        var clearSince: Int64?
    }

    /// An alert that is over, kept until it has been calm for long.
    struct Calm: Hashable, Sendable, Codable {
        var rule: String
        var headset: String?
        var since: Int64
        var flaps: Int
    }

    /// Makes the identifiers of messages differ from those of any other machine and state.
    var origin: String
    /// How many messages were made.
    var count: Int64 = 0
    var raised: [Raised] = []
    var calm: [Calm] = []
    /// The boot that instants belong to.
    var boot: String
    /// When the state was kept last.
    var keptTime: Int64
    var keptUnixNanoseconds: Int64

    /// A state in which nothing has happened.
    ///
    /// - Parameters:
    ///   - origin: random, so that no other state has it.
    ///   - boot: the machine's boot.
    package init(origin: String, boot: String, at now: AlertInstant) {
        self.origin = origin
        self.boot = boot
        keptTime = now.time.nanoseconds
        keptUnixNanoseconds = now.unixNanoseconds
    }

    /// The state as of now, on the clock of the present boot. How long the machine was off only its wall clock says; where that
    /// was set back, it counts as no time.
    package func resumed(boot: String, at now: AlertInstant) -> AlertState {
        var state = self
        state.keptTime = now.time.nanoseconds
        state.keptUnixNanoseconds = now.unixNanoseconds
        state.boot = boot
        for index in state.raised.indices { state.raised[index].clearSince = nil }
        guard boot != self.boot else { return state }
        let away = max(0, now.unixNanoseconds &- keptUnixNanoseconds)
        let shift = { (instant: Int64) in now.time.nanoseconds &- away &- (keptTime &- instant) }
        for index in state.raised.indices {
            state.raised[index].since = shift(state.raised[index].since)
            state.raised[index].notified = shift(state.raised[index].notified)
        }
        for index in state.calm.indices { state.calm[index].since = shift(state.calm[index].since) }
        return state
    }

    /// How many alerts are raised that go by a way.
    package func raisedCount(by way: String) -> Int { raised.count { $0.ways.isEmpty || $0.ways.contains(way) } }

    /// Since when an alert is raised; nil where it is not.
    package func raisedSince(rule: String, headset: String?) -> MonotonicTime? {
        raised.first { $0.rule == rule && $0.headset == headset }.map { MonotonicTime(nanoseconds: $0.since) }
    }
}
