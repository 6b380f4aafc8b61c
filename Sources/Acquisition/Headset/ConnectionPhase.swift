import Bluetooth
import Reconnection

/// The connection's state as people see it; a change of it is an event in the database. The states of the machine change far
/// more often while a headset is away.
package enum ConnectionPhase: String, Hashable, Sendable, CaseIterable {
    case stopped
    case waitingForAdapter
    case waitingForOperator
    case searching
    case establishing
    case streaming
    /// Let go, because what it sends breaks a rule: only a person can change that.
    case quarantined
    /// Connected, but nothing has arrived for a while: the link will break, or the headset hangs.
    case silent

    /// True while eegsync has a link to the headset.
    package var holdsLink: Bool {
        switch self {
        case .establishing, .streaming, .silent: true
        case .stopped, .waitingForAdapter, .waitingForOperator, .searching, .quarantined: false
        }
    }

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
}
