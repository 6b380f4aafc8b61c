/// Defects that can be planted on a central. Each breaks one sentence of the contract; a suite that does not notice it is worth
/// nothing.
enum PlantedDefect: String, CaseIterable {
    // MARK: The adapter
    /// The state is emitted twice.
    case emitsStateTwice
    /// `state` runs ahead of what was emitted.
    case knowsStateEarly
    /// A scan that ends with the adapter is not emitted.
    case hidesFailedScans
    /// A connect that ends with the adapter is not emitted.
    case forgetsPendingConnects

    // MARK: Answers
    /// Every answer comes twice.
    case answersTwice
    /// Reads are not answered.
    case dropsReads
    /// Cancels with nothing to cancel are not answered.
    case dropsIdleCancels
    /// What is set already is not answered.
    case dropsRepeatedNotify
    /// What cannot be done without a link is not answered.
    case dropsNotConnected
    /// Answers come, but the deadline does not say when.
    case deliversLate
    /// The deadline stays in the past.
    case spins
    /// Answers carry the attempt of the call that was made last.
    case carriesLastAttempt
    /// Answers to two reads are exchanged.
    case swapsReads
    /// A write without response is answered.
    case answersWriteCommands

    // MARK: Scans
    /// Everything is reported, whatever the filter says.
    case ignoresFilter
    /// A running scan keeps its first filter.
    case keepsFirstFilter
    /// A scan goes on after it was stopped.
    case scansOn

    // MARK: Links
    /// A lost link is emitted without an attempt.
    case losesWithoutAttempt
    /// A lost link is emitted as if it had been cancelled.
    case losesWithoutError
    /// A lost link is not emitted.
    case hidesLosses
    /// A cancel is answered, but a pending connect goes on.
    case forgetsCancel
    /// A cancelled link is emitted as lost, too.
    case losesWhatWasCancelled
    /// A cancel is answered with an error.
    case cancelsWithError
    /// A link that outlived its process is not found.
    case restoresNothing
    /// Everything that is connected is retrieved, whatever its services.
    case retrievesEverything

    // MARK: Attributes
    /// A discovery overlooks a characteristic.
    case overlooksCharacteristic
    /// An unknown characteristic seems to work.
    case inventsCharacteristics
    /// What the headset refuses seems to work.
    case hidesRefusals
    /// Notifications are said to be off, and stay on.
    case notifiesOn
    /// The time of a notification is that of boot.
    case stampsWithBoot
    /// The time of a notification lies ahead.
    case stampsAhead
    /// Notifications are handed over in reverse.
    case reversesValues
    /// Each link is said to have changed its services.
    case modifiesServices
}
