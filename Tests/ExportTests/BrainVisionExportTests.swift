import Headsets
import Storage
import Testing

@testable import Export

@Suite struct BrainVisionExportTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func export(_ fixture: RecordingFixture, gaps: GapTreatment? = nil) throws -> ExportReport {
        try fixture.exporter().export(
            ExportRequest(format: .brainvision, path: directory.path + "/a.vhdr", gaps: gaps))
    }

    private func text(_ name: String) -> [String] {
        String(decoding: contents(of: directory.path + "/" + name), as: UTF8.self).components("\r\n")
    }

    private func markers(_ name: String = "a.vmrk") -> [String] {
        text(name).filter { $0.hasPrefix("Mk") }.map { String($0.drop { $0 != "=" }.dropFirst()) }
    }

    private static func integers(_ numbers: [Int16]) -> [UInt8] {
        numbers.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }

    /// Samples 1 and 2 are missing, and of sample 3 the second channel.
    private let small = RecordingFixture(streams: [
        .init(description: RecordingFixture.description(frequency: 4), range: 0...4, absent: [1...2], nulls: [(2, 3...3)])
    ])

    @Test("A small recording is as the format lays it out, with what is missing held and marked")
    func filled() throws {
        let report = try export(small)
        #expect(directory.names == ["a.eeg", "a.vhdr", "a.vhdr.json", "a.vmrk"])
        let first: [Int16] = [-2000, -1899]
        #expect(
            contents(of: directory.path + "/a.eeg")
                == Self.integers(first + first + first + [-1889, -1899] + [-1852, -1751]))
        #expect(
            markers() == [
                "New Segment,,1,1,0,20260301100000250000", "Bad Interval,BAD_ACQ_SKIP,2,2,0",
                "Bad Interval,BAD_ACQ_SKIP,4,1,2",
            ])
        let header = text("a.vhdr")
        for line in [
            "DataFile=a.eeg", "MarkerFile=a.vmrk", "DataOrientation=MULTIPLEXED", "NumberOfChannels=2",
            "SamplingInterval=250000", "BinaryFormat=INT_16", "Ch1=TP9,,0.2197265625,µV", "Ch2=AF7,,0.2197265625,µV",
            "Headset: anna", "Subject: S01",
        ] {
            #expect(header.contains(line), "\(line)")
        }
        #expect(report.files.map(\.streams) == [[Self.stream(rowCount: 3, filledCount: 2, last: 4)]])
        #expect(report.notes.isEmpty)
    }

    @Test("What is missing is left out, and a segment begins with its time")
    func leftOut() throws {
        _ = try export(small, gaps: .discontinuous)
        #expect(
            contents(of: directory.path + "/a.eeg") == Self.integers([-2000, -1899, -1889, -1899, -1852, -1751]))
        #expect(
            markers() == [
                "New Segment,,1,1,0,20260301100000250000", "New Segment,,2,1,0,20260301100001000000",
                "Bad Interval,BAD_ACQ_SKIP,2,1,2",
            ])
    }

    @Test("More than 16 bits, and a unit that does not begin at 0, take four bytes a value")
    func floats() throws {
        let channels = [
            RecordingFixture.channel("E1", scale: 0.0223517, raw: -8_388_608...8_388_607),
            RecordingFixture.channel("T", type: "TEMP", unit: "C", scale: 0.5, offset: 35),
        ]
        let values: [Int32] = [8_388_607, -8_388_608, 8_388_606]
        _ = try export(
            RecordingFixture(streams: [
                .init(
                    description: RecordingFixture.description(channels: channels), range: 0...2,
                    value: { n, channel in channel == 0 ? values[Int(n)] : Int32(n) })
            ]))
        let stored: [Float] = [8_388_607, 70, -8_388_608, 71, 8_388_606, 72]
        let bytes = stored.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * $0)) } }
        #expect(contents(of: directory.path + "/a.eeg") == bytes)
        #expect(text("a.vhdr").contains("BinaryFormat=IEEE_FLOAT_32"))
        #expect(text("a.vhdr").contains("Ch2=T,,0.5,C"))
    }

    @Test("Marks lie at their samples; commas and line feeds are written as the format has them; triggers are stimuli")
    func marks() throws {
        var fixture = RecordingFixture(streams: [.init(description: RecordingFixture.description(), range: 0...2559)])
        fixture.annotations = [
            fixture.annotation("eyes, closed\nnow", at: 2.5, duration: 1), fixture.annotation("before", at: -3),
            AnnotationContents(
                onsetUnixNanoseconds: fixture.start, durationSeconds: nil, description: "Trigger 7", source: "headset",
                sample: AnnotatedSample(stream: StreamID(rawValue: 1), n: 2000), code: 7),
        ]
        let report = try export(fixture)
        #expect(
            markers() == [
                "New Segment,,1,1,0,20260301100000250000", "Comment,eyes\\1 closed now,641,256,0", "Stimulus,S  7,2001,1,0",
            ])
        #expect(report.notes.count == 1)
    }

    @Test("A gap whose length only clocks show is marked as such, whether it is held or left out")
    func lengths() throws {
        let fixture = RecordingFixture(streams: [
            .init(
                description: RecordingFixture.description(), range: 0...2559, absent: [600...700],
                certainty: .timed(uncertainty: 3))
        ])
        _ = try export(fixture)
        #expect(markers().contains("Bad Interval,BAD_LENGTH_TIMED +-3 samples,601,101,0"))
        for name in directory.names { directory.remove(name) }
        _ = try export(fixture, gaps: .discontinuous)
        #expect(markers().contains("Comment,BAD_LENGTH_TIMED +-3 samples,601,1,0"))
    }

    @Test("What differs from the nominal rate is reported, from the beginning of each segment")
    func deviation() throws {
        let fixture = RecordingFixture(streams: [
            .init(
                description: RecordingFixture.description(), range: 0...25_599, absent: [10_000...10_099], stretch: 1.000_1)
        ])
        // 25,599 periods of 1/256 s, 100 ppm too long.
        #expect(abs(try #require(try export(fixture).files[0].streams.first).maximumDeviationSeconds - 0.01) < 1e-4)
        for name in directory.names { directory.remove(name) }
        // The second segment is the longer one: 15,499 periods.
        let apart = try export(fixture, gaps: .discontinuous).files[0].streams[0].maximumDeviationSeconds
        #expect(abs(apart - 0.006_054) < 1e-5)
    }

    private static func stream(rowCount: Int64, filledCount: Int64, last: Int64) -> ExportedStream {
        ExportedStream(
            name: "eeg", firstN: 0, lastN: last, rowCount: rowCount, filledCount: filledCount, gridOffsetSeconds: 0,
            maximumDeviationSeconds: 0, timeUncertaintySeconds: nil)
    }
}

extension String {
    /// The parts between a separator.
    fileprivate func components(_ separator: Character) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
