import Glibc
import Headsets
import Storage
import Testing

@testable import Export

@Suite struct XDFExportTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// A chunk, as the specification alone lays it out.
    private struct Chunk {
        var tag: Int
        var stream: Int?
        var content: [UInt8]
        var text: String { String(decoding: content, as: UTF8.self) }
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

    private func chunks(_ name: String = "a.xdf") -> [Chunk] {
        let bytes = contents(of: directory.path + "/" + name)
        #expect(bytes.starts(with: Array("XDF:".utf8)))
        var chunks: [Chunk] = []
        var start = 4
        while start < bytes.count {
            let width = Int(bytes[start])
            let length = Self.integer(bytes[(start + 1)..<(start + 1 + width)])
            let end = start + 1 + width + length
            let tag = Self.integer(bytes[(start + 1 + width)..<(start + 3 + width)])
            let hasStream = [2, 3, 4, 6].contains(tag)
            let content = start + 3 + width + (hasStream ? 4 : 0)
            chunks.append(
                Chunk(
                    tag: tag, stream: hasStream ? Self.integer(bytes[(content - 4)..<content]) : nil,
                    content: Array(bytes[content..<end])))
            start = end
        }
        return chunks
    }

    private func export(_ fixture: RecordingFixture, gaps: GapTreatment? = nil) throws -> ExportReport {
        try fixture.exporter().export(ExportRequest(format: .xdf, path: directory.path + "/a.xdf", gaps: gaps))
    }

    private static func double(_ value: Double) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * $0)) }
    }

    private static func float(_ value: Float) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * $0)) }
    }

    @Test("A small file is as the specification lays it out; a missing row is not there, a missing value is NaN")
    func golden() throws {
        let fixture = RecordingFixture(streams: [
            .init(
                description: RecordingFixture.description(frequency: 4), range: 0...3, absent: [1...2], nulls: [(2, 3...3)])
        ])
        let report = try export(fixture)
        let found = chunks()
        #expect(found.map(\.tag) == [1, 2, 4, 3, 3, 5, 5, 4, 6])
        let start = 1_772_359_200.25
        let scale: Float = 0.2197265625
        let first = [8] + Self.double(start) + Self.float(-2000 * scale) + Self.float(-1899 * scale)
        let second = [8] + Self.double(start + 0.75) + Self.float(-1889 * scale) + Self.float(.nan)
        #expect(found[3].content == [4, 1, 0, 0, 0] + first)
        #expect(found[4].content == [4, 1, 0, 0, 0] + second)
        #expect(found[2].content == Self.double(start) + Self.double(0))
        #expect(found[7].content == Self.double(start + 0.75) + Self.double(0))
        for part in [
            "<first_timestamp>1772359200.25</first_timestamp>", "<last_timestamp>1772359201.0</last_timestamp>",
            "<sample_count>2</sample_count>",
        ] {
            #expect(found[8].text.contains(part))
        }
        for part in [
            "<name>anna-eeg</name><type>EEG</type><channel_count>2</channel_count><channel_format>float32</channel_format>",
            "<nominal_srate>4.0</nominal_srate>", "<label>TP9</label><type>EEG</type><unit>microvolts</unit>",
            "<can_drop_samples>true</can_drop_samples>", "<scale>0.2197265625</scale>",
            "<gap><first_n>1</first_n><time>1772359200.5</time><missing>2</missing><cause>linkLost</cause>",
        ] {
            #expect(found[1].text.contains(part), "\(part) in \(found[1].text)")
        }
        #expect(report.files[0].streams.map(\.rowCount) == [2])
        #expect(report.notes.isEmpty)
    }

    @Test("With segments, a stream begins after each gap, and not after what the headset never sends")
    func segments() throws {
        var fixture = RecordingFixture(streams: [
            .init(description: RecordingFixture.description(), range: 0...20_000, absent: [300...300, 5000...6000])
        ])
        _ = try export(fixture, gaps: .segments)
        let headers = chunks().filter { $0.tag == 2 }
        #expect(headers.map(\.stream) == [1, 2, 3])
        #expect(headers[1].text.contains("<name>anna-eeg-2</name>"))
        let counts = chunks().filter { $0.tag == 6 }.map { $0.text.contains("<sample_count>300<") }
        #expect(counts == [true, false, false])
        fixture.streams[0].absenceCause = .notSent
        unlink(directory.path + "/a.xdf")
        _ = try export(fixture, gaps: .segments)
        #expect(chunks().filter { $0.tag == 2 }.count == 1)
    }

    @Test("Banks of a wide stream are one stream; more than 16 bits take eight bytes a value")
    func banks() throws {
        let channels = (1...12).map { RecordingFixture.channel("E\($0)", scale: 0.0223517, raw: -8_388_608...8_388_607) }
        var second = RecordingFixture.description(channels: Array(channels[8...]))
        second.bank = 1
        let fixture = RecordingFixture(streams: [
            .init(description: RecordingFixture.description(channels: Array(channels[..<8])), range: 0...99),
            .init(description: second, range: 0...99, absent: [50...59], value: { n, c in Int32(n * 70_001) + Int32(c) }),
        ])
        let report = try export(fixture)
        let found = chunks()
        let headers = found.filter { $0.tag == 2 }
        #expect(headers.count == 1)
        #expect(headers[0].text.contains("<channel_count>12</channel_count><channel_format>double64</channel_format>"))
        #expect(report.files[0].streams.map(\.rowCount) == [100])
        let samples = try #require(found.first { $0.tag == 3 }).content
        let ninth = 5 + 99 * (9 + 12 * 8) + 9 + 8 * 8
        #expect(Array(samples[ninth..<(ninth + 8)]) == Self.double(0.0223517 * Double(99 * 70_001)))
        let missing = 5 + 55 * (9 + 12 * 8) + 9 + 8 * 8
        #expect(Array(samples[missing..<(missing + 8)]) == Self.double(.nan))
    }

    @Test("Marks are a stream of texts in order; one that the headset said of a sample has the stamp of that sample")
    func marks() throws {
        var fixture = RecordingFixture(streams: [
            .init(description: RecordingFixture.description(), range: 0...2559, stretch: 1.01)
        ])
        fixture.annotations = [
            AnnotationContents(
                onsetUnixNanoseconds: fixture.start, durationSeconds: nil, description: "Trigger", source: "headset",
                sample: AnnotatedSample(stream: StreamID(rawValue: 1), n: 2000)),
            fixture.annotation("a < b & \u{1} µ", at: 1),
        ]
        _ = try export(fixture)
        let found = chunks()
        let marks = try #require(found.first { $0.tag == 3 && $0.stream == 1 })
        let late = 1_772_359_200.25 + (2000.0 / 256 * 1.01)
        let text = Array("a < b & \u{1} µ".utf8)
        var expected: [UInt8] = [4, 2, 0, 0, 0, 8] + Self.double(1_772_359_201.25)
        expected += [4, UInt8(text.count), 0, 0, 0] + text
        expected += [8] + Self.double(late) + [4, 7, 0, 0, 0] + Array("Trigger".utf8)
        #expect(marks.content == expected)
        let header = try #require(found.first { $0.tag == 2 && $0.stream == 1 })
        #expect(header.text.contains("<type>Markers</type>") && header.text.contains("a &lt; b &amp;   µ"))
        #expect(header.text.contains("<n>2000</n>"))
    }

    @Test("Two samples that changed their order, and a mark one sample late, are found")
    func planted() throws {
        var fixture = RecordingFixture(streams: [.init(description: RecordingFixture.description(), range: 0...99)])
        fixture.annotations = [fixture.annotation("mark", at: 0.125)]
        _ = try export(fixture)
        let good = contents(of: directory.path + "/a.xdf")
        let stamp = Self.double(1_772_359_200.375)
        let offsets = good.indices.dropLast(8).filter { good[$0] == 8 && Array(good[($0 + 1)..<($0 + 9)]) == stamp }
        // The mark's, and that of sample 32.
        try #require(offsets.count == 2)
        let row = 9 + 2 * 4
        let swapped = Array(good[(offsets[1] + 9)..<(offsets[1] + row)])
        let following = Array(good[(offsets[1] + row + 9)..<(offsets[1] + 2 * row)])
        let defects: [[(offset: Int, bytes: [UInt8])]] = [
            [(offsets[1] + 9, following), (offsets[1] + row + 9, swapped)],
            [(offsets[0] + 1, Self.double(1_772_359_200.375 + 1.0 / 256))],
        ]
        for defect in defects {
            var exporter = try fixture.exporter()
            exporter.afterWriting = { path in
                let file = open(path, O_RDWR)
                defer { close(file) }
                for piece in defect { pwrite(file, piece.bytes, piece.bytes.count, piece.offset) }
            }
            #expect(throws: ExportError.self) {
                try exporter.export(ExportRequest(format: .xdf, path: directory.path + "/bad.xdf"))
            }
            #expect(directory.names == ["a.xdf"])
        }
    }

    @Test("Times that jump between two boots of the host end a stretch; a knot of the time map does not")
    func jumps() {
        func segment(_ first: Int64, _ unix: Int64, boot: Int64 = 1) -> TimeSegment {
            TimeSegment(
                firstN: first, lastN: first + 99, referenceN: first, referenceUnixNanoseconds: unix,
                periodNanoseconds: 3_906_250, hostBoot: boot)
        }
        let second: Int64 = 1_000_000_000
        let stream = StreamContents(
            id: StreamID(rawValue: 1), position: 0, description: RecordingFixture.description(), firstN: 0, lastN: 399,
            rowCount: 400, gaps: [],
            segments: [
                segment(0, 0), segment(100, 390_625_100), segment(200, 90 * second, boot: 2),
                segment(300, 100 * second, boot: 2),
            ], lossDetection: "counter", chainHeads: [:])
        let joined = try? JoinedStream.join([StreamPart(stream: stream, range: 0...399)]).first
        #expect(joined?.jumps == [200, 300])
        #expect(joined?.samplesBetween(299, 300) == 2460)
    }

    @Test("A value far beyond the declared range is written and said to be inexact")
    func beyond() throws {
        let fixture = RecordingFixture(streams: [
            .init(
                description: RecordingFixture.description(), range: 0...9,
                value: { n, _ in n == 3 ? 2_147_483_647 : 5 })
        ])
        let report = try export(fixture)
        #expect(report.notes == ["2 values far beyond the range that the headset declares are written with fewer digits."])
    }
}
