/// What a report shows of a stream.
package struct StreamReport: Hashable, Sendable {
    package var name: String
    /// Nominal, in hertz.
    package var samplingFrequency: Double
    package var facts: [ReportDocument.Fact]
    /// What is missing over time, but for what the headset by its design never sends.
    package var gaps: Lane
    package var gapSums: [GapSum]
    /// The longest of all gaps, by time.
    package var longestGaps: [ReportGap]
    /// Empty where no signal of the stream was checked.
    package var signals: [SignalCourse]
    package var frequencies: [Double]
    /// Empty for a stream that is no potential of the body.
    package var spectra: [ChannelSpectra]
    package var timeMap: TimeMapCourse?
}

/// All gaps of one cause.
package struct GapSum: Hashable, Sendable {
    package var cause: LaneKind
    package var name: String
    package var meaning: String
    package var count: Int
    /// Samples that are missing for good, and such that arrived after all.
    package var missing: Int64
    package var recovered: Int64
    package var seconds: Double
    package var longestSeconds: Double
}

/// One gap.
package struct ReportGap: Hashable, Sendable {
    package var cause: LaneKind
    package var name: String
    /// UTC nanoseconds since 1970; nil for one whose end is not known.
    package var start: Int64
    package var end: Int64?
    package var seconds: Double
    /// The channel; nil for whole rows.
    package var channel: String?
    package var missing: Int64?
    package var recovered: Int64
    /// How its length is known.
    package var certainty: String
}

/// What the checks said of a channel's signal.
package struct SignalCourse: Hashable, Sendable {
    package var channel: String
    package var unit: String
    package var lane: Lane
    /// The part of the checked samples of each condition, 0 ... 1, the greatest first.
    package var shares: [Share]
    /// Mean amplitudes, in the channel's unit; nil where they were not measured.
    package var line50Hz: Double?
    package var line60Hz: Double?
    /// The latest impedance that the headset said, in kilohms.
    package var kilohms: Double?

    /// One condition.
    package struct Share: Hashable, Sendable {
        package var condition: LaneKind
        package var part: Double
    }
}

/// How a stream's samples lie in time.
package struct TimeMapCourse: Hashable, Sendable {
    /// By how much the samples come faster than nominal, in millionths.
    package var rate: [ValueRaster.Column]
    /// Within what the times are right, in milliseconds.
    package var uncertainty: [ValueRaster.Column]
    /// How late packets came against the map, in milliseconds.
    package var lateness: [ValueRaster.Column]
    package var facts: [ReportDocument.Fact]
}
