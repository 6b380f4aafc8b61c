/// How a headset measures the impedance of its electrodes: it sends one number after the other, until it is commanded to stop.
package struct ImpedanceMeasurement: Hashable, Sendable {
    /// Another program's reading of the same numbers, where nobody has proven either.
    package struct OtherReading: Hashable, Sendable {
        /// Whose it is, such as `OpenBCI GUI`.
        package var name: String
        /// What it multiplies the headset's number by.
        package var factor: Double

        /// Creates a reading.
        package init(name: String, factor: Double) {
            self.name = name
            self.factor = factor
        }
    }

    /// What is measured: the electrodes of the EEG channels in their order, then others such as `reference`.
    package var electrodes: [String]
    /// True where the headset sends no samples meanwhile.
    package var pausesSamples: Bool
    /// Nil where the number is not disputed.
    package var otherReading: OtherReading?
    /// Begins it; sent while samples stream.
    package var start: [CommandStep]
    /// Ends it; samples stream again then, with a new run of their counters where they had paused.
    package var end: [CommandStep]

    /// Creates a description.
    package init(
        electrodes: [String], pausesSamples: Bool, otherReading: OtherReading? = nil, start: [CommandStep],
        end: [CommandStep]
    ) {
        self.electrodes = electrodes
        self.pausesSamples = pausesSamples
        self.otherReading = otherReading
        self.start = start
        self.end = end
    }

    /// The electrodes' names where a person has named the channels.
    package func electrodes(named montage: Montage?) -> [String] {
        guard let names = montage?.names, names.count <= electrodes.count else { return electrodes }
        return names + electrodes.dropFirst(names.count)
    }
}
