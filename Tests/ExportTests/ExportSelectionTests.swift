import Bluetooth
import Foundation
import Headsets
import Storage
import Testing

@testable import Export

/// A part of a recording is exactly that part: the same rows, gaps cut at the edges, its own times and annotations.
@Suite struct ExportSelectionTests {
    let directory: TemporaryDirectory
    let store: AcquisitionStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "11111111-1111-4111-8111-111111111111"))
    }

    private static let start = RecordingFixture.start

    private static var fixture: RecordingFixture {
        var fixture = RecordingFixture(streams: [
            .init(
                description: RecordingFixture.description(
                    channels: ["TP9", "AF7", "AF8"].map { RecordingFixture.channel($0) }),
                range: 10...5129, absent: [600...700, 1500...1500, 2000...2600], nulls: [(2, 900...960), (3, 940...980)],
                stretch: 1.000_02),
            .init(
                description: RecordingFixture.description(
                    "accelerometer", frequency: 52, channels: [RecordingFixture.channel("X", type: "ACCEL", unit: "g")]),
                range: 0...1039, absent: [100...119], delay: 7_000_000, stretch: 0.999_98),
        ])
        fixture.annotations = [
            fixture.annotation("first", at: 0.5), fixture.annotation("long", at: 2, duration: 10),
            fixture.annotation("inside", at: 6), fixture.annotation("last", at: 15),
        ]
        return fixture
    }

    private func contents(_ selection: ExportSelection, of reader: RecordingReader) throws -> RecordingReader {
        try reader.slice(selection.slice(of: reader.contents))
    }

    private func rows(of reader: RecordingReader, _ stream: StreamID) throws -> [[Int64?]] {
        var rows: [[Int64?]] = []
        try reader.forEachChunk(of: stream, in: .min ... .max, rowsPerChunk: 100) { chunk in
            let width = chunk.n.isEmpty ? 1 : chunk.values.count / chunk.n.count
            for row in chunk.n.indices {
                var values: [Int64?] = [chunk.n[row]]
                for channel in 0..<width {
                    let isMissing = chunk.missingChannels[row] & (1 << UInt8(channel)) != 0
                    values.append(isMissing ? nil : Int64(chunk.values[row * width + channel]))
                }
                rows.append(values)
            }
        }
        return rows
    }

    @Test("Any two edges give the rows between them, and an account of what is missing there")
    func everyEdge() throws {
        let reader = try store.reader(of: Self.fixture.record(into: store))
        let whole = try rows(of: reader, StreamID(rawValue: 1))
        let times: [Int64] = (0..<5200).map { reader.contents.streams[0].unixNanoseconds(ofSample: $0) ?? 0 }
        // Edges before, at and within gaps, and outside of the recording.
        let edges: [Double] = [-1, 0, 0.001, 2.2999, 2.31, 2.5, 5.81, 7.7, 8, 10.1, 19.999, 30]
        for lower in edges {
            for upper in edges where upper > lower {
                let (from, to) = (Self.start + Int64(lower * 1e9), Self.start + Int64(upper * 1e9))
                let expected = whole.filter { row in
                    let time = times[Int(row[0] ?? 0)]
                    return time >= from && time < to
                }
                do {
                    let slice = try contents(ExportSelection(from: .at(from), to: .at(to)), of: reader)
                    let found = slice.contents.streams.first { $0.id.rawValue == 1 }
                    #expect(try rows(of: slice, StreamID(rawValue: 1)) == expected, "\(lower) \(upper)")
                    #expect(found?.rowCount == Int64(expected.count), "\(lower) \(upper)")
                    let span = (found?.lastN ?? -1) - (found?.firstN ?? 0) + 1
                    let missing = found?.gaps.filter { $0.channel == 0 }.reduce(Int64(0)) { $0 + ($1.missing ?? -1) } ?? 0
                    #expect(missing + Int64(expected.count) == span, "\(lower) \(upper)")
                } catch let error as ExportError {
                    #expect(error == .emptyRecording(RecordingID(rawValue: 1)))
                    #expect(expected.isEmpty, "\(lower) \(upper)")
                }
            }
        }
    }

    @Test("Parts that meet share no sample, and lose none", arguments: [0.1, 0.7, 3])
    func meetingParts(length: Double) throws {
        let reader = try store.reader(of: Self.fixture.record(into: store))
        for stream in reader.contents.streams {
            var joined: [[Int64?]] = []
            for number in 0..<Int(25 / length) {
                let from = ExportSelection.Edge.afterStart(Int64((Double(number) * length * 1e9).rounded()))
                let to = ExportSelection.Edge.afterStart(Int64((Double(number + 1) * length * 1e9).rounded()))
                let selection = ExportSelection(from: from, to: to, streams: [stream.description.name])
                if let slice = try? contents(selection, of: reader) { joined += try rows(of: slice, stream.id) }
            }
            #expect(try joined == rows(of: reader, stream.id))
        }
    }

    @Test("Edges in n are of the first chosen stream, and cut the others at the same time")
    func samples() throws {
        let reader = try store.reader(of: Self.fixture.record(into: store))
        let slice = try contents(ExportSelection(from: .sample(650), to: .sample(1650)), of: reader)
        let (eeg, motion) = (slice.contents.streams[0], slice.contents.streams[1])
        #expect(eeg.firstN == 650 && eeg.lastN == 1649)
        #expect(eeg.gaps.filter { $0.channel == 0 }.map(\.firstN) == [650, 1500])
        #expect(eeg.gaps.filter { $0.channel == 0 }.map(\.count) == [51, 1])
        #expect(eeg.rowCount == 948)
        let begin = try #require(reader.contents.streams[0].unixNanoseconds(ofSample: 650))
        let times = try [#require(motion.firstN) - 1, #require(motion.firstN)].map {
            try #require(reader.contents.streams[1].unixNanoseconds(ofSample: $0))
        }
        #expect(times[0] < begin && begin <= times[1])
        let one = try contents(ExportSelection(from: .beforeEnd(1_000_000_000), streams: ["accelerometer"]), of: reader)
        // The EEG ends 7 ms and a part of a sampling period earlier or later: a second of 52 Hz has 51 ... 53 samples.
        #expect((51...53).contains(one.contents.streams[0].rowCount))
    }

    @Test(
        "An edge in n that no sample comes to leaves the whole, or nothing",
        arguments: [Int64.min, .min + 1, -2_000_000_000_000, 2_000_000_000_000, .max])
    func distantSamples(n: Int64) throws {
        let reader = try store.reader(of: Self.fixture.record(into: store))
        let behind = try? contents(ExportSelection(from: .sample(n)), of: reader)
        let before = try? contents(ExportSelection(to: .sample(n)), of: reader)
        #expect((behind == nil) == (n > 0) && (before == nil) == (n < 0))
        let whole = n > 0 ? before : behind
        #expect(whole?.contents.streams.map(\.rowCount) == reader.contents.streams.map(\.rowCount))
        #expect(throws: ExportError.emptyRecording(RecordingID(rawValue: 1))) {
            try contents(ExportSelection(from: .beforeEnd(.min)), of: reader)
        }
    }

    @Test("A time that 64 bits cannot hold is the first or the last one that they hold")
    func distantTimes() {
        let start = Self.start
        func time(_ n: Int64, _ reference: Int64, period: Double = 3_906_250, at unix: Int64? = nil) -> Int64 {
            TimeSegment(
                firstN: 0, lastN: 9, referenceN: reference, referenceUnixNanoseconds: unix ?? start, periodNanoseconds: period
            ).unixNanoseconds(ofSample: n)
        }
        #expect(time(.max, .min) == .max && time(.min, .max) == .min && time(.max, .max) == start)
        #expect(time(1, 0, at: .max) == .max && time(-1, 0, at: .min) == .min)
        #expect(time(100, 0, period: 9e17) == .max && time(-100, 0, period: .infinity) == .min)
        #expect(time(0, 0, period: .infinity) == start && time(.max, 0, period: 1e-300) == start)
    }

    @Test("Chosen channels are the same channels, and their gaps theirs")
    func channels() throws {
        let reader = try store.reader(of: Self.fixture.record(into: store))
        let slice = try contents(ExportSelection(channels: ["AF8", "TP9"]), of: reader)
        #expect(slice.contents.streams.map { $0.description.channels.map(\.name) } == [["TP9", "AF8"]])
        let whole = try rows(of: reader, StreamID(rawValue: 1)).map { [$0[0], $0[1], $0[3]] }
        #expect(try rows(of: slice, StreamID(rawValue: 1)) == whole)
        #expect(slice.contents.streams[0].gaps.filter { $0.channel > 0 }.map(\.channel) == [2])
        #expect(slice.contents.annotations == reader.contents.annotations)
        #expect(throws: ExportError.unknownChannel(name: "AF9", available: ["TP9", "AF7", "AF8", "X"])) {
            try contents(ExportSelection(channels: ["AF9"]), of: reader)
        }
    }

    @Test("What was annotated over an edge is cut at it, what lies outside is left out")
    func annotations() throws {
        let reader = try store.reader(of: Self.fixture.record(into: store))
        let seconds = { (seconds: Double) in ExportSelection.Edge.at(Self.start + Int64(seconds * 1e9)) }
        let slice = try contents(ExportSelection(from: seconds(4), to: seconds(8)), of: reader)
        #expect(slice.contents.annotations.map(\.description) == ["long", "inside"])
        #expect(slice.contents.annotations[0].onsetUnixNanoseconds == Self.start + 4_000_000_000)
        #expect(slice.contents.annotations[0].durationSeconds == 4)
        let edge = try contents(ExportSelection(from: seconds(6), to: seconds(15)), of: reader)
        #expect(edge.contents.annotations.map(\.description) == ["long", "inside"])
        #expect(edge.contents.annotations[0].durationSeconds == 6)
    }

    @Test("Files of a part say its start, hold its rows, and are compared as wholes are", arguments: [ExportFormat.edf, .csv])
    func files(format: ExportFormat) throws {
        let exporter = try Self.fixture.exporter()
        let path = directory.path + "/part." + format.rawValue
        var request = ExportRequest(
            format: format, path: path,
            selection: ExportSelection(from: .sample(620), to: .sample(2100), streams: ["eeg"], channels: ["AF7"]),
            values: .raw)
        let report = try exporter.export(request)
        let stream = try #require(report.files.first?.streams.first)
        #expect(stream.firstN == 620 && stream.lastN == 2099)
        #expect(stream.rowCount == 1480 - 81 - 1 - 100)
        #expect(stream.filledCount == 81 + 1 + 100)
        #expect(
            report.files[0].startUnixNanoseconds.map { $0 / 1000 }
                == exporter.contents.streams[0]
                .unixNanoseconds(ofSample: 620).map { $0 / 1000 })
        var damaged = exporter
        damaged.afterWriting = { path in
            let file = open(path, O_RDWR)
            defer { close(file) }
            var byte = UInt8(ascii: "1")
            pwrite(file, &byte, 1, 2003)
            byte = UInt8(ascii: "2")
            pwrite(file, &byte, 1, 2004)
        }
        request.path += "2"
        #expect(throws: ExportError.self) { try damaged.export(request) }
    }

    @Test("A database holds the whole, so that a part of it is refused")
    func database() throws {
        let request = ExportRequest(
            format: .sqlite, path: directory.path + "/a.sqlite", selection: ExportSelection(from: .afterStart(0)))
        #expect(throws: ExportError.self) { try Self.fixture.exporter().export(request) }
        #expect(directory.names.isEmpty)
    }
}
