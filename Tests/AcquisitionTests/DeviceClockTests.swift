import Bluetooth
import Headsets
import Simulation
import Storage
import Testing

@testable import Acquisition

/// A headset's own clock, in the places of samples.
struct DeviceClockTests {
    /// A headset whose crystal is 3000 ppm slow, and whose clock and sampling share it; its stamps and its packets jitter.
    private struct Headset {
        var test = StreamUnderTest(modulus: 256, frequency: 250)
        var random: SeededGenerator
        let began: MonotonicTime
        /// Ticks of 10 µs at sample 0: near the end of the 32 bits.
        let firstTicks: UInt64 = 1 << 32 - 400_000

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            began = test.now
        }

        /// Sends the blocks of 8 samples that end within some seconds of the headset's life.
        mutating func send(_ seconds: Range<Double>, isRebooted: Bool = false) {
            test.begin(rule: .connection, absence: .linkLost, tickFrequency: 100_000)
            var index = Int64(seconds.lowerBound * 250) / 8 * 8
            while Double(index + 8) / 250 <= seconds.upperBound {
                let own = Double(index + 7) / 250
                let late = 0.004 * random.exponential()
                test.now = max(test.now, began + .seconds(own * 1.003 + late))
                let stamp = own + 0.002 * random.fraction() - (isRebooted ? seconds.lowerBound : 0)
                let ticks = (firstTicks + UInt64(stamp * 100_000)) % (1 << 32)
                test.take(index: index, truth: index, ticks: ticks)
                index += 8
            }
            test.stream.endLink(cause: .linkLost, at: test.now)
        }
    }

    @Test("After a link of 15 s and hours away, the place is that of the headset's clock", arguments: UInt64(1)...6)
    func longAbsence(seed: UInt64) throws {
        var headset = Headset(seed: seed)
        headset.send(0..<15)
        headset.send(28_800..<28_830)
        headset.test.commit()
        let errors = headset.test.stored.map { $0.key - $0.value }
        let gap = try #require(headset.test.database.wholeGaps.first?.gap)
        guard case .timed(let uncertainty) = gap.certainty else { return #expect(Bool(false), "\(gap)") }
        // The headset's crystal alone is 21,600 samples off in 8 hours.
        #expect(errors.map(abs).max() ?? .max <= uncertainty && uncertainty < 5000, "\(errors.max() ?? 0) of \(uncertainty)")
        #expect(headset.test.database.problems.isEmpty)
    }

    @Test("After half an hour of link and a minute away, the place is right to some samples", arguments: UInt64(1)...6)
    func shortAbsence(seed: UInt64) throws {
        var headset = Headset(seed: seed)
        headset.send(0..<1800)
        headset.send(1860..<1890)
        headset.test.commit()
        let worst = headset.test.stored.map { abs($0.key - $0.value) }.max() ?? .max
        let gap = try #require(headset.test.database.wholeGaps.first?.gap)
        guard case .timed(let uncertainty) = gap.certainty else { return #expect(Bool(false), "\(gap)") }
        #expect(worst <= 2 && uncertainty <= 8, "\(worst) of \(uncertainty)")
    }

    @Test("A headset that was switched off meanwhile counts its time anew: the host's tells")
    func reboot() throws {
        var headset = Headset(seed: 1)
        headset.send(0..<60)
        headset.send(600..<630, isRebooted: true)
        headset.test.commit()
        let worst = headset.test.stored.map { abs($0.key - $0.value) }.max() ?? .max
        let gap = try #require(headset.test.database.wholeGaps.first?.gap)
        guard case .timed(let uncertainty) = gap.certainty else { return #expect(Bool(false), "\(gap)") }
        #expect(worst <= uncertainty, "\(worst) of \(uncertainty)")
    }

    @Test(
        "Whatever a stamp says, it moves nothing by more than a second and a fortieth",
        arguments: [0, 1, 1 << 31, .max] as [UInt64])
    func absurd(ticks: UInt64) {
        var clock = DeviceClock(frequency: 1e-3, modulus: 7, samplingFrequency: 1e9)
        for n: Int64 in [0, 1, .max / 2] { clock.stamp(n: n, ticks: ticks &* UInt64(n &+ 3), at: .boot + .seconds(n % 99)) }
        _ = clock.position(ticks: ticks, at: MonotonicTime(nanoseconds: .max))
        var known = DeviceClock(frequency: 1000, modulus: nil, samplingFrequency: 250)
        known.stamp(n: 0, ticks: 5, at: .boot)
        let position = known.position(ticks: ticks, at: .boot + .seconds(100))
        #expect(position.map { abs($0.n - 25_000) <= 250 + 625 } ?? true)
    }
}
