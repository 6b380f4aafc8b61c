/// What is known of a headset, for figures.
package struct HeadsetFigures: Hashable, Sendable {
    /// A stream of the running recording.
    package struct Stream: Hashable, Sendable {
        package var name: String
        package var samplingFrequency: Double
        package var rowsPerSecond: Double
        package var rows: Int64
        package var newestRowSeconds: Double?
        package var hasOpenGap: Bool
        package var timeUncertaintySeconds: Double?
        package var measuredFrequency: Double?
        /// Only of channels that were checked lately.
        package var conditions: [Condition] = []

        package init(
            name: String, samplingFrequency: Double, rowsPerSecond: Double, rows: Int64, newestRowSeconds: Double?,
            hasOpenGap: Bool, timeUncertaintySeconds: Double?, measuredFrequency: Double?
        ) {
            (self.name, self.samplingFrequency, self.rowsPerSecond) = (name, samplingFrequency, rowsPerSecond)
            (self.rows, self.newestRowSeconds, self.hasOpenGap) = (rows, newestRowSeconds, hasOpenGap)
            (self.timeUncertaintySeconds, self.measuredFrequency) = (timeUncertaintySeconds, measuredFrequency)
        }
    }

    /// What the latest check said of a channel.
    package struct Condition: Hashable, Sendable {
        package var channel: String
        package var condition: String

        package init(channel: String, condition: String) {
            (self.channel, self.condition) = (channel, condition)
        }
    }

    /// What is missing of a stream for one cause.
    package struct Missing: Hashable, Sendable {
        package var stream: String
        package var cause: String
        package var samples: Int64
        package var recovered: Int64
        package var gaps: Int64

        package init(stream: String, cause: String, samples: Int64, recovered: Int64, gaps: Int64) {
            (self.stream, self.cause) = (stream, cause)
            (self.samples, self.recovered, self.gaps) = (samples, recovered, gaps)
        }
    }

    package var name: String
    package var model: String
    package var serialNumber: String?
    package var isWanted = false
    /// How good it is: `idle`, `good`, `working` or `waiting`, as `eegsync status --json` has it.
    package var severity = "idle"
    /// The state of its connection; nil where nothing ever acquired.
    package var state: String?
    package var stateSeconds: Double?
    package var batteryPercent: Double?
    package var recording: Int64?
    package var streams: [Stream] = []
    package var missing: [Missing] = []
    /// How long each return of the running recording took, in seconds, from when the headset was heard.
    package var returnSeconds: [Double] = []
    /// The latest impedance of each electrode, in kilohms.
    package var kilohms: [String: Double] = [:]

    package init(name: String, model: String) {
        (self.name, self.model) = (name, model)
    }

    /// The states that a connection can have; a state that is none of them gets a sample of its own.
    package static let severities = ["idle", "good", "working", "waiting"]
    private static let conditions = ["good", "lineNoise", "flat", "railed", "poorContact", "noContact"]
    /// The gate is 10 s; returns take tenths of a second most of the time.
    static let bounds = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300]

    /// The families of all headsets.
    ///
    /// - Parameter states: the names of a connection's states.
    package static func families(_ headsets: [HeadsetFigures], states: [String]) -> [MetricFamily] {
        var families = HeadsetFamilies()
        for headset in headsets { families.add(headset, states: states) }
        return families.all
    }

    /// The families while they are filled.
    private struct HeadsetFamilies {
        var info = gauge("headset_info", "The headset's model, serial number and running recording.")
        var wanted = gauge("headset_wanted", "Whether a person wants the headset recorded.")
        var severity = gauge(
            "headset_severity", "How good it is: 1 for what holds; good is being stored, waiting needs a person.")
        var state = gauge("headset_state", "The state of the connection: 1 for the one that holds.")
        var stateAge = gauge("headset_state_age_seconds", unit: "seconds", "For how long that has lasted.")
        var battery = gauge("headset_battery_ratio", unit: "ratio", "The battery's charge as reported last, 0 to 1.")
        var returns = MetricFamily(
            "eegsync_return_seconds", .histogram, unit: "seconds",
            help: "From when the headset was heard to its first sample, of each return of the running recording.")
        var rows = MetricFamily(
            "eegsync_stream_rows", .counter, help: "Rows that are stored; it begins anew with each recording.")
        var rate = gauge("stream_rows_per_second", "Rows a second, of late.")
        var nominal = gauge("stream_sampling_frequency_hertz", unit: "hertz", "The nominal sampling frequency.")
        var measured = gauge("stream_measured_frequency_hertz", unit: "hertz", "Samples a second, as learnt from arrivals.")
        var newest = gauge(
            "stream_newest_sample_age_seconds", unit: "seconds", "How long ago the newest stored sample was taken.")
        var missing = gauge("stream_missing_samples", "Rows of the running recording that are missing, by cause.")
        var recovered = gauge("stream_recovered_samples", "Rows that were missing and arrived after all, by cause.")
        var gaps = gauge("stream_gaps", "Gaps of the running recording, by cause.")
        var openGap = gauge("stream_open_gap", "Whether a gap is open.")
        var uncertainty = gauge(
            "stream_time_uncertainty_seconds", unit: "seconds", "Within what the newest times are right.")
        var condition = gauge("channel_condition", "What the latest check said of the channel's signal: 1 for what holds.")
        var impedance = gauge(
            "electrode_impedance_ohms", unit: "ohms", "The electrode's impedance as the headset said it last.")

        var all: [MetricFamily] {
            [
                info, wanted, severity, state, stateAge, battery, returns, rows, rate, nominal, measured, newest, missing,
                recovered, gaps, openGap, uncertainty, condition, impedance,
            ]
        }

        static func gauge(_ name: String, unit: String? = nil, _ help: String) -> MetricFamily {
            MetricFamily("eegsync_" + name, .gauge, unit: unit, help: help)
        }

        mutating func add(_ headset: HeadsetFigures, states: [String]) {
            let name = MetricFamily.Label("headset", headset.name)
            info.add(
                1.0, name, .init("model", headset.model), .init("serial_number", headset.serialNumber ?? ""),
                .init("recording", headset.recording.map { "\($0)" } ?? ""))
            wanted.add(headset.isWanted, name)
            severity.add(state: headset.severity, of: severities, label: "severity", name)
            state.add(state: headset.state, of: states, label: "state", name)
            stateAge.add(headset.stateSeconds, name)
            battery.add(headset.batteryPercent.map { $0 / 100 }, name)
            if headset.recording != nil { returns.add(Histogram(bounds: bounds, values: headset.returnSeconds), name) }
            for (electrode, kilohms) in headset.kilohms.sorted(by: { $0.key < $1.key }) {
                impedance.add(kilohms * 1000, name, .init("electrode", electrode))
            }
            for missing in headset.missing {
                let (stream, cause) = (MetricFamily.Label("stream", missing.stream), MetricFamily.Label("cause", missing.cause))
                self.missing.add(missing.samples, name, stream, cause)
                recovered.add(missing.recovered, name, stream, cause)
                gaps.add(missing.gaps, name, stream, cause)
            }
            for stream in headset.streams { add(stream, of: name) }
        }

        private mutating func add(_ stream: Stream, of headset: MetricFamily.Label) {
            let name = MetricFamily.Label("stream", stream.name)
            rows.add(stream.rows, headset, name)
            rate.add(stream.rowsPerSecond, headset, name)
            nominal.add(stream.samplingFrequency, headset, name)
            measured.add(stream.measuredFrequency, headset, name)
            newest.add(stream.newestRowSeconds, headset, name)
            openGap.add(stream.hasOpenGap, headset, name)
            uncertainty.add(stream.timeUncertaintySeconds, headset, name)
            for check in stream.conditions {
                condition.add(
                    state: check.condition, of: conditions, label: "condition", headset, name, .init("channel", check.channel))
            }
        }
    }
}
