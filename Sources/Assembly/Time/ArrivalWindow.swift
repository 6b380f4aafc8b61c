import Bluetooth

/// When a sample came.
struct Arrival: Hashable, Sendable {
    var n: Int64
    /// On `CLOCK_BOOTTIME`.
    var nanoseconds: Int64
    /// The headset's own clock, where it came along.
    var deviceTicks: UInt64?
}

/// Picks the earliest arrival of about each second: only those show the time, and they are kept as evidence.
struct ArrivalWindow: Sendable {
    /// How many samples it spans. A stream that is slow has longer ones, so that its evidence stays small beside its rows.
    let length: Int64
    private var earliest: Arrival?
    private var endN = Int64.min

    /// Rows for each piece of evidence: with about as many bytes as a row it stays below a hundredth.
    private static let rowsPerEvidence = 128.0
    /// No window is longer, in seconds.
    private static let longestSeconds = 10.0

    init(samplingFrequency: Double) {
        let samples = min(max(samplingFrequency, Self.rowsPerEvidence), Self.longestSeconds * samplingFrequency)
        length = max(1, Int64(clamping: samples.rounded()))
    }

    /// Takes an arrival. Returns the earliest one of the window that it ends.
    ///
    /// - Parameter period: nanoseconds between two samples, as far as they are known.
    mutating func take(_ arrival: Arrival, period: Double) -> Arrival? {
        guard arrival.n >= endN else {
            better(arrival, period: period)
            return nil
        }
        defer {
            earliest = arrival
            endN = arrival.n.addingClamped(length)
        }
        return earliest
    }

    /// Takes what else is known of a sample of the window under way: it could have come so early.
    ///
    /// Two arrivals are judged by each other: the line that they are late against may have moved between them.
    mutating func better(_ arrival: Arrival, period: Double) {
        guard arrival.n < endN, let earliest else { return }
        let due = Double(arrival.n &- earliest.n) * period
        if Double(arrival.nanoseconds &- earliest.nanoseconds) < due { self.earliest = arrival }
    }

    /// Nothing more comes. Returns the earliest arrival of the window that was under way.
    mutating func finish() -> Arrival? {
        defer {
            earliest = nil
            endN = .min
        }
        return earliest
    }
}
