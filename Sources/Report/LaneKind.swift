import Headsets
import Storage

/// What a piece of a lane stands for: a state of the connection, a cause of missing samples, or a condition of a signal. Each
/// has a colour and a pattern, so that it is distinguished in print and by everybody.
package enum LaneKind: String, Hashable, Sendable, CaseIterable {
    // States of the connection, as the database has them, but for the last one.
    case streaming, silent, establishing, searching, waitingForAdapter, waitingForOperator, stopped, quarantined
    /// No process acquired.
    case notRunning
    // Causes of gaps.
    case linkLost, silence, headsetRestarted, hostRestarted, daemonDown, adapterUnavailable, queueOverflow, storageUnavailable
    case packetLost, packetDamaged, notSent, impedance, bufferOverrun
    case `operator`
    // Conditions of signals.
    case good, lineNoise, flat, railed, poorContact, noContact
    /// A word of a later version.
    case other

    /// Lines over a colour.
    enum Pattern: Hashable, CaseIterable {
        case plain, rising, falling, crossed, dotted, horizontal, vertical
    }

    /// The states of a connection.
    static let states: [LaneKind] = [
        .streaming, .silent, .establishing, .searching, .waitingForAdapter, .waitingForOperator, .stopped, .quarantined,
        .notRunning, .other,
    ]
    /// The causes of gaps.
    static let causes: [LaneKind] = GapCause.allCases.map { LaneKind(rawValue: $0.rawValue) ?? .other } + [.other]
    /// The conditions of signals, the better first.
    static let conditions: [LaneKind] = [.good, .lineNoise, .poorContact, .flat, .railed, .noContact, .other]

    init(_ word: String) { self = LaneKind(rawValue: word) ?? .other }

    /// The colour, on white and on black, and what is drawn over it.
    var look: (colour: String, pattern: Pattern) {
        switch self {
        case .streaming, .good: ("#2e9e6b", .plain)
        case .silent, .silence: ("#d9a400", .dotted)
        case .establishing: ("#56b4e9", .horizontal)
        case .searching, .linkLost: ("#e07b00", .rising)
        case .waitingForAdapter, .adapterUnavailable: ("#a45fb8", .crossed)
        case .waitingForOperator: ("#a45fb8", .falling)
        case .stopped, .operator: ("#8b949e", .plain)
        case .quarantined: ("#d1344b", .crossed)
        case .notRunning, .daemonDown: ("#6e7681", .vertical)
        case .headsetRestarted, .flat: ("#2f7fd0", .falling)
        case .hostRestarted: ("#6e7681", .crossed)
        case .queueOverflow: ("#d1344b", .dotted)
        case .storageUnavailable: ("#d1344b", .rising)
        case .packetLost: ("#d1344b", .plain)
        case .packetDamaged: ("#d1344b", .falling)
        case .notSent: ("#8b949e", .dotted)
        case .impedance: ("#1f9fa8", .dotted)
        case .bufferOverrun: ("#9a6a3a", .rising)
        case .lineNoise: ("#d9a400", .rising)
        case .railed: ("#d1344b", .crossed)
        case .poorContact: ("#e07b00", .dotted)
        case .noContact: ("#6e7681", .horizontal)
        case .other: ("#8b949e", .falling)
        }
    }

    /// What a condition of a signal is called; others have words of their own.
    var conditionWords: String {
        switch self {
        case .good: "good"
        case .lineNoise: "line noise"
        case .flat: "flat"
        case .railed: "railed"
        case .poorContact: "poor contact"
        case .noContact: "no contact"
        default: rawValue
        }
    }
}
