import Foundation

/// The power spectral density of up to eight signals by Welch's method: segments with a Hann window, each half over the one
/// before, without their mean, averaged (Welch 1967, "The use of fast Fourier transform for the estimation of power spectra").
struct SpectrumEstimate {
    typealias Vector = RealFourierTransform.Vector

    /// Samples of a segment.
    let length: Int
    private var transform: RealFourierTransform
    private let window: [Float]
    /// From |X|^2 to a one-sided density: 2 / (f * sum of w^2).
    private let factor: Double
    private var segment: [Vector]
    private var filled = 0
    private var windowed: [Vector]
    private var powers: [Vector]
    /// How many samples ago a signal was missing last.
    private var sinceMissing: SIMD8<Int32>
    /// Sums over the segments since ``take()``, eight for each frequency.
    private var sums: [Double]
    private var counts: [Int]

    /// - Parameters:
    ///   - length: samples of a segment; a power of two.
    ///   - samplingFrequency: in hertz.
    init(length: Int, samplingFrequency: Double) {
        self.length = length
        transform = RealFourierTransform(length: length)
        let shape = (0..<length).map { 0.5 - 0.5 * cos(2 * Double.pi * Double($0) / Double(length)) }
        window = shape.map { Float($0) }
        factor = 2 / (samplingFrequency * shape.reduce(0) { $0 + $1 * $1 })
        segment = Array(repeating: Vector(), count: length)
        windowed = segment
        powers = Array(repeating: Vector(), count: length / 2 + 1)
        sinceMissing = SIMD8(repeating: .max)
        sums = Array(repeating: 0, count: (length / 2 + 1) * 8)
        counts = Array(repeating: 0, count: 8)
    }

    /// Forgets a segment that has begun: the next sample does not follow the one before.
    mutating func interrupt() {
        filled = 0
    }

    /// Takes one sample of each signal.
    ///
    /// - Parameter missing: a bit set of the signals that have none; what stands for them in `values` does not matter.
    /// - Returns: true where a segment is complete and was added.
    mutating func add(_ values: Vector, missing: UInt8) -> Bool {
        segment[filled] = values
        filled += 1
        // Wraps after 200 days without a loss, which costs one segment.
        sinceMissing &+= 1
        if missing != 0 {
            for signal in 0..<8 where missing & 1 << UInt8(signal) != 0 { sinceMissing[signal] = 0 }
        }
        guard filled == length else { return false }
        addSegment()
        let half = length / 2
        for index in 0..<half { segment[index] = segment[index + half] }
        filled = half
        return true
    }

    private mutating func addSegment() {
        var mean = Vector()
        for value in segment { mean += value }
        mean /= Float(length)
        for index in segment.indices { windowed[index] = (segment[index] - mean) * window[index] }
        transform.transform(windowed, into: &powers)
        var isWhole = [Bool](repeating: true, count: 8)
        for signal in 0..<8 {
            let since = sinceMissing[signal]
            isWhole[signal] = since < 0 || since >= Int32(clamping: length)
            if isWhole[signal] { counts[signal] += 1 }
        }
        if isWhole.allSatisfy({ $0 }) {
            sums.withUnsafeMutableBufferPointer { sums in
                for k in powers.indices {
                    for signal in 0..<8 { sums[k * 8 + signal] += Double(powers[k][signal]) }
                }
            }
        } else {
            for k in powers.indices {
                for signal in 0..<8 where isWhole[signal] { sums[k * 8 + signal] += Double(powers[k][signal]) }
            }
        }
    }

    /// The mean density of each signal since the last time, in the square of its unit for each hertz, by the frequencies of the
    /// transform; and of how many segments it is the mean. Nil for a signal without any.
    mutating func take() -> [(density: [Double], segments: Int)?] {
        let last = length / 2
        let result = (0..<8).map { signal -> (density: [Double], segments: Int)? in
            guard counts[signal] > 0 else { return nil }
            let density = (0...last).map { k in
                // Neither 0 nor half the sampling frequency has a negative counterpart.
                sums[k * 8 + signal] / Double(counts[signal]) * (k == 0 || k == last ? factor / 2 : factor)
            }
            return (density, counts[signal])
        }
        for index in sums.indices { sums[index] = 0 }
        for index in counts.indices { counts[index] = 0 }
        return result
    }
}
