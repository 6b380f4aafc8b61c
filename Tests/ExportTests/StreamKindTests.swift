import Headsets
import Storage
import Testing

@testable import Export

/// Which streams share a file of EDF+.
@Suite struct StreamKindTests {
    private static func stream(_ name: String, type: String, frequency: Double = 52) -> RecordingFixture.Stream {
        .init(
            description: RecordingFixture.description(
                name, frequency: frequency,
                channels: [RecordingFixture.channel("X", type: type, unit: "n/a", scale: 1, raw: -32_768...32_767)]),
            range: 0...519)
    }

    @Test("Each kind has a file of its own, EEG under the name that was asked for, and nothing in it says that it is missing")
    func kinds() throws {
        let directory = try TemporaryDirectory()
        var motion = Self.stream("accelerometer", type: "ACCEL")
        motion.delay = 19_000_000
        let fixture = RecordingFixture(streams: [
            motion, .init(description: RecordingFixture.description(), range: 0...2559),
            Self.stream("gyroscope", type: "GYRO"), Self.stream("triggers", type: "TRIG", frequency: 256),
            Self.stream("ppg", type: "PPG", frequency: 64),
        ])
        let report = try fixture.exporter().export(ExportRequest(format: .edf, path: directory.path + "/n.edf"))
        #expect(
            report.files.map { $0.path.dropFirst(directory.path.count + 1) } == ["n.edf", "n_motion.edf", "n_ppg.edf"])
        #expect(
            report.files.map { $0.streams.map(\.name) } == [
                ["eeg", "triggers"], ["accelerometer", "gyroscope"], ["ppg"],
            ])
        let eeg = try EDFReader(path: directory.path + "/n.edf")
        #expect(try !eeg.annotations().contains { $0.text == "BAD_ACQ_SKIP" && $0.onsetMicroseconds <= 250_000 })
        let signals = try EDFReader(path: directory.path + "/n_motion.edf").header.signals.map(\.label)
        #expect(signals == ["MISC ACCEL X", "MISC GYRO X", "EDF Annotations"])
    }

    @Test("An existing file of a further kind is found before the first is written")
    func exists() throws {
        let directory = try TemporaryDirectory()
        let fixture = RecordingFixture(streams: [
            .init(description: RecordingFixture.description(), range: 0...2559), Self.stream("ppg", type: "PPG"),
        ])
        let request = ExportRequest(format: .edf, path: directory.path + "/n.edf")
        _ = try fixture.exporter().export(ExportRequest(format: .edf, path: directory.path + "/n_ppg.edf"))
        #expect(throws: ExportError.exists(path: directory.path + "/n_ppg.edf")) {
            try fixture.exporter().export(request)
        }
        #expect(!directory.names.contains("n.edf"))
    }
}
