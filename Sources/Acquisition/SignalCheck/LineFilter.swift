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

    /// Twice the cosine of the angle between two samples.
    private let coefficient: Double
    private var last = 0.0
    private var beforeLast = 0.0

    /// A filter for a frequency; nil where the sampling is too slow to tell it from its mirror image.
    init?(frequency: Double, samplingFrequency: Double) {
        guard frequency + 2 / SignalThresholds.windowSeconds < samplingFrequency / 2 else { return nil }
        coefficient = 2 * cos(2 * .pi * frequency / samplingFrequency)
    }

    /// Takes a weighted sample.
    mutating func take(_ value: Double) {
        (last, beforeLast) = (value + coefficient * last - beforeLast, last)
    }

    /// Ends the window and begins the next one.
    ///
    /// - Parameter length: the number of samples that were taken; the weights sum up to half of it.
    /// - Returns: the amplitude of a sine of the frequency, in the samples' unit.
    mutating func finish(length: Int) -> Double {
        defer { restart() }
        let power = last * last + beforeLast * beforeLast - coefficient * last * beforeLast
        return 4 * max(0, power).squareRoot() / Double(length)
    }

    /// Forgets the window.
    mutating func restart() {
        (last, beforeLast) = (0, 0)
    }
}
