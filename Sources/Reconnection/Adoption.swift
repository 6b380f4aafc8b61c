import Bluetooth

/// What is done about an unrecognised candidate: one that advertises as the model does, at an address at which a headset that
/// proves nothing about itself was never reached.
package struct Adoption: Hashable, Sendable {
    /// Who decides.
    package enum Policy: String, Hashable, Sendable, CaseIterable {
        /// It is adopted by itself where it is the only one in sight, once the known addresses have been silent for
        /// ``Adoption/delay``.
        case automatic
        /// A person decides.
        case ask
        /// Nobody is asked: only known addresses count.
        case never
    }

    /// Who decides.
    package var policy: Policy
    /// For how long no known address was heard before another one may be the headset's. By default a minute: a battery is
    /// changed and a headset boots in less, and more would cost a session that nobody watches.
    package var delay: Duration

    /// Creates a choice.
    package init(_ policy: Policy = .automatic, after delay: Duration = .seconds(60)) {
        self.policy = policy
        self.delay = delay
    }
}

/// Unrecognised candidates that were heard lately.
struct CandidateList: Sendable {
    /// The most that are kept; those that were heard longest ago go first.
    static let limit = 16

    private var heard: [(identifier: PeripheralIdentifier, at: MonotonicTime)] = []
    /// Those that were heard before the headset itself was there: a headset that has another address has left its old one.
    private(set) var neighbours: [PeripheralIdentifier] = []

    mutating func hear(_ identifier: PeripheralIdentifier, at now: MonotonicTime) {
        heard.removeAll { $0.identifier == identifier }
        heard.append((identifier, now))
        if heard.count > Self.limit { heard.removeFirst() }
    }

    mutating func forget(_ identifier: PeripheralIdentifier) {
        heard.removeAll { $0.identifier == identifier }
    }

    /// The headset is at a known address now.
    mutating func noteKnownHeadset() {
        guard !heard.isEmpty else { return }
        for (identifier, _) in heard where !neighbours.contains(identifier) { neighbours.append(identifier) }
        neighbours.removeFirst(max(0, neighbours.count - Self.limit))
        heard.removeAll()
    }

    /// Those that were heard within the period, in the order of their addresses.
    func present(within period: Duration, at now: MonotonicTime) -> [PeripheralIdentifier] {
        heard.filter { now - $0.at <= period }.map(\.identifier).sorted()
    }
}
