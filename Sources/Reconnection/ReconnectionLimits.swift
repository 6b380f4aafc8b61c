/// How long each state of the machine may last. Every value bounds how late the headset is noticed when it comes back: with a
/// stale cached address the worst case is `connectLimit + secondConnectLimit + retrievalLimit + backoffMaximum`, plus the
/// connection itself, which stays below the 10 s that the program promises. After a silence it is the profile's silence limit
/// and `backoffMaximum + silentConnectLimit + retrievalLimit`. A headset of Bluetooth Classic may be waited for during
/// `retrievalLimit + classicScanWindow` before it is paged, and whoever is to prove itself holds the machine for `proofLimit`
/// and `backoffMaximum`.
package struct ReconnectionLimits: Hashable, Sendable {
    /// Layer 0: bluetoothd answers GetManagedObjects within milliseconds; a silent system must not hold up the start.
    package var restorationLimit: Duration = .milliseconds(1000)
    /// Layer 1: a headset in range answers within 0.2 - 3 s; a stale address never does.
    package var connectLimit: Duration = .milliseconds(4000)
    /// Layer 1, for the second best identifier of a round.
    package var secondConnectLimit: Duration = .milliseconds(1500)
    /// Layer 1 after a link on which nothing came any more, or a connect to an address that a scan had heard and that did not
    /// answer, for the one identifier of that round: that has taken up to 5.5 s of the 10 s, and the scan that follows finds
    /// the headset at this address, too.
    package var silentConnectLimit: Duration = .milliseconds(1500)
    /// Layer 1, for a headset of Bluetooth Classic that is known by one address alone. Several of them take turns of 2.8 s at
    /// the radio, and a connect that is cancelled within its turn begins behind all others: with 4 or 6 s, of three that are
    /// away one in ten needs more than 10 s to be back. Nothing else waits for its end: it would only be begun anew.
    package var classicConnectLimit: Duration = .milliseconds(20_000)
    /// Layer 2.
    package var retrievalLimit: Duration = .milliseconds(500)
    /// Layer 3: long enough for the slowest advertising interval of the specification (10.24 s) to be met mostly.
    package var scanWindow: Duration = .milliseconds(10_000)
    /// Layer 3 after ``dutyCycleRounds`` exhausted rounds: the radio rests more, the pending connection stays armed.
    package var restingScanWindow: Duration = .milliseconds(3000)
    /// Layer 3, for a headset of Bluetooth Classic that is known: a little longer than ``bindingDelay``. It is paging that
    /// finds it where it was, and nothing is paged meanwhile.
    package var classicScanWindow: Duration = .milliseconds(3000)
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
    /// How long whoever has an unknown address may take to prove to be the headset, however much time each step has: the
    /// headset itself may have come back meanwhile, and is connected to in what is left of the 10 s.
    package var proofLimit: Duration = .milliseconds(6000)
    /// How often the services may change on a link that does not stream yet.
    package var modificationTries = 3
    /// How long a step may take once a pairing is under way: no central waits for one longer than that.
    package var pairingLimit: Duration = .seconds(60)
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
    /// The same for an address at which the headset itself has streamed: whoever poses there once must not keep it away.
    package var doubtPeriod: Duration = .seconds(10)
    /// How long a headset is left alone that has refused with an error for a person; doubled with each refusal.
    package var refusalMinimum: Duration = .seconds(5)
    /// The longest such pause: nothing is looked for meanwhile, and it may have been somebody else who refused.
    package var refusalMaximum: Duration = .seconds(60)
    /// After how long it is tried again, doubled each time, what a person is waited for: nobody may say that the cause is gone.
    package var operatorMinimum: Duration = .seconds(60)
    /// The longest such pause.
    package var operatorMaximum: Duration = .seconds(900)
    /// The same for a headset that does not let itself be paired. Its central says when it may be tried again, after 15 minutes
    /// at most, and each attempt before that doubles its pause.
    package var pairingRefusalLimit: Duration = .seconds(960)

    /// The default limits.
    package init() {}
}
