import Foundation
import Testing

@testable import Report

@Suite("Spectra")
struct SpectrumTests {
    private typealias Vector = RealFourierTransform.Vector

    /// Numbers that look random and are the same each time.
    private static func noise(_ count: Int, seed: UInt64 = 7) -> [Float] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Float(Int32(truncatingIfNeeded: state >> 33)) / Float(Int32.max) * 2 - 1
        }
    }

    @Test("agree with the definition of the transform", arguments: [4, 8, 16, 64, 512])
    func definition(length: Int) {
        let signals = (0..<8).map { Self.noise(length, seed: UInt64($0 + 1)) }
        let vectors = (0..<length).map { index in
            var vector = Vector()
            for signal in 0..<8 { vector[signal] = signals[signal][index] }
            return vector
        }
        var powers = Array(repeating: Vector(), count: length / 2 + 1)
        var transform = RealFourierTransform(length: length)
        transform.transform(vectors, into: &powers)
        for k in [0, 1, length / 4, length / 2 - 1, length / 2] {
            for signal in 0..<8 {
                let angles = (0..<length).map { 2 * Double.pi * Double(k * $0 % length) / Double(length) }
                let real = zip(signals[signal], angles).reduce(0) { $0 + Double($1.0) * cos($1.1) }
                let imaginary = zip(signals[signal], angles).reduce(0) { $0 + Double($1.0) * sin($1.1) }
                let expected = real * real + imaginary * imaginary
                #expect(abs(Double(powers[k][signal]) - expected) <= 1e-4 * Double(length), "\(k) \(signal)")
            }
        }
    }

    @Test("hold as much power as the signal (Parseval), and a transform with a wrong turn does not")
    func parseval() {
        let length = 256
        let signal = Self.noise(length)
        var powers = Array(repeating: Vector(), count: length / 2 + 1)
        var transform = RealFourierTransform(length: length)
        transform.transform(signal.map { Vector(repeating: $0) }, into: &powers)
        func ratio(_ powers: [Vector]) -> Double {
            let spectrum = powers.indices.reduce(0.0) {
                $0 + Double(powers[$1][3]) * ($1 == 0 || $1 == length / 2 ? 1 : 2) / Double(length)
            }
            return spectrum / signal.reduce(0.0) { $0 + Double($1) * Double($1) }
        }
        #expect(abs(ratio(powers) - 1) < 1e-5)
        // A planted defect: the two outermost frequencies are counted twice, as a careless one-sided sum does.
        var wrong = powers
        wrong[0] *= 2
        wrong[length / 2] *= 2
        wrong[1] *= 0.9
        #expect(abs(ratio(wrong) - 1) > 1e-5)
    }

    private static func density(_ signal: (Int) -> Double, frequency: Double, length: Int, count: Int) -> [Double] {
        var estimate = SpectrumEstimate(length: length, samplingFrequency: frequency)
        for index in 0..<count { _ = estimate.add(Vector(repeating: Float(signal(index))), missing: 0) }
        return estimate.take()[0]?.density ?? []
    }

    @Test("show a sine at its frequency, with its power: half the square of its amplitude", arguments: [6.5, 10, 21.25, 43.3])
    func sine(hertz: Double) throws {
        let (frequency, length) = (256.0, 512)
        let amplitude = 20.0
        let density = Self.density(
            { 1000 + amplitude * sin(2 * Double.pi * hertz * Double($0) / frequency) }, frequency: frequency, length: length,
            count: 512 * 40)
        let spacing = frequency / Double(length)
        let peak = try #require(density.indices.max { density[$0] < density[$1] })
        #expect(abs(Double(peak) * spacing - hertz) <= spacing / 2 + 1e-9)
        let power = density.reduce(0, +) * spacing
        #expect(abs(power - amplitude * amplitude / 2) < 0.01 * amplitude * amplitude / 2)
        // Nearly all of it lies in the main lobe of the window, four frequencies wide.
        let lobe = density[max(0, peak - 3)...min(density.count - 1, peak + 3)].reduce(0, +) * spacing
        #expect(lobe > 0.99 * power)
    }

    @Test("show white noise as flat: its variance over half the sampling frequency")
    func white() {
        let signal = Self.noise(256 * 600)
        let density = Self.density({ Double(signal[$0]) }, frequency: 256, length: 256, count: signal.count)
        let variance = signal.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(signal.count)
        for k in stride(from: 4, to: 120, by: 8) {
            let mean = density[k..<k + 8].reduce(0, +) / 8
            #expect(abs(mean / (variance / 128) - 1) < 0.15, "\(k)")
        }
    }

    @Test("leave out segments with a gap, and of one channel those where it is missing")
    func gaps() {
        var estimate = SpectrumEstimate(length: 16, samplingFrequency: 16)
        func add(_ count: Int, missing: UInt8 = 0) -> Int {
            (0..<count).reduce(0) { done, _ in done + (estimate.add(Vector(repeating: 1), missing: missing) ? 1 : 0) }
        }
        #expect(add(15) == 0)
        estimate.interrupt()
        #expect(add(15) == 0)
        #expect(add(1) == 1)
        #expect(add(7) == 0)
        #expect(add(1, missing: 0b10) == 1)
        // The segment after it holds the missing sample, too; the third one does not.
        #expect(add(8) == 1)
        #expect(add(8) == 1)
        let counts = estimate.take().map { $0?.segments }
        #expect(counts[0] == 4)
        #expect(counts[1] == 2)
        #expect(estimate.take().allSatisfy { $0 == nil })
    }

    @Test(
        "have cells of half a hertz, each with a frequency of the transform",
        arguments: [62.5, 125, 200, 250, 256, 500, 1000, 16_000])
    func grid(frequency: Double) throws {
        let grid = try #require(FrequencyGrid(samplingFrequency: frequency))
        #expect(frequency / Double(grid.segmentLength) <= FrequencyGrid.step)
        #expect(grid.bins.allSatisfy { !$0.isEmpty })
        #expect(grid.frequencies.first == 1)
        #expect(grid.frequencies.last ?? 0 <= min(45, frequency * 0.45))
        #expect(grid.mainsBins.map { $0 != nil } == [frequency >= 102, frequency >= 122])
        #expect(FrequencyGrid(samplingFrequency: 4) == nil)
    }
}
