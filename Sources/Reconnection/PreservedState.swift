public import Bluetooth
import Headsets

/// What a machine wants to know again after the process died: the counterpart of Core Bluetooth's preserved state. Stored as
/// a row that changes with the events.
public struct PreservedState: Hashable, Sendable {
    /// The state's name.
    public var state: String
    /// The peripheral that is connected or pending.
    public var peripheral: PeripheralIdentifier?
    /// An address that was connected to and is not proven to be the headset's; see ``ConnectionMachine/unproven``.
    public var unproven: PeripheralIdentifier?
    /// True while the peripheral is connected, false while the connection is pending.
    public var isConnected: Bool
    /// Characteristics whose notifications are on.
    public var subscribed: [BluetoothUUID]
    /// What is scanned for; nil while no scan runs.
    public var scanFilter: ScanFilter?
    /// The boot identifier of the headset's latest epoch.
    public var bootIdentifier: UInt32?

    /// Creates a preserved state.
    public init(
        state: String, peripheral: PeripheralIdentifier? = nil, unproven: PeripheralIdentifier? = nil,
        isConnected: Bool = false, subscribed: [BluetoothUUID] = [], scanFilter: ScanFilter? = nil,
        bootIdentifier: UInt32? = nil
    ) {
        self.state = state
        self.peripheral = peripheral
        self.unproven = unproven
        self.isConnected = isConnected
        self.subscribed = subscribed
        self.scanFilter = scanFilter
        self.bootIdentifier = bootIdentifier
    }
}

extension ConnectionMachine {
    /// What is to be preserved now.
    public var preservedState: PreservedState {
        var preserved = PreservedState(
            state: state.name, peripheral: peripheral, unproven: unproven, bootIdentifier: knownBoot)
        switch state {
        case .stopped, .waitingForAdapter, .waitingForOperator, .restoring, .retrieving, .backingOff, .connecting, .cancelling:
            break
        case .scanning: preserved.scanFilter = profile.recognition.scanFilter
        case .establishing(let link, _), .streaming(let link, _), .stopping(let link):
            preserved.isConnected = true
            if link.isControlSubscribed { preserved.subscribed += profile.controlCharacteristics }
            if link.isDataSubscribed { preserved.subscribed += profile.dataCharacteristics }
        }
        return preserved
    }

    /// The identifier that is connected to or tried; nil where there is none.
    public var peripheral: PeripheralIdentifier? {
        switch state {
        case .stopped, .waitingForAdapter, .waitingForOperator, .restoring, .retrieving, .backingOff, .scanning: nil
        case .connecting(let candidate): candidate.identifier
        case .cancelling(let identifier, _, _): identifier
        case .establishing(let link, _), .streaming(let link, _), .stopping(let link): link.identifier
        }
    }
}

extension ConnectionMachine.State {
    /// The state's name, with the step of the establish flow: the rows of the table in the documentation.
    public var name: String {
        switch self {
        case .stopped: "stopped"
        case .waitingForAdapter: "waitingForAdapter"
        case .waitingForOperator: "waitingForOperator"
        case .restoring: "restoring"
        case .connecting: "connecting"
        case .cancelling: "cancelling"
        case .retrieving: "retrieving"
        case .scanning: "scanning"
        case .establishing(_, let step):
            switch step {
            case .discover: "discovering"
            case .identify: "identifying"
            case .subscribeControl: "subscribingControl"
            case .queryStatus: "queryingStatus"
            case .wake: "waking"
            case .initialise: "initialising"
            case .subscribeData: "subscribingData"
            case .start: "starting"
            }
        case .streaming: "streaming"
        case .stopping: "stopping"
        case .backingOff: "backingOff"
        }
    }
}
