import Bluetooth
import Headsets
import Simulation
import Storage
import Testing

@testable import Assembly

/// What a stream says that tells its losses.
struct LossDetectionTests {
    /// Live blocks for so many seconds, committed each second; what was said meanwhile.
    private static func run(
        _ stream: inout StreamUnderTest, seconds: Int64, counted: Bool = false, marks: Bool = false, channels: Range<Int>? = nil
    ) -> [LossDetectionRecord] {
        var random = SeededGenerator(seed: 5)
        var said: [LossDetectionRecord] = []
        let frequency = Int64(stream.description.samplingFrequency)
        var truth: Int64 = 0
        for _ in 0..<seconds {
            while truth % frequency < frequency - 8 {
                stream.advance(samples: 8)
                // Late by up to two milliseconds.
                let due = stream.now
                stream.now = due + .nanoseconds(Int64(random.below(2_000_000)))
                stream.take(index: counted ? truth : nil, truth: truth, channels: channels)
                stream.now = due
                truth += 8
            }
            stream.advance(samples: frequency - truth % frequency)
            truth += frequency - truth % frequency
            if marks { stream.stream.takeMark(period: 248, blockLength: 8, at: stream.now) }
            for case .lossDetection(let record) in stream.commit().changes { said.append(record) }
        }
        return said
    }

    @Test("A stream with a counter says nothing: its counter tells")
    func counter() {
        var stream = StreamUnderTest(modulus: 65_536)
        stream.begin()
        #expect(Self.run(&stream, seconds: 5, counted: true).isEmpty)
    }

    @Test("Without counter nothing tells, until the rate is known; then the clock does")
    func clock() {
        var stream = StreamUnderTest(modulus: nil, frequency: 248)
        stream.begin(rule: .connection)
        let said = Self.run(&stream, seconds: 600)
        #expect(said.map(\.means) == [.nothing, .clock], "\(said)")
        #expect((said.last?.firstN ?? 0) > 20 * 248)
    }

    private static let learntRate = ResumeState.LearntRate(
        stream: "eeg", samplingFrequency: 248, periodNanoseconds: 1e9 / 248)

    @Test("A rate that was learnt before lets the clock tell from the beginning")
    func learnt() {
        var stream = StreamUnderTest(modulus: nil, frequency: 248)
        stream.stream.learn(from: [Self.learntRate])
        stream.begin(rule: .connection)
        #expect(Self.run(&stream, seconds: 5).map(\.means) == [.clock])
    }

    @Test("Marks tell from the first one on, over links, and no more once they stay away")
    func mark() {
        var stream = StreamUnderTest(modulus: nil, frequency: 248)
        stream.begin(rule: .connection)
        #expect(Self.run(&stream, seconds: 5, marks: true).map(\.means) == [.nothing, .mark])
        stream.stream.endLink(cause: .linkLost, at: stream.now)
        stream.begin(rule: .connection)
        #expect(Self.run(&stream, seconds: 3, marks: true).isEmpty)
        #expect(Self.run(&stream, seconds: 10).map(\.means) == [.nothing])
    }

    @Test("A loss of many periods is entered like one of few, once the marks stay late", arguments: [Int64(5), 10, 100])
    func longLoss(seconds: Int64) {
        var stream = StreamUnderTest(modulus: nil, frequency: 248)
        stream.stream.learn(from: [Self.learntRate])
        stream.begin(rule: .connection)
        _ = Self.run(&stream, seconds: 10, marks: true)
        stream.advance(samples: seconds * 248)
        _ = Self.run(&stream, seconds: 10, marks: true)
        let missing = stream.database.wholeGaps.reduce(0) { $0 + ($1.gap.count ?? 0) }
        // The last block of each of the 20 seconds is missing, too.
        #expect(abs(missing - seconds * 248 - 20 * 8) <= 8 * 8, "\(missing)")
    }

    /// Two minutes of blocks of 8 samples, late by up to 2 ms, with a rate that is known: after one of them, blocks are lost,
    /// or late for some seconds.
    private static func clocked(lost: Int64 = 0, delay: Duration = .zero, lateSeconds: Int64 = 0) -> StreamUnderTest {
        var random = SeededGenerator(seed: 9)
        var stream = StreamUnderTest(modulus: nil, frequency: 256)
        stream.stream.learn(
            from: [ResumeState.LearntRate(stream: "eeg", samplingFrequency: 256, periodNanoseconds: 1e9 / 256)])
        stream.begin(rule: .connection)
        let begin = stream.now
        let incident: Int64 = 60 * 32
        for block in Int64(0)..<(120 * 32) where !(incident..<(incident + lost)).contains(block) {
            let isLate = (incident..<(incident + lateSeconds * 32)).contains(block)
            let due = begin + .nanoseconds((block + 1) * 31_250_000 + Int64(random.below(2_000_000)))
            stream.now = max(stream.now, isLate ? due + delay : due)
            stream.take(index: nil, truth: block * 8)
            if block % 32 == 0 { stream.commit() }
        }
        stream.stream.endRecording(at: stream.now)
        stream.commit()
        return stream
    }

    @Test(
        "A radio that is late for some seconds loses nothing by the time", arguments: [20, 50, 100, 200] as [Int64],
        [1, 3] as [Int64])
    func lateRadio(milliseconds: Int64, seconds: Int64) {
        let stream = Self.clocked(delay: .milliseconds(milliseconds), lateSeconds: seconds)
        #expect(stream.database.gaps.isEmpty && stream.database.problems.isEmpty)
    }

    @Test("A loss is entered by the time, within what a link may keep back", arguments: [Int64(2), 5, 20, 100])
    func clockedLoss(blocks: Int64) throws {
        let stream = Self.clocked(lost: blocks)
        let gap = try #require(stream.database.wholeGaps.first)
        #expect(stream.database.wholeGaps.count == 1 && stream.database.problems.isEmpty)
        #expect(abs((gap.gap.count ?? 0) - blocks * 8) <= 8)
        #expect((60 * 256...66 * 256).contains(gap.firstN))
        guard case .timed(let uncertainty) = gap.gap.certainty else { return #expect(Bool(false), "\(gap)") }
        #expect((64...80).contains(uncertainty))
    }

    @Test("Packets that hold some of the channels only are told by nothing")
    func parts() {
        var stream = StreamUnderTest(modulus: nil, frequency: 248)
        stream.stream.learn(from: [Self.learntRate])
        stream.begin(rule: .connection)
        #expect(Self.run(&stream, seconds: 5, channels: 0..<1).map(\.means) == [.nothing])
    }
}
