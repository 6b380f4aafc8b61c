import Bluetooth
import Foundation
import Headsets
import Storage
import Testing

@testable import Export

/// Writes the datasets that Tests/Readers judges with the BIDS validator and reads with MNE-BIDS and pandas, and what a reader
/// must find in them. They go into the directory that EEGSYNC_EXPORT_FIXTURES names; without it into a temporary one.
@Suite struct BIDSReaderFixtureTests {
    /// What a reader must find of one stream.
    struct Expectation: Codable {
        /// The dataset's directory, and the file in it.
        var dataset: String
        var file: String
        /// `eeg`, `motion` or `physio`.
        var kind: String
        var names: [String]
        var samplingFrequency: Double
        /// UTC.
        var start: String
        /// Physical values by channel; of EEG with missing ones filled, of tables nil where one is missing.
        var values: [[Double?]]
        /// A reader's values may differ by so much.
        var tolerance: Double
        /// The first sample and the length of each gap of whole rows.
        var gaps: [[Int64]]
        /// Texts and samples of the marks.
        var marks: [String: Int64]
    }

    /// What only a person can say, by the fields of the specification.
    private static let said = [
        "Manufacturer": "InteraXon", "TaskDescription": "Rest", "Instructions": "Sit still.", "InstitutionName": "Lab",
        "InstitutionAddress": "Street 1", "InstitutionalDepartmentName": "Sleep", "SubjectArtefactDescription": "n/a",
        "EEGReference": "Fpz", "EEGGround": "Fpz", "PowerLineFrequency": "50", "CapManufacturer": "InteraXon",
        "CapManufacturersModelName": "Muse 2", "HeadCircumference": "57",
        "CogAtlasID": "https://www.cognitiveatlas.org/task/id/trm_4c8a834779883", "StimulusPresentation": "none",
        "CogPOID": "https://www.cognitiveatlas.org/task/id/trm_4c8a834779883", "species": "homo sapiens", "License": "CC0",
        "Authors": "Jane Doe; Joan Roe", "HEDVersion": "8.2.0", "SourceDatasets": "https://example.org/study",
    ]

    private struct Case {
        var dataset: String
        var fixture: RecordingFixture
        var isDescribed = false
    }

    private static var cases: [Case] {
        let wide = (0..<4).map {
            RecordingFixture.channel("E\($0 + 1)", scale: 0.022_351_744_455_307_063, raw: -8_388_608...8_388_607)
        }
        let fine = RecordingFixture(
            streams: [
                .init(
                    description: RecordingFixture.description(frequency: 250, channels: wide), range: 100...2599,
                    absent: [700...760], certainty: .timed(uncertainty: 3), uncertainty: 3_150_000,
                    value: { RecordingFixture.value($0, $1) * 4001 + Int32($0 % 7) })
            ], subject: "Jürgen K.", label: "night one", task: "sleep")
        let muse = BIDSExportTests.headset()
        return [
            Case(dataset: "bids-described", fixture: muse, isDescribed: true), Case(dataset: "bids", fixture: muse),
            Case(dataset: "bids", fixture: muse), Case(dataset: "bids", fixture: fine),
            Case(dataset: "bids", fixture: BIDSExportTests.headset(subject: "S02", task: nil)),
        ]
    }

    @Test("Datasets for other programs' readers are written with what they must find") func write() throws {
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)").path
        let named = ProcessInfo.processInfo.environment["EEGSYNC_EXPORT_FIXTURES"]
        let path = named ?? temporary
        defer { if named == nil { try? FileManager.default.removeItem(atPath: path) } }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for dataset in Set(Self.cases.map(\.dataset)) {
            try? FileManager.default.removeItem(atPath: "\(path)/\(dataset)")
        }
        var expectations: [Expectation] = []
        for (number, one) in Self.cases.enumerated() {
            let request = ExportRequest(format: .bids, path: "\(path)/\(one.dataset)")
            let report = try Self.exporter(one, machine: number).export(request)
            for (file, stream) in zip(report.files, one.fixture.streams) {
                expectations.append(Self.expectation(one, String(file.path.dropFirst(path.count + 1)), stream))
            }
        }
        #expect(expectations.count == 4 * 4 + 1)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(expectations).write(to: URL(fileURLWithPath: "\(path)/bids-expectations.json"))
    }

    /// The recording, with all that people and links say where it is described.
    private static func exporter(_ one: Case, machine: Int) throws -> Exporter {
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "11111111-1111-4111-8111-11111111111\(machine)"))
        let recording = try one.fixture.record(into: store)
        let now = MonotonicTime(nanoseconds: 200_000_000_000)
        if one.isDescribed {
            var facts = LinkFacts()
            (facts.model, facts.modelNumber, facts.firmwareRevision, facts.eegsync) = ("muse-2", "Muse-2", "1.9", "0.1.0")
            var batch = WriteBatch(number: 2)
            batch.changes = [
                .identityProof(IdentityProofRecord(headset: HeadsetID(rawValue: 1), proof: "6002-ABCD")),
                .link(
                    LinkRecord(
                        headset: HeadsetID(rawValue: 1), recording: recording,
                        began: MonotonicTime(nanoseconds: 100_000_000_000), facts: facts)),
            ]
            batch.changes += (1...4).map { channel in
                .signalCheck(
                    SignalCheckRecord(
                        stream: StreamID(rawValue: 1), channel: channel, firstN: 0, lastN: 2559,
                        condition: channel == 2 ? .railed : .good, sampleCount: 2560, railedFraction: 0, peakToPeak: 100,
                        line50Hz: 2, line60Hz: 0.1))
            }
            batch.changes += [("TP9", 12.5), ("reference", 4.0)].map { electrode, kilohms in
                .impedance(
                    ImpedanceRecord(
                        recording: recording, at: MonotonicTime(nanoseconds: 101_000_000_000), electrode: electrode,
                        kilohms: kilohms))
            }
            try store.commit(batch)
            var fields: [(field: RecordingField, value: String?)] = said.sorted { $0.key < $1.key }.map {
                (.property(key: $0.key), $0.value)
            }
            fields += [
                (.session, "night 1"), (.run, "3"), (.subjectSex, "female"), (.subjectBirthdate, "1990-12-31"),
                (.subjectHandedness, "left"), (.subjectName, "Jane Secret"),
            ]
            _ = try store.control.edit(recording, fields, at: now)
        }
        return try Exporter(store: store, recording: recording)
    }

    /// What a reader must find, made from the fixture's formulas, not from what was written.
    private static func expectation(_ one: Case, _ path: String, _ stream: RecordingFixture.Stream) -> Expectation {
        let channels = stream.description.channels
        let kind = path.contains("_eeg.") ? "eeg" : path.contains("_motion.") ? "motion" : "physio"
        let values = channels.indices.map { channel in
            var last: Double?
            let raw: [Double?] = stream.range.map { n in
                let value = one.fixture.row(stream, n).flatMap { $0[channel] }.map {
                    Double($0) * channels[channel].scale + channels[channel].offset
                }
                last = value ?? last
                return kind == "eeg" ? last : value
            }
            return raw
        }
        let start = one.fixture.start + stream.delay
        var marks: [String: Int64] = [:]
        for annotation in one.fixture.annotations {
            let seconds = Double(annotation.onsetUnixNanoseconds - start) / 1e9
            marks[BIDSTable.cell(annotation.description)] = Int64((seconds * stream.description.samplingFrequency).rounded())
        }
        let isWide = channels[0].rawMaximum > 32_767
        return Expectation(
            dataset: one.dataset, file: String(path.dropFirst(one.dataset.count + 1)), kind: kind,
            names: channels.map(\.name), samplingFrequency: stream.description.samplingFrequency,
            start: CivilTime.iso8601(unixNanoseconds: start), values: values,
            tolerance: kind == "eeg" ? (isWide ? 0.05 : 0.01 * abs(channels[0].scale)) : 1e-6 * abs(channels[0].scale),
            gaps: stream.absent.map { [$0.lowerBound - stream.range.lowerBound, Int64($0.count)] }, marks: marks)
    }
}
