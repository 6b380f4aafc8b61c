/// The spectrum of a channel in one hour of a recording.
package struct HourlySpectrum: Hashable, Sendable {
    /// Which hour since the recording's first sample, from 0.
    package var hour: Int
    /// Seconds of samples that it rests on.
    package var seconds: Double
    /// The density at each of the stream's frequencies, in the square of the channel's unit for each hertz.
    package var density: [Double]
    /// The amplitude (root mean square) within 1 Hz of 50 and of 60 Hz, in the channel's unit; nil where the stream is too
    /// slow.
    package var mains: [Double?]

    package init(hour: Int, seconds: Double, density: [Double], mains: [Double?]) {
        self.hour = hour
        self.seconds = seconds
        self.density = density
        self.mains = mains
    }

    /// The power between two frequencies, in the square of the unit.
    func power(from low: Double, to high: Double, at frequencies: [Double]) -> Double {
        var sum = 0.0
        for (frequency, density) in zip(frequencies, density) where frequency >= low && frequency < high { sum += density }
        return sum * FrequencyGrid.step
    }
}

/// The spectra of a channel.
package struct ChannelSpectra: Hashable, Sendable {
    package var channel: String
    package var unit: String
    /// Ascending; an hour without a whole segment is not there.
    package var hours: [HourlySpectrum]

    package init(channel: String, unit: String, hours: [HourlySpectrum]) {
        self.channel = channel
        self.unit = unit
        self.hours = hours
    }

    /// The mean over all hours, each weighted by its seconds; nil without any.
    var mean: [Double]? {
        guard let count = hours.first?.density.count else { return nil }
        let seconds = hours.reduce(0) { $0 + $1.seconds }
        guard seconds > 0 else { return nil }
        return (0..<count).map { cell in hours.reduce(0) { $0 + $1.density[cell] * $1.seconds } / seconds }
    }
}
