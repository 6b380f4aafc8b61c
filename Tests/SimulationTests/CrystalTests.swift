import Bluetooth
import Testing

@testable import Simulation

struct CrystalTests {
    private static let crystals: [Crystal] = {
        var generator = SeededGenerator(seed: 7)
        return [Crystal(), Crystal(errorPPM: 20_000), Crystal(errorPPM: -20_000), Crystal(wanderPPM: 40, wanderPhase: 0.3)]
            + (0..<20).map { _ in Crystal.random(&generator) }
    }()

    @Test("The headset's time and the instant of it are each other's inverse, to the nanosecond, for weeks")
    func inverse() {
        var generator = SeededGenerator(seed: 3)
        for crystal in Self.crystals {
            for _ in 0..<300 {
                let instant = MonotonicTime(nanoseconds: Int64(generator.below(3_000_000_000_000_000)))
                let time = crystal.headsetTime(at: instant)
                let first = crystal.instant(of: time)
                #expect(first <= instant && crystal.headsetTime(at: first) == time)
                #expect(crystal.headsetTime(at: first - .nanoseconds(1)) < time)
                // A time that the headset's clock jumps over has an instant, too.
                let next = crystal.instant(of: time + 1)
                #expect(next > instant && crystal.headsetTime(at: next) > time)
            }
        }
    }

    @Test("The headset's time never runs backwards, and its speed keeps within error and wandering")
    func speed() {
        for crystal in Self.crystals {
            var last = crystal.headsetTime(at: .boot)
            for second in 1...7200 {
                let time = crystal.headsetTime(at: MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000))
                let ppm = (Double(time - last) / 1e9 - 1) * 1e6
                #expect(abs(ppm - crystal.errorPPM) <= crystal.wanderPPM + 0.01)
                last = time
            }
        }
        let wandering = Crystal(wanderPPM: 40)
        let speeds = stride(from: Int64(0), to: 3600, by: 60).map { second in
            let (first, last) = (second * 1_000_000_000, (second + 1) * 1_000_000_000)
            let elapsed =
                wandering.headsetTime(at: MonotonicTime(nanoseconds: last))
                - wandering.headsetTime(at: MonotonicTime(nanoseconds: first))
            return (Double(elapsed) / 1e9 - 1) * 1e6
        }
        #expect((speeds.max() ?? 0) > 39.5 && (speeds.min() ?? 0) < -39.5)
    }

    @Test("The position at an instant and the instant of a position are each other's inverse")
    func positions() {
        for crystal in Self.crystals {
            let session = SampleSession(
                began: MonotonicTime(nanoseconds: 60_123_456_789), firstIndexes: [0, 0], samplingFrequencies: [250, 29.7],
                crystal: crystal, delays: [0, 12_345_678])
            for stream in 0..<2 {
                for position in [Int64](0...50) + [7_777, 1_000_003, 90_000_001] {
                    let time = session.time(of: position, stream: stream)
                    #expect(session.position(at: time, stream: stream) == position)
                    if position > 0 {
                        #expect(session.position(at: time - .nanoseconds(1), stream: stream) == position - 1)
                    }
                }
            }
        }
    }

    @Test("An error of more than 2 % is cut, and a phase is taken within its turn")
    func limits() {
        #expect(Crystal(errorPPM: 1e9).errorPPM == 20_000)
        #expect(Crystal(wanderPhase: -0.25).wanderPhase == 0.75)
    }
}
