import Headsets
import Storage
import Testing

@testable import Export

/// Where a recording is cut, and what is said of what is not.
@Suite struct TimelinePiecesTests {
    private static let second: Int64 = 1_000_000_000

    /// A stretch of samples of 1 Hz that begins at a second.
    private static func segment(_ range: ClosedRange<Int64>, at seconds: Int64, boot: Int64 = 1) -> TimeSegment {
        TimeSegment(
            firstN: range.lowerBound, lastN: range.upperBound, referenceN: range.lowerBound,
            referenceUnixNanoseconds: seconds * second, periodNanoseconds: 1e9, hostBoot: boot)
    }

    private static func gap(_ firstN: Int64, _ count: Int64) -> GapContents {
        GapContents(
            firstN: firstN, count: count, channel: 0, cause: .silence, recovered: 0, certainty: "counted", uncertainty: nil,
            missing: count)
    }

    private static func part(_ id: Int64, gaps: [GapContents] = [], segments: [TimeSegment]) -> StreamPart {
        let (first, last) = (segments.first?.firstN ?? 0, segments.last?.lastN ?? 0)
        let stream = StreamContents(
            id: StreamID(rawValue: id), position: Int(id), description: RecordingFixture.description("s\(id)", frequency: 1),
            firstN: first, lastN: last, rowCount: last - first + 1, gaps: gaps, segments: segments, lossDetection: "counter",
            chainHeads: [:])
        return StreamPart(stream: stream, range: first...last)
    }

    private func pieces(_ parts: [StreamPart], cutsJumps: Bool = false) -> [[Int: ClosedRange<Int64>]] {
        TimelinePieces(parts, cutsJumps: cutsJumps).pieces.map { piece in
            Dictionary(piece.map { ($0.part, $0.range) }) { first, _ in
                Issue.record("a part is there twice")
                return first
            }
        }
    }

    @Test("A stream that misses more than a day while another goes on stays one")
    func longGap() {
        let (whole, other) = (Self.segment(0...199_999, at: 0), Self.gap(1000, 90_000))
        #expect(
            pieces([Self.part(1, segments: [whole]), Self.part(2, gaps: [other], segments: [whole])])
                == [[0: 0...199_999, 1: 0...199_999]])
        #expect(pieces([Self.part(2, gaps: [other], segments: [whole])]) == [[0: 0...999], [0: 91_000...199_999]])
    }

    @Test("Where a stream pauses and does not count, the others are cut at the end of the pause")
    func pause() {
        let pausing = Self.part(
            2, gaps: [Self.gap(1000, 0)], segments: [Self.segment(0...999, at: 0), Self.segment(1000...1999, at: 5000)])
        #expect(
            pieces([Self.part(1, segments: [Self.segment(0...9999, at: 0)]), pausing])
                == [[0: 0...4999, 1: 0...999], [0: 5000...9999, 1: 1000...1999]])
    }

    /// The first boot's clock was never set, and the headset counted on.
    private static let unset = [
        Self.segment(0...99, at: 1_400_000_000), Self.segment(100...199, at: 1_800_000_000, boot: 2),
    ]

    @Test("A grid that follows the times ends where a clock was set by years, and one that follows n does not")
    func jump() {
        let part = Self.part(1, segments: Self.unset)
        #expect(pieces([part]) == [[0: 0...199]])
        #expect(pieces([part], cutsJumps: true) == [[0: 0...99], [0: 100...199]])
        // Half a day is filled.
        let near = [Self.segment(0...99, at: 0), Self.segment(100...199, at: 43_300, boot: 2)]
        #expect(pieces([Self.part(1, segments: near)], cutsJumps: true) == [[0: 0...199]])
    }

    @Test("What the headset counted across two boots is what is missing, and nothing is no boundary")
    func countedAcrossBoots() throws {
        let counted = try JoinedStream.join([Self.part(1, segments: Self.unset)])[0]
        #expect(counted.jumps == [100])
        #expect(counted.samplesBetween(99, 100) == 0 && counted.samplesBetween(89, 105) == 15)
        let uncounted = try JoinedStream.join([Self.part(1, gaps: [Self.gap(100, 0)], segments: Self.unset)])[0]
        #expect(uncounted.samplesBetween(99, 100) == 399_999_900)
        var layout = MultiplexedLayout()
        layout.begin(n: 0, missing: 0)
        layout.add(100)
        layout.begin(n: 100, missing: counted.samplesBetween(99, 100))
        layout.add(100)
        let contents = RecordingContents(
            id: RecordingID(rawValue: 1), headsetName: "anna", model: "m", serialNumber: nil, label: nil, subject: nil,
            task: nil, startUnixNanoseconds: nil, streams: [counted.clock], annotations: [])
        let facts = MultiplexedFacts(
            contents: contents, stream: counted, format: EEGLABHeaders().format(of: counted), layout: layout, name: "a.set",
            names: [:])
        #expect(EEGLABEvents(facts).value == .empty)
    }

    @Test("A segment's distance from UTC is that of its own ends")
    func segments() throws {
        let directory = try TemporaryDirectory()
        let fixture = RecordingFixture(streams: [
            .init(description: RecordingFixture.description(), range: 0...9999, absent: [5000...5255], stretch: 1.0001)
        ])
        let report = try fixture.exporter().export(
            ExportRequest(format: .edf, path: directory.path + "/a.edf", gaps: .segments))
        let deviations = report.files.map { $0.streams[0].maximumDeviationSeconds }
        // Samples behind the first one, by 100 ppm of 1/256 s each.
        for (deviation, count) in zip(deviations, [4999.0, 4743]) { #expect(abs(deviation - count / 256e4) < 2e-6) }
        for name in ["a_run-01.edf", "a_run-02.edf"] {
            let texts = try EDFReader(path: directory.path + "/" + name).annotations().map(\.text)
            #expect(texts.contains { $0.hasPrefix("eegsync: samples lie at the nominal rate, up to") })
        }
    }
}
