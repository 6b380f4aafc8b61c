import Bluetooth
import Headsets
import Simulation
import Testing

/// How an Explore's sampling frequency is found where no information names it, and where packets are lost meanwhile.
@Suite("Explore's frequency")
struct ExploreFrequencyTests {
    /// What a capture becomes. Each sample is the number of the instant that the headset took.
    private struct Outcome {
        /// The frequencies that were reported, each with the number of samples before it.
        var frequencies: [(hertz: Double, before: Int)] = []
        var samples: [(counter: Int, instant: Int)] = []

        /// Those of the latest frequency.
        var latest: ArraySlice<(counter: Int, instant: Int)> { samples[(frequencies.last?.before ?? 0)...] }
        /// The difference of counter and instant among the latest: one value, where what is missing between two rows is what
        /// was lost.
        var latestOffsets: Set<Int> { Set(latest.map { $0.counter - $0.instant }) }
    }

    private static let start: UInt64 = 100_000_000

    private static func decode(_ packets: [[UInt8]], with first: ExploreDecoder = ExploreDecoder()) -> Outcome {
        var decoder = first
        var outcome = Outcome()
        let motion = ExplorePacket(kind: .orientation, ticks: start, content: [UInt8](repeating: 1, count: 18)).encoded()
        for packet in [motion] + packets {
            var decoded = Decoded()
            decoder.decode(packet, from: ExploreService.explorePro.data, into: &decoded)
            for item in decoded.items {
                switch item {
                case .status(let status):
                    if let stream = status.streams?[ExploreProfile.eeg] {
                        outcome.frequencies.append((stream.samplingFrequency, outcome.samples.count))
                    }
                case .samples(let block) where block.stream == ExploreProfile.eeg:
                    for instant in 0..<block.instantCount {
                        let value = decoded.values[block.values.lowerBound + instant * block.channelCount]
                        outcome.samples.append((Int(block.counter ?? 0) + instant, Int(value)))
                    }
                default: break
                }
            }
        }
        return outcome
    }

    /// One instant at a time.
    private static func packets(
        _ frequency: Double, _ instants: Range<Int>, isReceived: (Int) -> Bool = { _ in true }
    ) -> [[UInt8]] {
        instants.filter(isReceived).map { instant in
            let content = ExplorePacket.content(ofInstant: [Int32](repeating: Int32(instant), count: 8))
            let ticks = start + UInt64(Double(instant) * ExplorePacket.tickFrequency / frequency)
            return ExplorePacket(kind: .eeg8BLE, ticks: ticks, content: content).encoded()
        }
    }

    /// 16 instants at a time, from a first one that is taken at a tick.
    private static func packets(code: UInt8, _ numbers: Range<Int>, from ticks: UInt64) -> [[UInt8]] {
        let period = ExplorePacket.tickFrequency / Double(16_000 >> Int(code))
        return numbers.map { number in
            let first = number * 16
            let content = ExplorePacket.content(
                ofInstants: (first..<first + 16).map { [Int32](repeating: Int32($0), count: 8) }, frequencyCode: code)
            let later = Double(first - numbers.lowerBound * 16) * period
            return ExplorePacket(kind: .eeg8, ticks: ticks + UInt64(later), content: content).encoded()
        }
    }

    @Test("is found at once where 60 of 100 packets are lost, half of them at random, or some at first only")
    func losses() throws {
        var generator = SeededGenerator(seed: 5)
        let atRandom = (0..<10_000).map { _ in Bool.random(using: &generator) }
        let captures: [(frequency: Double, isReceived: (Int) -> Bool)] = [
            (1000, { $0 > 250 || $0 % 5 < 2 }), (1000, { $0 % 5 < 2 }), (500, { $0 > 125 || $0 % 5 < 2 }),
            (1000, { atRandom[$0] }), (250, { atRandom[$0] }), (250, { $0 > 75 || $0 % 3 != 0 }),
        ]
        for (frequency, isReceived) in captures {
            let outcome = Self.decode(Self.packets(frequency, 0..<10_000, isReceived: isReceived))
            #expect(outcome.frequencies.map(\.hertz) == [frequency])
            #expect(outcome.latestOffsets.count == 1)
            let first = try #require(outcome.latest.first).instant
            #expect(Double(first) < frequency)
            #expect(outcome.latest.map(\.instant) == (first..<10_000).filter(isReceived))
        }
    }

    @Test(
        "is corrected within a second where it was taken too low, and from then on rows and what is missing are what was sent",
        arguments: [
            // Each second packet is lost for the first 0.25 s, and so on: nothing in them shows the period.
            (500.0, 125, 2), (1000.0, 250, 2), (1000.0, 250, 4), (1000.0, 250, 5), (2000.0, 600, 8),
        ])
    func corrected(frequency: Double, lossEnd: Int, each: Int) throws {
        let count = Int(frequency) * 10
        // Some are lost later, too.
        func isReceived(_ instant: Int) -> Bool {
            instant > lossEnd ? instant % 100 != 7 : instant.isMultiple(of: each)
        }
        let outcome = Self.decode(Self.packets(frequency, 0..<count, isReceived: isReceived))
        #expect(outcome.frequencies.map(\.hertz).first == (each == 2 ? frequency / 2 : 250))
        #expect(outcome.frequencies.map(\.hertz).last == frequency)
        #expect(outcome.latestOffsets.count == 1)
        let first = try #require(outcome.latest.first).instant
        #expect(Double(first) < frequency)
        // With one difference of counter and instant, each row that is not there is missing once.
        #expect(outcome.latest.map(\.instant) == (first..<count).filter(isReceived))
        // Nothing is dropped between the two streams.
        let before = try #require(outcome.samples.dropLast(outcome.latest.count).last).instant
        #expect(before >= first - each - 2)
    }

    @Test("is corrected where the headset's information names one that its clock refutes")
    func refutedInformation() {
        var content = [UInt8](repeating: 0, count: 22)
        content.replaceSubrange(16..<20, with: [0xC2, 0x02, 6, 0xFF])
        let information = ExplorePacket(kind: .deviceInformationBLE, ticks: Self.start, content: content).encoded()
        let outcome = Self.decode([information] + Self.packets(500, 0..<3000))
        #expect(outcome.frequencies.map(\.hertz) == [250, 500])
        #expect(outcome.latestOffsets.count == 1 && outcome.latest.last?.instant == 2999)
        #expect(outcome.frequencies.last.map { $0.before < 150 } == true)
    }

    @Test("is that of the word before each instant, also where this changes without another sign")
    func severalInstants() {
        let before = Self.packets(code: 6, 0..<40, from: Self.start)
        let after = Self.packets(code: 5, 40..<200, from: Self.start + 40 * 16 * 400)
        let outcome = Self.decode(before + after)
        #expect(outcome.frequencies.map(\.hertz) == [250, 500])
        #expect(outcome.latestOffsets.count == 1 && outcome.latest.last?.instant == 3199)
    }

    @Test("remains where packets do come twice, each or some, and rows are counted once", arguments: [1, 2, 3])
    func repeats(each: Int) throws {
        let packets: [[UInt8]] = Self.packets(250, 0..<5000).enumerated().flatMap { number, packet in
            number.isMultiple(of: each) ? [packet, packet] : [packet]
        }
        let outcome = Self.decode(packets)
        #expect(outcome.frequencies.map(\.hertz) == [250])
        let first = try #require(outcome.latest.first).instant
        #expect(outcome.latest.map(\.instant) == Array(first..<5000))
        #expect(outcome.latestOffsets.count == 1)
    }

    @Test("of the link before is corrected like any other")
    func continued() throws {
        var decoder = ExploreDecoder()
        var decoded = Decoded()
        let motion = ExplorePacket(kind: .orientation, ticks: 0, content: [UInt8](repeating: 1, count: 18)).encoded()
        for packet in [motion] + Self.packets(250, 0..<100) {
            decoder.decode(packet, from: ExploreService.explorePro.data, into: &decoded)
        }
        let next = try #require(decoder.continued() as? ExploreDecoder)
        let outcome = Self.decode(Self.packets(500, 0..<2000), with: next)
        #expect(outcome.frequencies.map(\.hertz) == [500])
        #expect(outcome.latestOffsets.count == 1 && outcome.latest.last?.instant == 1999)
    }
}
