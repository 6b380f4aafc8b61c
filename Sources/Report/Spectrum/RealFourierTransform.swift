import Foundation

/// The power of real signals at each frequency, of eight signals at once: a stream has up to eight channels, and one transform
/// of vectors costs little more than that of one channel.
///
/// A real signal of 2 m samples is taken as a complex one of m, transformed by decimation in time, radix 2, and taken apart
/// again (Press et al., Numerical Recipes, 12.3.2: "FFT of Single Real Function").
struct RealFourierTransform {
    /// One value of each signal.
    typealias Vector = SIMD8<Float>

    /// Samples of a signal; a power of two, at least 4.
    let length: Int
    /// e^(-2 pi i k / length), k from 0 to half the length.
    private let cosines: [Float]
    private let sines: [Float]
    /// The order in which the complex samples are taken.
    private let reversed: [Int]
    private var real: [Vector]
    private var imaginary: [Vector]

    /// - Parameter length: a power of two, at least 4.
    init(length: Int) {
        precondition(length >= 4 && length & (length - 1) == 0, "the length of a transform is a power of two")
        self.length = length
        let half = length / 2
        cosines = (0...half).map { Float(cos(2 * Double.pi * Double($0) / Double(length))) }
        sines = (0...half).map { Float(-sin(2 * Double.pi * Double($0) / Double(length))) }
        let bits = half.trailingZeroBitCount
        reversed = (0..<half).map { index in
            (0..<bits).reduce(0) { $0 | (index >> $1 & 1) << (bits - 1 - $1) }
        }
        real = Array(repeating: Vector(), count: half)
        imaginary = real
    }

    /// The squared magnitudes of the transform: |X(k)|^2, k from 0 to half the length.
    ///
    /// - Parameters:
    ///   - signals: as many vectors as the transform is long.
    ///   - powers: room for half as many and one; overwritten.
    mutating func transform(_ signals: [Vector], into powers: inout [Vector]) {
        let half = length / 2
        for index in 0..<half {
            real[index] = signals[2 * reversed[index]]
            imaginary[index] = signals[2 * reversed[index] + 1]
        }
        butterflies()
        for k in 0...half {
            let (a, b) = (k % half, (half - k) % half)
            // The transforms of the samples with even and with odd numbers.
            let evenReal = (real[a] + real[b]) * 0.5
            let evenImaginary = (imaginary[a] - imaginary[b]) * 0.5
            let oddReal = (imaginary[a] + imaginary[b]) * 0.5
            let oddImaginary = (real[b] - real[a]) * 0.5
            let sumReal = evenReal + cosines[k] * oddReal - sines[k] * oddImaginary
            let sumImaginary = evenImaginary + cosines[k] * oddImaginary + sines[k] * oddReal
            powers[k] = sumReal * sumReal + sumImaginary * sumImaginary
        }
    }

    private mutating func butterflies() {
        let half = length / 2
        real.withUnsafeMutableBufferPointer { real in
            imaginary.withUnsafeMutableBufferPointer { imaginary in
                var span = 1
                while span < half {
                    // Of a transform of 2 span points, in the table of `length`.
                    let step = length / (2 * span)
                    for offset in 0..<span {
                        let (cosine, sine) = (cosines[offset * step], sines[offset * step])
                        for upper in stride(from: offset, to: half, by: 2 * span) {
                            let lower = upper + span
                            let turnedReal = cosine * real[lower] - sine * imaginary[lower]
                            let turnedImaginary = cosine * imaginary[lower] + sine * real[lower]
                            real[lower] = real[upper] - turnedReal
                            imaginary[lower] = imaginary[upper] - turnedImaginary
                            real[upper] += turnedReal
                            imaginary[upper] += turnedImaginary
                        }
                    }
                    span *= 2
                }
            }
        }
    }
}
