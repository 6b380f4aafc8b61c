/// How the ledger knows the length of a gap.
package enum GapCertainty: Hashable, Sendable, Codable {
    /// The headset's counter, or its own mark, says it.
    case counted
    /// Clocks say it: right within so many samples, three standard deviations.
    case timed(uncertainty: Int64)
    /// It is not known yet: the gap still lasts, or no clock can be trusted.
    case unknown

    /// The word that the ledger writes.
    package var name: String {
        switch self {
        case .counted: "counted"
        case .timed: "timed"
        case .unknown: "unknown"
        }
    }

    /// The samples within which a timed length is right; nil for others.
    package var uncertainty: Int64? {
        if case .timed(let uncertainty) = self { uncertainty } else { nil }
    }
}
