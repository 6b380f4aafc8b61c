package import Bluetooth
import Headsets

/// What a machine wants to know again after the process died: the counterpart of Core Bluetooth's preserved state. Stored as
/// a row that changes with the events.
///
/// It has nothing of scans and subscriptions: on Linux they end with the process that asked for them, over bluetoothd as over
/// the kernel's sockets, and what is scanned for and subscribed to follows from the headset's model. Links outlive a process
/// where bluetoothd holds them, and are found by their peripherals.
package struct PreservedState: Hashable, Sendable {
    /// The peripheral that is connected, or to which a connection is pending.
    package var peripheral: PeripheralIdentifier?
    /// An address that was connected to and is not proven to be the headset's; see ``ConnectionMachine/unproven``.
    package var unproven: PeripheralIdentifier?

    /// Creates a preserved state.
    package init(peripheral: PeripheralIdentifier? = nil, unproven: PeripheralIdentifier? = nil) {
        self.peripheral = peripheral
        self.unproven = unproven
    }
}

extension ConnectionMachine {
    /// What is to be preserved now.
    package var preservedState: PreservedState { PreservedState(peripheral: peripheral, unproven: unproven) }

    /// The identifier that is connected to or tried; nil where there is none.
    package var peripheral: PeripheralIdentifier? {
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
    package var name: String {
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
