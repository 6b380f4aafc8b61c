import Bluetooth
import Headsets
import Storage
import Testing

@testable import Assembly

/// A headset that takes no samples for seconds and counts on by one, as an Athena's optics do, beside a link that is silent.
struct StreamPauseTests {
    /// Optics of 64 Hz, blocks with a number of 8 bits and a stamp in milliseconds.
    private struct Optics {
        var test: StreamUnderTest
        var arrivals: [ArrivalRecord] = []
        /// When each sample was taken.
        var taken: [Int64: MonotonicTime] = [:]
        let samplesPerBlock: Int
        /// The headset's clock stands so far ahead of the host's.
        private let clock: UInt64 = 12_345
        private var next: Int64 = 0

        init(samplesPerBlock: Int) {
            self.samplesPerBlock = samplesPerBlock
            test = StreamUnderTest(modulus: 256, samplesPerCount: samplesPerBlock, frequency: 64)
            test.begin(rule: .connection, tickFrequency: 1000)
        }

        /// Blocks for so many seconds. What is taken while the link carries nothing comes at once at its end.
        mutating func run(seconds: Int64, silence: Duration = .zero, isStamped: Bool = true) {
            let count = Int64(samplesPerBlock)
            let carriedAgain = test.now + silence
            for _ in 0..<(seconds * 64 / count) {
                test.advance(samples: count)
                let now = test.now
                for n in next..<(next + count) { taken[n] = now - .nanoseconds((next + count - 1 - n) * 15_625_000) }
                test.now = max(now, carriedAgain)
                test.take(
                    index: next, truth: next, count: samplesPerBlock,
                    ticks: isStamped ? clock + UInt64(now.nanoseconds / 1_000_000) : nil, followsDirectly: next > 0)
                test.now = now
                next += count
            }
            for case .arrival(let record) in test.commit().changes { arrivals.append(record) }
        }

        mutating func end() {
            test.stream.endRecording(at: test.now)
            for case .arrival(let record) in test.commit().changes { arrivals.append(record) }
        }

        /// By how many seconds a map's times are wrong at most.
        func error(of segments: [SegmentRecord]) -> Double {
            var worst = 0.0
            for (n, time) in taken {
                guard let piece = segments.last(where: { $0.firstN <= n }) else { return .infinity }
                worst = max(worst, abs(StoredStream.time(of: n, in: piece) - Double(time.nanoseconds)) / 1e9)
            }
            return worst
        }

        var segments: [SegmentRecord] { test.database.segments.values.sorted { $0.firstN < $1.firstN } }
    }

    @Test(
        "A pause of the headset loses nothing: n goes on, time leaps, and the ledger says so", arguments: [1, 2],
        [1500, 3400, 4100, 8000] as [Int64])
    func pause(samplesPerBlock: Int, milliseconds: Int64) {
        var optics = Optics(samplesPerBlock: samplesPerBlock)
        optics.run(seconds: 100)
        optics.test.now = optics.test.now + .milliseconds(milliseconds)
        optics.run(seconds: 100)
        optics.end()
        #expect(optics.test.stored == Dictionary(uniqueKeysWithValues: (Int64(0)..<12_800).map { ($0, $0) }))
        let gaps = optics.test.database.wholeGaps
        #expect(gaps.map(\.firstN) == [6400] && gaps.first?.gap.count == 0 && gaps.first?.gap.cause == .silence)
        #expect(optics.test.database.epochs.count == 1 && optics.test.database.problems.isEmpty)
        #expect(optics.error(of: optics.segments) < 0.02)
        // Evidence on both sides of the pause lies on two lines.
        let evidence = StreamEvidence(
            stream: StreamID(rawValue: 1), name: "optics", bank: 0, samplingFrequency: 64, isCounted: true,
            segments: optics.segments.map { StoredSegment($0, hostBoot: 1) }, arrivals: optics.arrivals,
            gapsOfNoCount: gaps.filter { $0.gap.count == 0 }.map(\.firstN))
        #expect(optics.error(of: Refit(evidence).segments.map(\.record)) < 0.02)
    }

    @Test("A pause soon after the link began, and another one, are found as well")
    func pauses() {
        var optics = Optics(samplesPerBlock: 1)
        for _ in 0..<4 {
            optics.run(seconds: 5)
            optics.test.now = optics.test.now + .milliseconds(3400)
        }
        optics.run(seconds: 5)
        optics.end()
        #expect(optics.test.database.wholeGaps.map(\.firstN) == [320, 640, 960, 1280])
        #expect(optics.test.database.rows.count == 25 * 64 && optics.test.database.problems.isEmpty)
        #expect(optics.error(of: optics.segments) < 0.02)
    }

    @Test(
        "What has waited in a queue for seconds was stamped in time: no pause, and no wrap", arguments: [1, 2],
        [3400, 5000] as [Int64])
    func stall(samplesPerBlock: Int, milliseconds: Int64) {
        var optics = Optics(samplesPerBlock: samplesPerBlock)
        optics.run(seconds: 100)
        optics.run(seconds: 100, silence: .milliseconds(milliseconds))
        optics.end()
        #expect(optics.test.stored == Dictionary(uniqueKeysWithValues: (Int64(0)..<12_800).map { ($0, $0) }))
        #expect(optics.test.database.gaps.isEmpty && optics.test.database.problems.isEmpty)
        #expect(optics.error(of: optics.segments) < 0.02)
    }

    @Test("Without stamps a pause is no loss either, though its time is not known")
    func unstamped() {
        var optics = Optics(samplesPerBlock: 1)
        optics.run(seconds: 100, isStamped: false)
        optics.test.now = optics.test.now + .milliseconds(3400)
        optics.run(seconds: 100, isStamped: false)
        optics.end()
        #expect(optics.test.stored == Dictionary(uniqueKeysWithValues: (Int64(0)..<12_800).map { ($0, $0) }))
        #expect(optics.test.database.gaps.isEmpty && optics.test.database.problems.isEmpty)
    }
}
