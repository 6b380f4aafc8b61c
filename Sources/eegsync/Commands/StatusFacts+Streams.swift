import Storage

/// The streams of a running recording, and their signals.
extension StatusFacts {
    /// One stream of a running recording.
    struct Stream: Encodable {
        var name: String
        var view: String
        var samplingFrequency: Double
        var rowsPerSecond: Double
        var rows: Int64
        var missing: Int64
        var gaps: Int64
        /// Those of `missing` and `gaps` that the headset by its design never sends.
        var missingByDesign: Int64
        var gapsByDesign: Int64
        var recovered: Int64
        var hasOpenGap: Bool
        /// How old the newest row is; nil where that is not known.
        var newestRowSeconds: Double?
        /// The latest check of each channel.
        var signals: [Signal]
        /// Within what the newest times are right; nil where that is not known.
        var timeUncertaintySeconds: Double?
        /// Samples a second, as learnt from their arrivals; nil before anything was learnt.
        var measuredFrequency: Double?
        /// What shows that a sample is missing: `counter`, `mark`, `clock` or `nothing`.
        var lossDetection: String?
    }

    /// What the signal of a channel looked like last.
    struct Signal: Encodable {
        var channel: String
        var condition: String
        var railedFraction: Double
        /// Within two seconds, in raw counts.
        var peakToPeak: Int64
        /// Amplitudes in `unit`; nil where the channel is sampled too slowly, or is no signal.
        var line50Hz: Double?
        var line60Hz: Double?
        var unit: String
        var ageSeconds: Double

        init(_ activity: SignalActivity) {
            channel = activity.channel
            condition = activity.check.condition.rawValue
            railedFraction = activity.check.railedFraction
            peakToPeak = activity.check.peakToPeak
            line50Hz = activity.check.line50Hz
            line60Hz = activity.check.line60Hz
            unit = activity.unit
            ageSeconds = activity.ageSeconds
        }
    }
}
