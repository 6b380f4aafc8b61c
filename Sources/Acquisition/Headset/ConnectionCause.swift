package import Bluetooth
import Reconnection

/// What a connection waits for, where its phase does not say it: a code, and what the code leaves open. Words for people are
/// made where they are shown.
package enum ConnectionCause: Hashable, Sendable {
    /// The Bluetooth adapter.
    case adapter(AdapterState)
    /// A person, who must remove what was in the way.
    case error(CentralError)
    /// A person, who must look at the headset.
    case quarantine(QuarantineReason)

    /// As it is stored beside the phase.
    package var code: String {
        switch self {
        case .adapter(let state): state.rawValue
        case .error(let error): error.code
        case .quarantine(let reason): reason.code
        }
    }

    /// What the code leaves open; nil where it says all.
    package var parameter: String? {
        switch self {
        case .adapter: nil
        case .error(let error): error.parameter
        case .quarantine(let reason): reason.parameter
        }
    }

    /// What a machine waits for; nil where its state says it all.
    init?(_ machine: ConnectionMachine) {
        switch machine.state {
        case .waitingForAdapter: self = .adapter(machine.adapter)
        case .waitingForOperator(let error): self = .error(error)
        default: return nil
        }
    }

    /// What is stored of a phase; nil where the phase has no such cause.
    package init?(phase: ConnectionPhase, code: String, parameter: String?) {
        switch phase {
        case .waitingForAdapter:
            guard let state = AdapterState(rawValue: code) else { return nil }
            self = .adapter(state)
        case .waitingForOperator:
            guard let error = CentralError(code: code, parameter: parameter) else { return nil }
            self = .error(error)
        case .quarantined:
            guard let reason = QuarantineReason(code: code, parameter: parameter) else { return nil }
            self = .quarantine(reason)
        case .stopped, .searching, .establishing, .streaming, .silent: return nil
        }
    }
}
