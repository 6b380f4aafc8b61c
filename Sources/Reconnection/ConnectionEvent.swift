package import Bluetooth
package import Headsets

/// What happens to the machine. Replies carry the attempt of the effect that asked.
package enum ConnectionEvent: Hashable, Sendable {
    /// A recording is wanted.
    case start
    /// The recording is not wanted any more, or the process ends.
    case stop(StopReason)
    /// The adapter's state is known or changed.
    case adapterChanged(AdapterState)
    /// A person removed what was waited for (unblocked the headset, granted a permission).
    case operatorActed
    /// The deadline has passed.
    case deadlineReached
    /// Reply to ``ConnectionEffect/restoreState(identifiers:attempt:)``.
    case restored([RestoredPeripheral], attempt: Attempt)
    /// Reply to ``ConnectionEffect/retrieveConnected(attempt:)``: peripherals that are not known to be other headsets.
    case retrievedConnected([PeripheralIdentifier], attempt: Attempt)
    /// An advertisement that matches the profile and is not known to be another headset's.
    case discovered(PeripheralIdentifier)
    /// The scan could not start or broke off.
    case scanFailed(CentralError)
    /// Reply to ``ConnectionEffect/connect(_:attempt:)``.
    case connected(PeripheralIdentifier, attempt: Attempt)
    /// Reply to ``ConnectionEffect/connect(_:attempt:)``.
    case connectFailed(CentralError, attempt: Attempt)
    /// The link is down; also the reply to ``ConnectionEffect/cancelConnection(_:attempt:)``.
    case disconnected(CentralError?, attempt: Attempt)
    /// Services and characteristics are known and complete.
    case servicesDiscovered(attempt: Attempt)
    /// The value that proves which headset this is; nil where the headset has none.
    case identityRead(String?, attempt: Attempt)
    /// All control characteristics notify.
    case controlSubscribed(attempt: Attempt)
    /// The headset sent its status, asked or not.
    case statusReceived(HeadsetStatus)
    /// All data characteristics notify.
    case dataSubscribed(attempt: Attempt)
    /// Reply to ``ConnectionEffect/run(_:on:attempt:)``: all commands are sent and acknowledged.
    case commandsCompleted(attempt: Attempt)
    /// A step of the establish flow failed.
    case stepFailed(CentralError, attempt: Attempt)
    /// The headset's services changed; what was discovered is void.
    case servicesModified
    /// A pairing with the headset is under way: what is waited for takes as long as that.
    case pairingBegan
    /// Samples arrived in a notification of the characteristic.
    case samplesReceived(from: BluetoothUUID)
}

/// Why a machine is stopped.
package enum StopReason: String, Hashable, Sendable, CaseIterable {
    /// A person stopped the recording: the headset is commanded to stop, too.
    case operatorStopped
    /// A person paused all recordings, which stay open: the headset is commanded to stop, too.
    case paused
    /// The process ends and the recording stays open: the headset goes on sampling into its memory, if it has one.
    case shutdown
    /// What the headset sends breaks a rule: it is let go until a person says so, and the recording stays open.
    case quarantined

    /// True where the headset is commanded to stop sampling.
    var endsSampling: Bool {
        switch self {
        case .operatorStopped, .paused: true
        case .shutdown, .quarantined: false
        }
    }

    /// Why samples are missing from then on.
    var gapCause: GapCause {
        switch self {
        case .operatorStopped, .paused: .operatorStopped
        case .shutdown: .daemonDown
        case .quarantined: .quarantined
        }
    }
}
