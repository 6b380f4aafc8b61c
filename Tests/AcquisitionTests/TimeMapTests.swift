import Bluetooth
import Simulation
import Storage
import Testing

@testable import Acquisition

/// The fit of a stream's n to the host's clock.
struct TimeMapTests {
    /// A headset at 250 Hz whose crystal is off, 8 samples a packet, and the arrivals of its packets.
    private struct Headset {
        var map: TimeMap
        var finished: [SegmentRecord] = []
        let period: Double
        let start: Int64 = 7_000_000_000_000
        private var n: Int64 = 0
        private var clock: Int64 = 0

        init(crystalErrorPPM: Double) {
            period = 1e9 / 250 * (1 + crystalErrorPPM * 1e-6)
            map = TimeMap(
                stream: StreamID(rawValue: 1), epoch: 0, firstN: 0, referenceN: 0, at: MonotonicTime(nanoseconds: start),
                samplingFrequency: 250)
        }

        /// The true instant of sample n, in nanoseconds.
        func truth(_ n: Int64) -> Int64 { start + Int64((Double(n) * period).rounded()) }

        /// Packets of so many seconds; `delay` says by how many nanoseconds the packet that was sent at a second is late.
        mutating func run(seconds: Int, delay: (_ second: Double) -> Int64) {
            for _ in 0..<(seconds * 250 / 8) {
                let last = n + 7
                // Packets of one link never overtake each other.
                clock = max(clock, truth(last) + delay(Double(last) / 250))
                map.observe(n: last, at: MonotonicTime(nanoseconds: clock))
                if let segment = map.rollOver(at: n) { finished.append(segment) }
                n += 8
                map.extend(to: n - 1)
            }
        }

        /// By how much the map's time of sample n is later than the truth, in nanoseconds.
        func error(at n: Int64) -> Int64 { map.time(of: n).nanoseconds - truth(n) }

        var lastN: Int64 { n - 1 }
    }

    @Test("A crystal's error is known within 1 ppm after 10 minutes of jitter", arguments: [-80.0, 0, 20, 100])
    func crystal(errorPPM: Double) {
        var headset = Headset(crystalErrorPPM: errorPPM)
        var random = SeededGenerator(seed: 4)
        headset.run(seconds: 599) { _ in Int64(random.exponential() * 15e6) }
        let measured = (headset.map.segment.periodNanoseconds / 4e6 - 1) * 1e6
        #expect(abs(measured - errorPPM) < 1, "\(measured) ppm")
        #expect((headset.map.segment.residualNanoseconds ?? 1e9) < 5e6)
    }

    @Test("A stall of 60 s, whose packets all arrive at once afterwards, moves no time by more than 3 ms")
    func stall() {
        var headset = Headset(crystalErrorPPM: 30)
        var random = SeededGenerator(seed: 5)
        headset.run(seconds: 300) { second in
            let jitter = Int64(random.exponential() * 5e6)
            return (200..<260).contains(second) ? Int64((260 - second) * 1e9) : jitter
        }
        for n in stride(from: Int64(0), to: headset.lastN, by: 1000) {
            #expect(abs(headset.error(at: n)) < 3_000_000, "\(headset.error(at: n)) ns at \(n)")
        }
    }

    @Test("A burst that is 5 s late moves no time by more than 3 ms, wherever it comes", arguments: [2.0, 30, 60, 118])
    func burst(at start: Double) {
        var headset = Headset(crystalErrorPPM: -40)
        var random = SeededGenerator(seed: 6)
        headset.run(seconds: 180) { second in
            let jitter = Int64(random.exponential() * 5e6)
            return (start..<(start + 5)).contains(second) ? Int64((start + 5 - second) * 1e9) : jitter
        }
        for n in stride(from: Int64(0), to: headset.lastN, by: 500) {
            #expect(abs(headset.error(at: n)) < 3_000_000, "\(headset.error(at: n)) ns at \(n)")
        }
    }

    @Test("A first packet that is late does not set the time of the rest")
    func lateStart() {
        var headset = Headset(crystalErrorPPM: 0)
        headset.run(seconds: 60) { $0 < 1 ? 2_000_000_000 : 1_000_000 }
        #expect(abs(headset.error(at: 0)) < 3_000_000)
    }

    @Test("Segments follow each other without overlap, and time never goes back at their border", arguments: 1...5)
    func monotone(seed: Int) {
        var headset = Headset(crystalErrorPPM: 90)
        var random = SeededGenerator(seed: UInt64(seed))
        headset.run(seconds: 3000) { _ in
            random.strikes(0.002) ? Int64(random.fraction() * 5e9) : Int64(random.exponential() * 20e6)
        }
        let segments = headset.finished + [headset.map.segment]
        #expect(segments.count == 5)
        for (before, after) in zip(segments, segments.dropFirst()) {
            #expect(before.lastN + 1 == after.firstN)
            let step = StoredStream.time(of: after.firstN, in: after) - StoredStream.time(of: before.lastN, in: before)
            #expect(step > 0 && abs(step - headset.period) < 5e6, "\(step) ns between two samples")
            #expect(abs((after.periodNanoseconds - headset.period) / headset.period) < 2e-6)
        }
    }

    @Test("A slope that no crystal has is refused: what the radio did is not taken for the headset's clock")
    func absurdSlope() {
        var headset = Headset(crystalErrorPPM: 0)
        headset.run(seconds: 60) { Int64($0 * 5e6) }
        #expect(abs(headset.map.segment.periodNanoseconds / 4e6 - 1) < 501e-6)
    }

    @Test("The segment is handed over where it has changed, and not again")
    func taking() {
        var headset = Headset(crystalErrorPPM: 0)
        #expect(headset.map.take() != nil)
        #expect(headset.map.take() == nil)
        headset.run(seconds: 1) { _ in 0 }
        #expect(headset.map.take()?.lastN == headset.lastN)
        #expect(headset.map.take() == nil)
        #expect(headset.map.n(at: headset.map.time(of: 123)) == 123)
    }
}
