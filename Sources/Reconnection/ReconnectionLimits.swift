/// How long each state of the machine may last. Every value bounds how late the headset is noticed when it comes back: with a
/// stale cached address the worst case is `connectLimit + secondConnectLimit + retrievalLimit + backoffMaximum`, plus the
/// connection itself, which stays below the 10 s that the program promises. After a silence it is the profile's silence limit
/// and `backoffMaximum + silentConnectLimit + retrievalLimit`.
package struct ReconnectionLimits: Hashable, Sendable {
    /// Layer 0: bluetoothd answers GetManagedObjects within milliseconds; a silent system must not hold up the start.
    package var restorationLimit: Duration = .milliseconds(1000)
    /// Layer 1: a headset in range answers within 0.2 - 3 s; a stale address never does.
    package var connectLimit: Duration = .milliseconds(4000)
    /// Layer 1, for the second best identifier of a round.
    package var secondConnectLimit: Duration = .milliseconds(1500)
    /// Layer 1 after a link on which nothing came any more, for the one identifier of that round: the silence has taken up to
    /// 5.5 s of the 10 s, and the scan that follows finds the headset at this address, too.
    package var silentConnectLimit: Duration = .milliseconds(1500)
    /// Layer 2.
    package var retrievalLimit: Duration = .milliseconds(500)
    /// Layer 3: long enough for the slowest advertising interval of the specification (10.24 s) to be met mostly.
    package var scanWindow: Duration = .milliseconds(10_000)
    /// Layer 3 after ``dutyCycleRounds`` exhausted rounds: the radio rests more, the pending connection stays armed.
    package var restingScanWindow: Duration = .milliseconds(3000)
    /// After how many exhausted rounds in a row the scan is duty-cycled; 40 rounds are about 10 minutes.
    package var dutyCycleRounds = 40
    /// How long the system may take to confirm a cancelled connection before it is cancelled again.
    package var cancelLimit: Duration = .milliseconds(1500)
    /// How often a cancel is repeated before the connection counts as gone.
    package var cancelTries = 3
    /// How often a headset is woken on one link before the link is given up.
    package var wakeTries = 3
    /// How many statuses with an unexpected serial number, each another one, are taken on one link.
    package var proofTries = 4
    /// The first pause after a failure.
    package var backoffMinimum: Duration = .milliseconds(50)
    /// The longest pause. A longer one would cost more than it saves: a quarter of it is the mean delay of every return.
    package var backoffMaximum: Duration = .milliseconds(1000)
    /// How long streaming must have held before the pauses start from the minimum again.
    package var stableAfter: Duration = .milliseconds(10_000)
    /// How many identifiers are kept: as many as the database keeps of a headset whose address rotates.
    package var identifiersKept = 16
    /// How many cached identifiers are tried in one round.
    package var identifiersPerRound = 2
    /// Layer 3: how long the scan waits for a known address before it connects to an unknown one, which has to prove itself.
    package var provableDelay: Duration = .milliseconds(500)
    /// Layer 3: how long the scan listens before a headset that proves nothing counts as the only one in sight. Peripherals
    /// that are in no hurry advertise every 1 - 1.2 s (Core Specification, Vol 3, Part C, Appendix A).
    package var bindingDelay: Duration = .milliseconds(2500)
    /// For how long a candidate counts as in sight after it was heard: longer than the rounds in which nothing is scanned.
    package var candidatePeriod: Duration = .seconds(10)
    /// For how long an identifier that belongs to another headset is not tried again.
    package var rejectionPeriod: Duration = .seconds(600)
    /// How long a headset is left alone that has refused with an error for a person; doubled with each refusal.
    package var refusalMinimum: Duration = .seconds(5)
    /// The longest such pause.
    package var refusalMaximum: Duration = .seconds(900)

    /// The default limits.
    package init() {}
}
