import Bluetooth
import Headsets
import Simulation
import Storage
import Testing

@testable import Assembly

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

    /// A stream of 1 Hz whose packets are late by 0.03 s at least and 0.1 s at the most, beside one of 30 packets a second that
    /// are on time once in a while; sampling and stamps share a crystal that is 3000 ppm slow. Returns by how much the slow
    /// stream's times are off at the most, in seconds.
    private func worstError(ofSlowStreamWithStamps isStamped: Bool, damage: Int64 = 0) throws -> Double {
        var random = SeededGenerator(seed: 5)
        var test = StreamUnderTest(modulus: 256, channels: 1, frequency: 1)
        var fast = StreamUnderTest(modulus: 256, frequency: 240)
        let began = test.now
        test.begin(rule: .connection, absence: .linkLost, tickFrequency: 100_000)
        fast.begin(rule: .connection, absence: .linkLost, tickFrequency: 100_000)
        for packet in 0..<Int64(30 * 600) {
            let own = Double(packet) / 30
            let isSlow = packet % 30 == 0
            let isDamaged = damage != 0 && packet % 997 == 996
            let late = isSlow ? 0.03 + 0.07 * random.fraction() : 0.004 * random.exponential()
            test.now = max(test.now, began + .seconds(own * 1.003 + late))
            fast.now = test.now
            let ticks = UInt64(bitPattern: Int64(own * 100_000) + (isDamaged ? damage : 0))
            if isSlow {
                test.take(index: packet / 30, truth: packet / 30, count: 1, ticks: ticks)
                if packet % 1800 == 0 { test.commit() }
            } else {
                fast.take(index: packet * 8, truth: packet * 8, ticks: ticks)
                if isStamped, fast.stream.mayLendStamp { test.stream.borrow(ticks: ticks, at: test.now) }
            }
        }
        test.stream.endLink(cause: .linkLost, at: test.now)
        test.commit()
        let segments = test.database.segments.values.sorted { $0.firstN < $1.firstN }
        let errors = try test.database.rows.keys.sorted().dropFirst(60).map { n in
            let segment = try #require(segments.last { $0.firstN <= n })
            return (StoredStream.time(of: n, in: segment) - Double(began.nanoseconds)) / 1e9 - Double(n) * 1.003
        }
        try #require(errors.count > 500)
        return errors.reduce(0) { max($0, abs($1)) }
    }

    @Test("A slow stream's times are those of the fast one's beside it, by the stamps of both")
    func alignment() throws {
        #expect(try worstError(ofSlowStreamWithStamps: true) < 0.002)
        // The same without stamps, to see that they are what tells.
        #expect(try worstError(ofSlowStreamWithStamps: false) > 0.025)
    }

    @Test("A stamp that was damaged on the way moves no time", arguments: [8000, 50_000, -8000, -50_000] as [Int64])
    func damagedStamp(damage: Int64) throws {
        #expect(try worstError(ofSlowStreamWithStamps: true, damage: damage) < 0.002)
    }

    @Test(
        "Whatever a stamp says, it moves nothing by more than a second and a fortieth",
        arguments: [0, 1, 1 << 31, .max] as [UInt64])
    func absurd(ticks: UInt64) {
        var clock = DeviceClock(
            SampleStamps(tickFrequency: 1e-3, modulus: 7, isExact: true), samplingFrequency: 1e9)
        for n: Int64 in [0, 1, .max / 2] { clock.stamp(n: n, ticks: ticks &* UInt64(n &+ 3), at: .boot + .seconds(n % 99)) }
        _ = clock.position(ticks: ticks, at: MonotonicTime(nanoseconds: .max))
        var known = DeviceClock(
            SampleStamps(tickFrequency: 1000, modulus: nil, isExact: true), samplingFrequency: 250)
        known.stamp(n: 0, ticks: 5, at: .boot)
        let position = known.position(ticks: ticks, at: .boot + .seconds(100))
        #expect(position.map { abs($0.n - 25_000) <= 250 + 625 } ?? true)
    }
}
