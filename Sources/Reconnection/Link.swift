package import Bluetooth
package import Headsets

/// One connection, and what is known about it. The establish flow asks it what is missing; a fact that is already known
/// changes nothing, so replies may come in any order, twice or late.
package struct Link: Hashable, Sendable {
    /// A step of the establish flow.
    package enum Step: String, Hashable, Sendable, CaseIterable {
        /// Services and characteristics.
        case discover
        /// Read what proves which headset this is.
        case identify
        /// Notifications of the control characteristics.
        case subscribeControl
        /// What happened inside the headset?
        case queryStatus
        /// Out of low power or the bootloader.
        case wake
        /// Configure from scratch.
        case initialise
        /// Notifications of the data characteristics.
        case subscribeData
        /// Start live streaming.
        case start
    }

    /// What is known of the headset's inside.
    package enum StatusKnowledge: Hashable, Sendable {
        /// Not asked yet, or to be asked again.
        case unknown
        /// It answered.
        case known(HeadsetStatus)
        /// It did not answer twice; it is treated as rebooted.
        case unanswered
        /// The model has no status query; each link starts from scratch.
        case none
    }

    /// Under which identifier the headset is connected.
    package var identifier: PeripheralIdentifier
    /// Which layer found it.
    package var layer: ReconnectionLayer
    /// When that layer began.
    package var layerBegan: MonotonicTime
    /// The number under which the link was connected; a loss of the link carries it.
    package var connectAttempt: Attempt
    /// Services and characteristics are known.
    package var isDiscovered = false
    /// It is proven, or needs no proof, that this is our headset.
    package var isIdentified = false
    /// Control notifications are on.
    package var isControlSubscribed = false
    /// What the status query gave.
    package var status = StatusKnowledge.unknown
    /// The headset was configured from scratch on this link.
    package var isInitialised = false
    /// Data notifications are on.
    package var isDataSubscribed = false
    /// Live streaming was started, or was found running.
    package var isStarted = false
    /// Status queries sent since the last answer.
    package var statusTries = 0
    /// The serial number that the latest status held, where it was not the expected one.
    package var latestProof: String?
    /// Statuses that held an unexpected serial number other than the one before.
    package var proofTries = 0
    /// Wake sequences sent.
    package var wakeTries = 0
    /// How often its services have changed since it was connected, or has streamed.
    package var modifications = 0
    /// Until when it must have proven to be the headset; nil where it has, or need not.
    package var proofDue: MonotonicTime?

    /// Creates a link of which nothing is known but that it is up.
    package init(
        identifier: PeripheralIdentifier, layer: ReconnectionLayer, layerBegan: MonotonicTime, connectAttempt: Attempt
    ) {
        self.identifier = identifier
        self.layer = layer
        self.layerBegan = layerBegan
        self.connectAttempt = connectAttempt
    }

    /// The headset's last answer.
    package var lastStatus: HeadsetStatus? {
        if case .known(let status) = status { return status }
        return nil
    }

    /// What is missing next until samples flow; nil when nothing is.
    ///
    /// - Parameter knownBoot: the boot identifier of the headset's last epoch; another one means that it rebooted.
    package func nextStep(profile: any HeadsetProfile, knownBoot: UInt32?) -> Step? {
        if !isDiscovered { return .discover }
        if !isIdentified { return .identify }
        if !isControlSubscribed { return .subscribeControl }
        switch status {
        case .unknown: return .queryStatus
        case .unanswered, .none:
            if !isInitialised { return .initialise }
        case .known(let status):
            switch status.condition {
            case .lowPower, .bootloader: return .wake
            case .idle, .wrongConfiguration:
                if !isInitialised { return .initialise }
            case .streaming, .sampling:
                if status.isRestart(since: knownBoot), !isInitialised { return .initialise }
            }
        }
        if !isDataSubscribed { return .subscribeData }
        return isStarted ? nil : .start
    }
}

extension HeadsetStatus {
    /// False where the wake sequence has to come first.
    var isAwake: Bool { condition != .lowPower && condition != .bootloader }

    /// True where the headset has another boot identifier than `knownBoot`; nil means that there is no earlier epoch.
    package func isRestart(since knownBoot: UInt32?) -> Bool {
        guard let knownBoot, let bootIdentifier else { return false }
        return knownBoot != bootIdentifier
    }
}
