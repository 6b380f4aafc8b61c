import Acquisition
import Bluetooth
import Storage

/// What has happened, in words.
extension HistoryEvent {
    /// One sentence without a full stop.
    var words: String {
        switch kind {
        case .connection: connectionWords
        case .attempt: attemptWords
        case .return: returnWords
        case .process: processWords
        case .machine: machineWords
        }
    }

    /// How good it is; nil for neither good nor bad.
    var style: TerminalStyle.Style? {
        switch (kind, name) {
        case (.return, _): .good
        case (.attempt, _): .faint
        case (.process, "died"), (.connection, ConnectionPhase.quarantined.rawValue): .bad
        case (.connection, ConnectionPhase.waitingForAdapter.rawValue),
            (.connection, ConnectionPhase.waitingForOperator.rawValue), (.machine, _):
            .caution
        default: nil
        }
    }

    private var connectionWords: String {
        switch cause {
        case "addressAdopted": return "took \(detail ?? "an address") for the headset's"
        case "adoptionWithdrawn": return "found the headset at \(detail ?? "its address") again"
        default: break
        }
        guard let phase = ConnectionPhase(rawValue: name) else { return name }
        let known = cause.flatMap { ConnectionCause(phase: phase, code: $0, parameter: detail) }
        let reason = (known?.words ?? cause ?? detail).map { ": \($0)" } ?? ""
        return phase.words + reason
    }

    private var attemptWords: String {
        let error = cause.flatMap { CentralError(code: $0, parameter: detail)?.description } ?? cause ?? detail
        let address = address.map { " (\($0))" } ?? ""
        let outcome =
            switch name {
            case "streaming": "reached"
            case "nothingFound": "found nothing"
            case "silent": "no answer"
            case "otherHeadset": "it was another headset"
            case "interrupted": "broken off"
            default: error ?? name
            }
        return "tried \(layerWords)\(address): \(outcome)"
    }

    private var returnWords: String {
        let time = durationNanoseconds.map { ", \(Quantity.duration(.nanoseconds($0))) after it was heard" } ?? ""
        let again = cause == nil ? "" : " again"
        return "samples flow\(again), found \(layerWords)\(time)" + (detail.map { "; missing because \($0)" } ?? "")
    }

    private var layerWords: String {
        switch layer {
        case "restoration": "by a link that was kept"
        case "cachedIdentifier": "by its known address"
        case "serviceRetrieval": "among what is connected"
        case "scan": "by a scan"
        default: "in another way"
        }
    }

    private var processWords: String {
        switch name {
        case "started":
            let taken = attempt.flatMap { $0 > 0 ? ", and goes on with \(Quantity.count($0, "open recording"))" : nil } ?? ""
            return "eegsync \(detail ?? "") started\(taken)"
        case "ended": return "eegsync ended in order"
        case "died":
            let reason = cause.map { ": \($0)" } ?? " without an end"
            return "eegsync was alive; it died within the next minute\(reason)"
        default: return name
        }
    }

    private var machineWords: String {
        let time = durationNanoseconds.map { Quantity.duration(.nanoseconds(abs($0))) } ?? ""
        switch name {
        case "rebooted": return "this machine was booted"
        case "suspended": return "this machine was suspended"
        case "resumed": return "this machine is awake again, after \(time)"
        case "clockStepped": return "the wall clock was set \((durationNanoseconds ?? 0) < 0 ? "back" : "forward") by \(time)"
        case "rowsHeld": return "rows waited for room on the disk" + (detail.map { ": \($0)" } ?? "")
        case "rowsStored": return "rows are stored again, after \(time)"
        default: return name
        }
    }
}

extension ConnectionPhase {
    /// What the headset does.
    var words: String {
        switch self {
        case .stopped: "let go"
        case .waitingForAdapter: "waiting for the Bluetooth adapter"
        case .waitingForOperator: "waiting for a person"
        case .searching: "looking for the headset"
        case .establishing: "connected, preparing the headset"
        case .streaming: "recording"
        case .silent: "connected, but nothing arrives"
        case .quarantined: "quarantined; the others go on, and 'systemctl reload eegsync' tries it again"
        }
    }
}
