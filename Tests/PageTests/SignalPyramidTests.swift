import Foundation
import Headsets
import Storage
import Testing

@testable import Page

/// Pictures of a recording at any zoom.
@Suite struct SignalPyramidTests {
    /// What one would paint who reads every row.
    private func plain(_ fixture: SignalFixture, _ time: Range<Int64>, columns: Int) throws -> SignalColumns {
        var painter = SignalPainter(
            store: fixture.store, stream: try fixture.stream, timeline: StreamTimeline(try fixture.timeline()), pyramid: nil,
            time: time, columns: columns)
        try painter.paint()
        #expect(painter.isComplete)
        return painter.picture
    }

    private func painted(
        _ fixture: SignalFixture, _ pyramid: SignalPyramid, _ time: Range<Int64>, columns: Int
    ) throws -> SignalColumns {
        var painter = SignalPainter(
            store: fixture.store, stream: try fixture.stream, timeline: StreamTimeline(try fixture.timeline()),
            pyramid: pyramid, time: time, columns: columns)
        try painter.paint()
        #expect(painter.isComplete)
        return painter.picture
    }

    private func pyramid(_ fixture: SignalFixture, limit: Int64 = .max / 4) throws -> SignalPyramid {
        let pyramid = try SignalPyramid(of: try fixture.stream, directory: fixture.directory.path)
        let extent = try #require(try fixture.stream.extent)
        var steps = 0
        while try !pyramid.extend(from: fixture.store, extent: extent, limit: limit), steps < 1000 { steps += 1 }
        return pyramid
    }

    @Test(arguments: [1, 3, 10, 200, 700, 2000])
    func aSpikeOfOneSampleStandsInEveryPicture(columns: Int) throws {
        let fixture = try SignalFixture()
        defer { fixture.remove() }
        let pyramid = try pyramid(fixture)
        let whole = SignalFixture.time(0)..<SignalFixture.time(SignalFixture.count)
        let picture = try painted(fixture, pyramid, whole, columns: columns)
        #expect(picture.maximum.prefix(columns).max() == SignalFixture.spikeValue)
        #expect(picture.minimum.suffix(columns).filter { $0 != SignalColumns.nothing }.min() == -SignalFixture.spikeValue)
        // In its own column, and at most in one beside it.
        let column = Int(SignalFixture.spike * Int64(columns) / SignalFixture.count)
        let seen = picture.maximum.prefix(columns).indices.filter { picture.maximum[$0] == SignalFixture.spikeValue }
        #expect(seen.contains(column) && seen.count <= 2, "\(seen), \(column)")
    }

    @Test func narrowColumnsAreExact() throws {
        let fixture = try SignalFixture()
        defer { fixture.remove() }
        let pyramid = try pyramid(fixture)
        let time = SignalFixture.time(123_000)..<SignalFixture.time(124_000)
        #expect(try painted(fixture, pyramid, time, columns: 500) == plain(fixture, time, columns: 500))
    }

    @Test func wideColumnsHoldWhatTheirRowsHold() throws {
        let fixture = try SignalFixture()
        defer { fixture.remove() }
        let pyramid = try pyramid(fixture)
        let time = SignalFixture.time(7_777)..<SignalFixture.time(290_123)
        let (fast, exact) = (try painted(fixture, pyramid, time, columns: 400), try plain(fixture, time, columns: 400))
        for index in exact.minimum.indices where exact.minimum[index] != SignalColumns.nothing {
            #expect(fast.minimum[index] <= exact.minimum[index] && fast.maximum[index] >= exact.maximum[index])
        }
        // Where nothing is, nothing is painted, but for a column beside the gap.
        let empty = (exact.minimum.indices.prefix(400)).filter { exact.minimum[$0] == SignalColumns.nothing }
        #expect(empty.count >= 10)
        #expect(empty.dropFirst().dropLast().allSatisfy { fast.minimum[$0] == SignalColumns.nothing })
    }

    @Test func whatArrivesAfterAllIsPainted() throws {
        let fixture = try SignalFixture()
        defer { fixture.remove() }
        let pyramid = try pyramid(fixture)
        try fixture.recover(203_000..<203_050, value: 9_999)
        let whole = SignalFixture.time(190_000)..<SignalFixture.time(220_000)
        // Without looking at the ledger, it would not be there: the comparison bites.
        #expect(try painted(fixture, pyramid, whole, columns: 20).maximum.max() != 9_999)
        let extent = try #require(try fixture.stream.extent)
        #expect(try pyramid.extend(from: fixture.store, extent: extent, limit: 1_000_000))
        #expect(try painted(fixture, pyramid, whole, columns: 20).maximum.max() == 9_999)
    }

    /// Other requests wait for one step, and not for a night that a headset hands over.
    @Test func whatArrivesAfterAllIsComputedStepByStep() throws {
        let fixture = try SignalFixture()
        defer { fixture.remove() }
        let pyramid = try pyramid(fixture)
        let extent = try #require(try fixture.stream.extent)
        func step() throws -> Bool { try pyramid.extend(from: fixture.store, extent: extent, limit: 2048) }
        func seen() throws -> (values: Set<Int32>, isComplete: Bool) {
            var painter = SignalPainter(
                store: fixture.store, stream: try fixture.stream, timeline: StreamTimeline(try fixture.timeline()),
                pyramid: pyramid, time: SignalFixture.time(190_000)..<SignalFixture.time(220_000), columns: 20)
            try painter.paint()
            return (Set(painter.picture.maximum), painter.isComplete)
        }
        try fixture.recover(203_000..<203_050, value: 9_999)
        #expect(try !step())
        // The first step ends before that, and says that something lacks.
        let first = try seen()
        #expect(!first.values.contains(9_999) && !first.isComplete)
        // Where it has been already, more arrives.
        try fixture.recover(200_000..<200_050, value: 9_000, batch: 3)
        var steps = 1
        while steps < 100, try !step() { steps += 1 }
        #expect(steps == 9, "79 buckets of 128 in steps of 16, and once more, as the ledger has changed since")
        let last = try seen()
        #expect(last.isComplete && last.values.isSuperset(of: [9_000, 9_999]))
        #expect(try step())
    }

    /// New rows are not kept waiting by old ones.
    @Test func newRowsComeFirst() throws {
        let fixture = try SignalFixture()
        defer { fixture.remove() }
        let pyramid = try SignalPyramid(of: try fixture.stream, directory: fixture.directory.path)
        let extent = try #require(try fixture.stream.extent)
        #expect(try !pyramid.extend(from: fixture.store, extent: extent, limit: 250_000))
        try fixture.recover(203_000..<203_050, value: 9_999)
        let reached = try #require(pyramid.end)
        #expect(try !pyramid.extend(from: fixture.store, extent: extent, limit: 4_096))
        #expect(pyramid.end == reached + 4_096)
    }

    @Test func anotherProcessGoesOnWhereThisOneEnded() throws {
        let fixture = try SignalFixture()
        defer { fixture.remove() }
        let extent = try #require(try fixture.stream.extent)
        let first = try SignalPyramid(of: try fixture.stream, directory: fixture.directory.path)
        #expect(try !first.extend(from: fixture.store, extent: extent, limit: 100_000))
        let reached = try #require(first.end)
        let second = try SignalPyramid(of: try fixture.stream, directory: fixture.directory.path)
        #expect(second.end == reached)
        let whole = SignalFixture.time(0)..<SignalFixture.time(SignalFixture.count)
        #expect(
            try painted(fixture, try pyramid(fixture, limit: 60_000), whole, columns: 30)
                == painted(fixture, try pyramid(fixture), whole, columns: 30))
    }

    @Test func nothingStaysOfADeletedRecording() throws {
        let fixture = try SignalFixture()
        defer { fixture.remove() }
        _ = try pyramid(fixture)
        let files = { try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).count }
        SignalPyramid.removeFiles(but: [try fixture.stream.uuid], directory: fixture.directory.path)
        #expect(try files() == 4)
        SignalPyramid.removeFiles(but: [], directory: fixture.directory.path)
        #expect(try files() == 0)
    }

    @Test func aMachineThatRebootedLeavesAHoleInTime() throws {
        // Two pieces whose n meet, an hour apart: the bucket that holds the border is painted row by row.
        let timeline = StreamTimeline([
            TimeSegment(firstN: 0, lastN: 99, referenceN: 0, referenceUnixNanoseconds: 0, periodNanoseconds: 4e6),
            TimeSegment(
                firstN: 100, lastN: 199, referenceN: 100, referenceUnixNanoseconds: 3_600_000_000_000, periodNanoseconds: 4e6),
        ])
        #expect(timeline.unixNanoseconds(of: 99) == 396_000_000)
        #expect(timeline.unixNanoseconds(of: 100) == 3_600_000_000_000)
        let pieces = timeline.pieces(in: 200_000_000..<3_600_100_000_000, of: 0...199)
        #expect(pieces.map(\.range) == [50...99, 100...124])
        #expect(timeline.pieces(in: 1_000_000_000..<2_000_000_000, of: 0...199).map(\.range) == [])
    }

    @Test func aFrameIsLaidOutAsThePageReadsIt() throws {
        var columns = SignalColumns(columns: 2, channels: 1)
        columns.insert(5, channel: 0, column: 1)
        columns.insert(-7, channel: 0, column: 1)
        let frame = SignalFrame.columns(Data("{}".utf8), columns)
        let length = frame.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        #expect((4 + length) % 8 == 0)
        #expect(String(decoding: frame[4..<(4 + length)], as: UTF8.self).trimmingCharacters(in: .whitespaces) == "{}")
        let words = stride(from: 4 + length, to: frame.count, by: 4).map { begin in
            Int32(bitPattern: frame[begin..<(begin + 4)].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        }
        #expect(words == [.min, -7, .min, 5])
    }
}
