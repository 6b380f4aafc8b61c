import Headsets
import Storage
import Testing

@testable import eegsync

/// Where the samples of a recording stand on a tape.
struct TapeLayoutTests {
    private static let second: Int64 = 1_000_000_000

    /// A stream of 100 Hz; by run of its counter: the first n, the first index, when the first sample was taken, how many.
    private static func stream(_ runs: [(firstN: Int64, firstIndex: Int64, second: Int64, count: Int64)]) -> StreamContents {
        let segments = runs.map { run in
            TimeSegment(
                firstN: run.firstN, lastN: run.firstN + run.count - 1, referenceN: run.firstN,
                referenceUnixNanoseconds: run.second * second, periodNanoseconds: 10_000_000)
        }
        return StreamContents(
            id: StreamID(rawValue: 1), position: 0,
            description: StreamDescription(
                name: "eeg", samplingFrequency: 100, counterModulus: 1 << 32,
                channels: [ChannelDescription(name: "C3", scale: 1, rawMinimum: -100, rawMaximum: 100)]),
            firstN: runs.first?.firstN, lastN: segments.last?.lastN, rowCount: 1, gaps: [], segments: segments,
            lossDetection: "mark", chainHeads: [:],
            epochs: runs.map { EpochContents(firstN: $0.firstN, firstIndex: $0.firstIndex) })
    }

    @Test("each run stands at its time, where its index has the same remainder by the packet, and never over another")
    func pieces() {
        // A second run with a gap of 3 s before it whose n's are not its times', and a third at once behind it.
        let stream = Self.stream([(0, 7, 50, 1000), (1250, 3, 63, 500), (1750, 0, 67, 500)])
        let layout = TapeLayout(stream, on: TapeTimeline([stream]), indexesPerPacket: 12)
        #expect(
            layout.pieces == [
                .init(firstN: 0, endN: 1000, position: 7), .init(firstN: 1250, endN: 1750, position: 1311),
                .init(firstN: 1750, endN: 2250, position: 1812),
            ])
        #expect(layout.n(at: 6) == nil && layout.n(at: 7) == 0 && layout.n(at: 1006) == 999 && layout.n(at: 1007) == nil)
        #expect(layout.n(at: 1811) == nil && layout.n(at: 1812) == 1750 && layout.end == 2312 && layout.n(at: 2312) == nil)
    }

    @Test("of a silence longer than a minute, a minute is left, in all streams")
    func silence() {
        let hour = Self.stream([(0, 0, 50, 1000), (361_000, 0, 3660, 500)])
        // It has one sample amid the silence, which then are two.
        let other = Self.stream([(0, 0, 50, 100), (100, 0, 1000, 1), (101, 0, 3661, 500)])
        let timeline = TapeTimeline([hour, other])
        #expect(timeline.elapsed(at: 55 * Self.second) == 5 * Self.second)
        #expect(timeline.elapsed(at: 1000 * Self.second) / Self.second == 69)
        let positions = [hour, other].map { TapeLayout($0, on: timeline, indexesPerPacket: 1).pieces.map(\.position) }
        #expect(positions[0].last == 12_999 && positions[1].last == 13_099, "\(positions)")
    }

    @Test("numbers that no headset and no clock can give are noticed")
    func damaged() {
        #expect(Self.stream([(0, 7, 50, 1000), (1250, 3, 63, 500)]).canBeLaidOut)
        let runs: [(firstN: Int64, firstIndex: Int64, second: Int64, count: Int64)] = [
            (.min, 0, 0, 10), (0, .max, 0, 10), (0, .min, 0, 10), (0, 0, -9_000_000_000, 10),
        ]
        for run in runs {
            #expect(!Self.stream([run]).canBeLaidOut, "\(run)")
        }
    }

    @Test("nothing recorded is nothing on the tape")
    func empty() {
        let stream = Self.stream([])
        let layout = TapeLayout(stream, on: TapeTimeline([stream]), indexesPerPacket: 12)
        #expect(layout.pieces.isEmpty && layout.end == 0 && layout.n(at: 0) == nil)
    }
}
