import Foundation

/// Measures the amplitude of one frequency over a window of samples: the Goertzel algorithm, one multiplication and two
/// additions a sample.
///
/// Samples are weighted with a Hann window, so that slow drift, which may be a thousand times larger, does not count as line
/// noise: its side lobes fall with the third power of the distance.
struct LineFilter: Sendable {
    /// The weights of a window of `length` samples.
    static func weights(length: Int) -> [Double] {
        (0..<length).map { 0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(length)) }
    }

    /// What is kept from sample to sample.
    struct State: Sendable {
        private(set) var last = 0.0
        private(set) var beforeLast = 0.0

        /// Takes a weighted sample.
        @inline(__always)
        mutating func take(_ value: Double, _ coefficient: Double) {
            (last, beforeLast) = (value + coefficient * last - beforeLast, last)
        }
    }

    /// Twice the cosine of the angle between two samples.
    let coefficient: Double

    /// A filter for a frequency; nil where the sampling is too slow to distinguish it from its mirror image.
    init?(frequency: Double, samplingFrequency: Double) {
        guard frequency + 2 / SignalThresholds.windowSeconds < samplingFrequency / 2 else { return nil }
        coefficient = 2 * cos(2 * .pi * frequency / samplingFrequency)
    }

    /// The amplitude of a sine of the frequency, in the samples' unit.
    ///
    /// - Parameter length: the number of samples that were taken; the weights sum up to half of it.
    func amplitude(of state: State, length: Int) -> Double {
        let power =
            state.last * state.last + state.beforeLast * state.beforeLast - coefficient * state.last * state.beforeLast
        return 4 * max(0, power).squareRoot() / Double(length)
    }
}
