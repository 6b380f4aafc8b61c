import Foundation
import Headsets
import Testing

@testable import Page
@testable import Storage

/// Files of pictures that somebody has removed, cut or damaged, or that cannot be written.
@Suite struct SignalFileTests {
    private let fixture: SignalFixture

    init() throws { fixture = try SignalFixture() }

    private func pyramid(_ reserve: DiskReserve = DiskReserve()) throws -> SignalPyramid {
        try SignalPyramid(of: try fixture.stream, directory: fixture.directory.path, reserve: reserve)
    }

    private func extended(_ pyramid: SignalPyramid) throws -> SignalPyramid {
        let extent = try #require(try fixture.stream.extent)
        let isComplete = try pyramid.extend(from: fixture.store, extent: extent, limit: .max / 4)
        #expect(isComplete)
        return pyramid
    }

    private func painter(
        _ pyramid: SignalPyramid?, until n: Int64 = SignalFixture.count, columns: Int = 30
    ) throws -> SignalPainter {
        var painter = SignalPainter(
            store: fixture.store, stream: try fixture.stream, timeline: StreamTimeline(try fixture.timeline()),
            pyramid: pyramid, time: SignalFixture.time(0)..<SignalFixture.time(n), columns: columns)
        try painter.paint()
        return painter
    }

    private func path(_ ending: String) throws -> String { fixture.directory.path + "/" + (try fixture.stream.uuid) + ending }

    @Test(arguments: [".7", ".12", ".17", ".json"])
    func aFileThatIsMissingIsMadeAnew(ending: String) throws {
        defer { fixture.remove() }
        let picture = try painter(extended(pyramid())).picture
        try FileManager.default.removeItem(atPath: path(ending))
        let next = try pyramid()
        #expect(next.end == nil)
        #expect(try painter(extended(next)).picture == picture)
    }

    @Test(arguments: [".7", ".12", ".17"])
    func aFileThatIsTooShortIsMadeAnew(ending: String) throws {
        defer { fixture.remove() }
        let picture = try painter(extended(pyramid())).picture
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path(ending)))
        try file.truncate(atOffset: 24)
        try file.close()
        let next = try pyramid()
        #expect(next.end == nil)
        #expect(try painter(extended(next)).picture == picture)
    }

    @Test(arguments: [
        #"{"version":2,"channels":2,"base":0,"end":262144000,"recovered":[]}"#,
        #"{"version":2,"channels":2,"base":0,"end":1000,"recovered":[]}"#,
        #"{"version":2,"channels":3,"base":0,"end":128,"recovered":[]}"#,
        #"{"version":2,"channels":2,"base":-9223372036854775808,"end":128,"recovered":[]}"#, "{", "",
    ])
    func whatIsSaidOfTheFilesIsNotBelieved(state: String) throws {
        defer { fixture.remove() }
        _ = try extended(pyramid())
        try Data(state.utf8).write(to: URL(fileURLWithPath: path(".json")))
        #expect(try pyramid().end == nil)
    }

    /// As after a power cut: the file is as long as it should be, and its blocks were never written.
    @Test(arguments: [".7", ".12", ".17"])
    func holesAreNeverPaintedAsNothing(ending: String) throws {
        defer { fixture.remove() }
        let columns = ending == ".7" ? 1000 : ending == ".12" ? 30 : 1
        let picture = try painter(extended(pyramid()), columns: columns).picture
        let size = try #require(try FileManager.default.attributesOfItem(atPath: path(ending))[.size] as? Int)
        try Data(count: size).write(to: URL(fileURLWithPath: path(ending)))
        let damaged = try pyramid()
        #expect(damaged.end != nil)
        let seen = try painter(damaged, columns: columns)
        #expect(seen.picture.maximum.max() == SignalFixture.spikeValue)
        #expect(damaged.end == nil)
        #expect(try painter(extended(damaged), columns: columns).picture == picture)
    }

    @Test func removedFilesAreNoFiles() throws {
        defer { fixture.remove() }
        let first = try extended(pyramid())
        #expect(!first.isLost)
        try FileManager.default.removeItem(at: fixture.directory)
        #expect(first.isLost)
        #expect(throws: PictureFileError(code: ENOENT)) { try extended(first) }
        #expect(throws: PictureFileError(code: ENOENT)) { try pyramid() }
        try FileManager.default.createDirectory(at: fixture.directory, withIntermediateDirectories: true)
        #expect(try painter(extended(pyramid())).picture == painter(first).picture)
    }

    @Test func aDiskIsNotFilled() throws {
        defer { fixture.remove() }
        let full = try pyramid(DiskReserve { _ in DiskRoom(freeBytes: 200_000_000, totalBytes: 32_000_000_000) })
        #expect(throws: PictureFileError(code: ENOSPC)) { try extended(full) }
        // What there is is painted.
        #expect(try painter(full).picture.maximum.max() == SignalFixture.spikeValue)
    }

    @Test func whatHasNotChangedIsNotWritten() throws {
        defer { fixture.remove() }
        let pyramid = try extended(pyramid())
        func times() throws -> [Date?] {
            try [".7", ".12", ".17", ".json"].map {
                try FileManager.default.attributesOfItem(atPath: path($0))[.modificationDate] as? Date
            }
        }
        let before = try times()
        _ = try extended(pyramid)
        #expect(try times() == before)
        try fixture.recover(203_000..<203_050, value: 9_999)
        _ = try extended(pyramid)
        #expect(try times() != before)
    }

    @Test func aNameThatIsNoIdentifierIsNoFile() throws {
        defer { fixture.remove() }
        var stream = try fixture.stream
        stream.uuid = "../\(stream.uuid)"
        #expect(throws: PictureFileError(code: EINVAL)) {
            try SignalPyramid(of: stream, directory: fixture.directory.path)
        }
    }

    /// More n than the picture has rows: a headset that was away most of the time.
    @Test func columnsWithFewRowsArePaintedHoweverManyThereAre() throws {
        defer { fixture.remove() }
        let rows: Range<Int64> = 519_000..<519_500
        var batch = WriteBatch(number: 3)
        batch.changes = [
            .ledger(
                .open(
                    stream: StreamID(rawValue: 1), firstN: SignalFixture.count, channel: 0,
                    count: rows.lowerBound - SignalFixture.count, cause: .linkLost, noticed: SignalFixture.start))
        ]
        batch.samples = [
            SampleRows(
                stream: StreamID(rawValue: 1), channelCount: 2, firstN: rows.lowerBound,
                values: rows.flatMap { _ in [Int32(7_777), -7_777] })
        ]
        try fixture.store.commit(batch)
        // 127 samples a column: fewer than in the smallest bucket.
        let painter = try painter(nil, until: rows.upperBound, columns: 4096)
        #expect(painter.isComplete)
        #expect(painter.picture.maximum.max() == SignalFixture.spikeValue)
        #expect(painter.picture.maximum[4095] == 7_777)
    }
}
