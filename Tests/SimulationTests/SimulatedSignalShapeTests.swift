import Foundation
import Simulation
import Testing

/// What the common signal is made of: an alpha rhythm and blinks that programs which look for them find.
struct SimulatedSignalShapeTests {
    /// So many seconds at 250 Hz, in microvolts.
    private static func values(seed: UInt64, channel: Int, seconds: Int) -> [Double] {
        (0..<UInt32(seconds * 250)).map { index in
            Double(SimulatedSignal.alternating(seed: seed, boot: 1, stream: 0, channel: channel, index: index))
                * SimulatedSignal.scaleMicrovolts
        }
    }

    /// The amplitude of one frequency.
    private static func amplitude(of values: ArraySlice<Double>, at frequency: Double) -> Double {
        var (cosine, sine) = (0.0, 0.0)
        for (index, value) in values.enumerated() {
            let phase = 2 * Double.pi * frequency * Double(index) / 250
            cosine += value * cos(phase)
            sine += value * sin(phase)
        }
        return 2 * (cosine * cosine + sine * sine).squareRoot() / Double(values.count)
    }

    @Test("An alpha rhythm of 10 Hz stands out of the noise, and waxes and wanes", arguments: [1, 7, 40] as [UInt64])
    func alpha(seed: UInt64) {
        let values = Self.values(seed: seed, channel: 7, seconds: 60)
        let amplitudes = stride(from: 0, to: values.count, by: 500).map {
            Self.amplitude(of: values[$0..<$0 + 500], at: 10)
        }
        let beside = Self.amplitude(of: values[...], at: 23)
        #expect(amplitudes.allSatisfy { (3...60).contains($0) }, "\(amplitudes)")
        #expect((amplitudes.max() ?? 0) > 1.5 * (amplitudes.min() ?? 0))
        #expect(beside < 1, "\(beside)")
    }

    @Test("A blink of 100 uV comes every 1,000 samples, in the first channels most", arguments: [1, 7, 40] as [UInt64])
    func blinks(seed: UInt64) {
        let (front, back) = (Self.values(seed: seed, channel: 0, seconds: 60), Self.values(seed: seed, channel: 7, seconds: 60))
        for begin in stride(from: 0, to: front.count - 1000, by: 1000) {
            // A quarter of a second is averaged, so that neither rhythm nor noise is taken for one.
            func peak(_ values: [Double]) -> Double {
                let drift = values[begin..<begin + 1000].reduce(0, +) / 1000
                return stride(from: begin, to: begin + 975, by: 5).reduce(-Double.infinity) {
                    max($0, values[$1..<$1 + 25].reduce(0, +) / 25 - drift)
                }
            }
            #expect(peak(front) > 60, "\(begin)")
            #expect(peak(back) < peak(front) / 2, "\(begin)")
        }
    }
}
