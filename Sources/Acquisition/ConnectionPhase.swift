import Bluetooth
import Reconnection

/// The connection's state as people see it; a change of it is an event in the database. The states of the machine change far
/// more often while a headset is away.
public enum ConnectionPhase: String, Hashable, Sendable, CaseIterable {
    case stopped
    case waitingForAdapter
    case waitingForOperator
    case searching
    case establishing
    case streaming

    init(_ state: ConnectionMachine.State) {
        switch state {
        // Nobody wants the headset any longer, although its link is still being closed.
        case .stopped, .cancelling(_, _, .stop): self = .stopped
        case .waitingForAdapter: self = .waitingForAdapter
        case .waitingForOperator: self = .waitingForOperator
        case .restoring, .connecting, .cancelling, .retrieving, .scanning, .backingOff: self = .searching
        case .establishing: self = .establishing
        case .streaming, .stopping: self = .streaming
        }
    }

    /// One sentence: what is waited for, and what a person can do.
    func sentence(_ machine: ConnectionMachine) -> String {
        switch self {
        case .stopped: return "Stopped: no recording is wanted, or eegsync was ended."
        case .waitingForAdapter: return Self.sentence(machine.adapter)
        case .waitingForOperator:
            guard case .waitingForOperator(let error) = machine.state else { return "Waiting for a person." }
            return "Waiting for a person: \(error). Remove the cause; the connection then goes on by itself."
        case .searching:
            return "Searching: the headset does not answer. Check that it is switched on, charged and in range."
        case .establishing: return "Connected: setting up the headset."
        case .streaming: return "Recording."
        }
    }

    private static func sentence(_ adapter: AdapterState) -> String {
        switch adapter {
        case .poweredOff: "Waiting: the Bluetooth adapter is switched off. Switch it on (bluetoothctl power on)."
        case .blocked: "Waiting: Bluetooth is blocked. Unblock it (rfkill unblock bluetooth)."
        case .absent: "Waiting: no Bluetooth adapter is there. Plug one in."
        case .unauthorized: "Waiting: this user may not use Bluetooth. Add it to the group bluetooth."
        case .unsupported: "Waiting: the Bluetooth adapter does not support Low Energy. Plug in another one."
        case .unknown, .resetting, .poweredOn: "Waiting for the Bluetooth system; it comes back by itself."
        }
    }
}
