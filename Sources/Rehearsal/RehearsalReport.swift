package import Bluetooth
package import Simulation

/// What a rehearsal found.
package struct RehearsalReport: Sendable {
    /// A promise that was broken.
    package struct Violation: Hashable, Sendable {
        /// When it was noticed, in virtual time.
        package var time: MonotonicTime
        /// Which rule.
        package var rule: Rule
        /// What was seen.
        package var detail: String
    }

    /// The rules that checkers watch.
    package enum Rule: String, Hashable, Sendable, CaseIterable {
        /// Never two connections outstanding for one headset, and whatever else the contract of a central forbids.
        case contract
        /// What is stored is what the headset sampled: nothing twice, nothing shifted, nothing invented, no headset swapped.
        case storedIsSampled
        /// What a headset was allowed to forget is committed, and survives a power cut.
        case acknowledgedIsCommitted
        /// A daemon that is ended in order writes what it has.
        case endsInOrder
        /// Nothing is stored after the operator's stop.
        case stoppedStaysStopped
        /// A recording begins and ends when it was asked to, as soon as a daemon runs and can write that.
        case timesAreKept
        /// A row has the time at which the headset took it, but for a constant delay.
        case time
        /// No address is taken for a headset's that nothing proves, unless the configuration or a person allows it, and
        /// each is written down.
        case address
        /// Rows and ledger account for every sample.
        case audit
        /// Samples flow within 10 s of everything being in order.
        case backInTime
        /// What the headset still holds is not missing in the end.
        case drained
        /// The database refused a batch for another reason than a planned fault.
        case storage
    }

    /// A headset that came back: how long after it was available, and by which layer.
    package struct Return: Hashable, Sendable {
        package var layer: String
        package var latency: Duration
    }

    /// The seed.
    package var seed: UInt64
    /// Broken promises; empty in a good run.
    package var violations: [Violation] = []
    /// Every return to streaming.
    package var returns: [Return] = []
    /// How often each fault was really injected.
    package var injected = InjectedFaults()
    /// Sample rows in the database at the end.
    package var rows: Int64 = 0
    /// Samples that the ledger calls missing at the end.
    package var missing: Int64 = 0
    /// Samples that were missing and came after all.
    package var recovered: Int64 = 0
    /// Impedances in the database at the end.
    package var impedances = 0
    /// How right the times of each stream are.
    package var times: [StreamTimes] = []
    /// Virtual time that passed.
    package var simulated: Duration = .zero
    /// What happened, for people.
    package var timeline: [TimelineEntry] = []

    /// One line of the timeline.
    package struct TimelineEntry: Hashable, Sendable {
        package var time: MonotonicTime
        package var text: String
    }

    /// How right the times of a stream's rows are, against when the headset took them.
    package struct StreamTimes: Hashable, Sendable {
        /// The stream's name.
        package var stream: String
        /// The number of its bank.
        package var bank: Int
        /// By how much a row is late in the middle: the constant delay, which is no error.
        package var delay: Duration
        /// How many rows were looked at, and how many of them when a link had lasted for a minute.
        package var rows: Int
        package var settledRows: Int
        /// The standard deviation and the largest error of the latter.
        package var deviation = Duration.zero
        package var worst = Duration.zero
        /// The largest error of the others.
        package var unsettledWorst = Duration.zero
    }

    /// The most violations that are kept of one run.
    static let violationLimit = 50
}
