/// How long each state of the machine may last. Every value bounds how late the headset is noticed when it comes back: with a
/// stale cached address the worst case is `connectLimit + secondConnectLimit + retrievalLimit + backoffMaximum`, plus the
/// connection itself, which stays below the 10 s that the program promises.
public struct ReconnectionLimits: Hashable, Sendable {
    /// Layer 0: bluetoothd answers GetManagedObjects within milliseconds; a silent system must not hold up the start.
    public var restorationLimit: Duration = .milliseconds(1000)
    /// Layer 1: a headset in range answers within 0.2 - 3 s; a stale address never does.
    public var connectLimit: Duration = .milliseconds(4000)
    /// Layer 1, for the second best identifier of a round.
    public var secondConnectLimit: Duration = .milliseconds(1500)
    /// Layer 2.
    public var retrievalLimit: Duration = .milliseconds(500)
    /// Layer 3: long enough for the slowest advertising interval of the specification (10.24 s) to be met mostly.
    public var scanWindow: Duration = .milliseconds(10_000)
    /// Layer 3 after ``dutyCycleRounds`` exhausted rounds: the radio rests more, the pending connection stays armed.
    public var restingScanWindow: Duration = .milliseconds(3000)
    /// After how many exhausted rounds in a row the scan is duty-cycled; 40 rounds are about 10 minutes.
    public var dutyCycleRounds = 40
    /// How long the system may take to confirm a cancelled connection before it is cancelled again.
    public var cancelLimit: Duration = .milliseconds(1500)
    /// How often a cancel is repeated before the connection counts as gone.
    public var cancelTries = 3
    /// How often a headset is woken on one link before the link is given up.
    public var wakeTries = 3
    /// How many statuses with an unexpected serial number, each another one, are taken on one link.
    public var proofTries = 4
    /// The first pause after a failure.
    public var backoffMinimum: Duration = .milliseconds(50)
    /// The longest pause. A longer one would cost more than it saves: a quarter of it is the mean delay of every return.
    public var backoffMaximum: Duration = .milliseconds(1000)
    /// How long streaming must have held before the pauses start from the minimum again.
    public var stableAfter: Duration = .milliseconds(10_000)
    /// How many identifiers are kept: as many as the database keeps of a headset whose address rotates.
    public var identifiersKept = 16
    /// How many cached identifiers are tried in one round.
    public var identifiersPerRound = 2
    /// Layer 3: how long the scan waits for a known address before it connects to an unknown one, which has to prove itself.
    public var provableDelay: Duration = .milliseconds(500)
    /// Layer 3: how long the scan listens before a headset that proves nothing counts as the only one in sight. Peripherals
    /// that are in no hurry advertise every 1 - 1.2 s (Core Specification, Vol 3, Part C, Appendix A).
    public var bindingDelay: Duration = .milliseconds(2500)
    /// For how long a candidate counts as in sight after it was heard: longer than the rounds in which nothing is scanned.
    public var candidatePeriod: Duration = .seconds(10)
    /// For how long an identifier that belongs to another headset is not tried again.
    public var rejectionPeriod: Duration = .seconds(600)

    /// The default limits.
    public init() {}
}
