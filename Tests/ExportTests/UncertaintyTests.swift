import Headsets
import Storage
import Testing

@testable import Export

/// Within what times are right, and how lengths are known, in each format.
@Suite struct UncertaintyTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static func fixture(_ certainty: GapCertainty = .timed(uncertainty: 3)) -> RecordingFixture {
        RecordingFixture(streams: [
            .init(
                description: RecordingFixture.description(), range: 0...1023, absent: [200...299, 600...600],
                certainty: certainty, uncertainty: 3_150_000),
            .init(
                description: RecordingFixture.description(
                    "accelerometer", frequency: 64, channels: [RecordingFixture.channel("X", type: "ACCEL", unit: "g")]),
                range: 0...255, absent: [100...109], certainty: certainty, uncertainty: 12_000_000),
        ])
    }

    private func export(
        _ fixture: RecordingFixture, _ name: String, _ format: ExportFormat, gaps: GapTreatment = .fill, streams: [String] = []
    ) throws -> ExportReport {
        try fixture.exporter().export(
            ExportRequest(
                format: format, path: directory.path + "/" + name, selection: ExportSelection(streams: streams), gaps: gaps,
                isTogether: true))
    }

    private func lengths(_ name: String) throws -> [EDFAnnotation] {
        try EDFReader(path: directory.path + "/" + name).annotations().filter { $0.text.hasPrefix("BAD_LENGTH") }
    }

    @Test("The header of EDF+ says the worst of the streams in the file", arguments: [ExportFormat.edf, .bdf])
    func header(format: ExportFormat) throws {
        let report = try export(Self.fixture(), "a.\(format.rawValue)", format)
        let header = try EDFReader(path: directory.path + "/a.\(format.rawValue)").header
        #expect(header.recording == "Startdate 01-MAR-2026 X eegsync Buffered_EEG times+-12.0ms")
        #expect(report.files[0].streams.map(\.timeUncertaintySeconds) == [0.00315, 0.012])
        #expect(report.notes.isEmpty)
        _ = try export(Self.fixture(), "b.\(format.rawValue)", format, streams: ["eeg"])
        let eeg = try EDFReader(path: directory.path + "/b.\(format.rawValue)").header
        #expect(eeg.recording.hasSuffix(" times+-3.2ms"), "rounded up")
    }

    @Test("What is not known of all times is not said, and what the header has no room for is a note")
    func unsaid() throws {
        var fixture = Self.fixture()
        fixture.streams[0].uncertainty = nil
        let unknown = try export(fixture, "a.edf", .edf)
        #expect(unknown.files[0].streams.map(\.timeUncertaintySeconds) == [nil, 0.012])
        #expect(try EDFReader(path: directory.path + "/a.edf").header.recording.hasSuffix("eegsync Buffered_EEG"))
        #expect(unknown.notes.isEmpty)
        fixture = Self.fixture()
        (fixture.label, fixture.task) = (String(repeating: "l", count: 30), "sleep")
        let long = try export(fixture, "b.edf", .edf)
        #expect(long.notes == ["The header has no room left to say it: times are right within 12 ms."])
    }

    @Test("A gap that no counter has counted is annotated with how its length is known")
    func gaps() throws {
        _ = try export(Self.fixture(), "a.edf", .edf)
        let found = try lengths("a.edf")
        #expect(
            found.map(\.text) == [
                "BAD_LENGTH_TIMED +-3 samples", "BAD_LENGTH_TIMED +-3 samples@@MISC ACCEL X", "BAD_LENGTH_TIMED +-3 samples",
            ])
        let skips = try EDFReader(path: directory.path + "/a.edf").annotations().filter { $0.text == "BAD_ACQ_SKIP" }
        #expect(found.filter { !$0.text.contains("@@") }.map(\.onsetMicroseconds) == skips.map(\.onsetMicroseconds))
        #expect(found.first?.durationMicroseconds == skips.first?.durationMicroseconds)
        _ = try export(Self.fixture(.counted), "b.edf", .edf)
        #expect(try lengths("b.edf").isEmpty)
        _ = try export(Self.fixture(.unknown), "c.edf", .edf, streams: ["eeg"])
        #expect(try lengths("c.edf").map(\.text) == ["BAD_LENGTH_UNKNOWN", "BAD_LENGTH_UNKNOWN"])
        _ = try export(Self.fixture(), "d.edf", .edf, gaps: .discontinuous, streams: ["eeg"])
        #expect(try lengths("d.edf").count == 2)
    }

    @Test("The table's sidecar says both, and so does the database of its own")
    func sidecar() throws {
        _ = try export(Self.fixture(), "a.csv", .csv, streams: ["eeg"])
        let text = String(decoding: contents(of: directory.path + "/a.json"), as: UTF8.self)
        for part in [
            "\"time_uncertainty_milliseconds\" : 3.15", "\"certainty\" : \"timed\"", "\"uncertainty\" : 3", "\"missing\" : 100",
            "\"uncertainty_nanoseconds\" : 3150000", "\"loss_detection\" : \"counter\"",
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        let report = try export(Self.fixture(), "a.sqlite", .sqlite)
        #expect(report.files[0].streams.map(\.timeUncertaintySeconds) == [0.00315, 0.012])
        let boot = HostBoot(uuid: "22222222-2222-4222-8222-222222222222")
        let copy = try ReadOnlyStore(path: directory.path + "/a.sqlite", hostBoot: boot)
        let stream = try #require(try copy.reader(of: RecordingID(rawValue: 1)).contents.streams.first)
        #expect(stream.gaps.map(\.certainty) == ["timed", "timed"] && stream.gaps.map(\.uncertainty) == [3, 3])
        #expect(stream.timeUncertaintyNanoseconds(in: 0...1023) == 3_150_000)
        #expect(stream.lossDetection == "counter")
    }
}
