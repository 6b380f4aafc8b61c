import Bluetooth
import Foundation
import Headsets
import Storage
import Testing

@testable import Export

/// Datasets of the Brain Imaging Data Structure, and what may happen to them.
@Suite struct BIDSExportTests {
    private let directory: Directory

    /// Removed when the test lets it go.
    private final class Directory {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-bids-\(UUID().uuidString)").path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    init() throws { directory = try Directory() }

    private var dataset: String { directory.path + "/study" }

    /// What a Muse 2 sends, with gaps in each stream and marks.
    static func headset(subject: String? = "S01", task: String? = "rest", label: String? = nil) -> RecordingFixture {
        let signed = Int32(-32_768)...32_767
        func motion(_ name: String, _ type: String, _ unit: String) -> RecordingFixture.Stream {
            .init(
                description: RecordingFixture.description(
                    name, frequency: 52,
                    channels: ["X", "Y", "Z"].map {
                        RecordingFixture.channel($0, type: type, unit: unit, scale: 1.0 / 16_384, raw: signed)
                    }),
                range: 0...519, absent: [100...119], delay: 12_000_000)
        }
        let optical = (1...3).map {
            RecordingFixture.channel("PPG\($0)", type: "PPG", unit: "n/a", scale: 1, raw: 0...16_777_215)
        }
        var fixture = RecordingFixture(
            streams: [
                .init(
                    description: RecordingFixture.description(
                        channels: ["TP9", "AF7", "AF8", "TP10"].map { RecordingFixture.channel($0) }),
                    range: 0...2599, absent: [600...700], nulls: [(2, 900...910)]),
                motion("accelerometer", "ACCEL", "g"), motion("gyroscope", "GYRO", "deg/s"),
                .init(
                    description: RecordingFixture.description("ppg", frequency: 64, channels: optical), range: 0...639,
                    absent: [64...127], delay: 20_000_000, value: { RecordingFixture.value($0, $1) + 2000 }),
            ], subject: subject, label: label, task: task)
        fixture.annotations = [
            fixture.annotation("eyes closed", at: 1, duration: 2), fixture.annotation("tab\tand\nline", at: 5.5),
        ]
        return fixture
    }

    @discardableResult
    private func export(_ fixture: RecordingFixture, machine: Int = 1) throws -> ExportReport {
        try fixture.exporter(machine: machine).export(ExportRequest(format: .bids, path: dataset))
    }

    /// Paths of all files of the dataset, sorted.
    private func files() -> [String] {
        let found = FileManager.default.enumerator(atPath: dataset)?.compactMap { $0 as? String } ?? []
        return found.filter {
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: dataset + "/" + $0, isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }.sorted()
    }

    private func table(_ name: String) throws -> BIDSTable {
        try #require(DatasetDirectory.bytes(of: "\(dataset)/\(name)").flatMap { BIDSTable(parsing: $0) })
    }

    @Test("A recording becomes a dataset of EEG, motion and physiology") func layout() throws {
        let report = try export(Self.headset())
        let run = "sub-S01_task-rest_run-01"
        let eeg = ["channels.tsv", "eeg.edf", "eeg.json", "events.json", "events.tsv"].map { "sub-S01/eeg/\(run)_\($0)" }
        let motion = ["accelerometer", "gyroscope"].flatMap { system in
            ["channels.json", "channels.tsv", "events.json", "events.tsv", "motion.json", "motion.tsv"].map {
                "sub-S01/motion/sub-S01_task-rest_tracksys-\(system)_run-01_\($0)"
            }
        }
        let others = [
            "README.md", "dataset_description.json", "participants.json", "participants.tsv", "sub-S01/sub-S01_scans.json",
            "sub-S01/sub-S01_scans.tsv", "sub-S01/eeg/sub-S01_space-CapTrak_coordsystem.json",
            "sub-S01/eeg/sub-S01_space-CapTrak_electrodes.tsv", "sub-S01/eeg/\(run)_recording-ppg_physio.json",
            "sub-S01/eeg/\(run)_recording-ppg_physio.tsv.gz",
        ]
        #expect(files() == (eeg + motion + others).sorted())
        #expect(report.files.count == 4)
        #expect(report.files.allSatisfy { FileManager.default.fileExists(atPath: $0.path) })
        #expect(report.files.map { $0.streams[0].rowCount } == [2499, 500, 500, 576])
    }

    @Test("Gaps and marks are events at their samples, with what the ledger knows") func events() throws {
        try export(Self.headset())
        let events = try table("sub-S01/eeg/sub-S01_task-rest_run-01_events.tsv")
        let gaps = events.rows.filter { events.cell($0, "trial_type") == "gap" }
        #expect(gaps.map { events.cell($0, "sample") } == ["600", "900"])
        #expect(gaps.map { events.cell($0, "channel") } == ["n/a", "AF7"])
        #expect(gaps.map { events.cell($0, "cause") } == ["linkLost", "packetLost"])
        #expect(gaps.map { events.cell($0, "onset") } == ["2.34375", "3.515625"])
        #expect(gaps.map { events.cell($0, "duration") } == ["0.394531", "0.042969"])
        let marks = events.rows.filter { events.cell($0, "source") == "operator" }
        #expect(marks.map { events.cell($0, "trial_type") } == ["eyes closed", "tab and line"])
        #expect(marks.map { events.cell($0, "sample") } == ["256", "1408"])
        // The last data record of a second is filled up from sample 2600 on.
        let padding = events.rows.filter { events.cell($0, "trial_type") == "padding" }
        #expect(padding.map { events.cell($0, "sample") } == ["2600"])
        let motion = try table("sub-S01/motion/sub-S01_task-rest_tracksys-gyroscope_run-01_events.tsv")
        #expect(motion.rows.filter { motion.cell($0, "trial_type") == "gap" }.map { motion.cell($0, "sample") } == ["100"])
    }

    @Test("Another recording takes the next run, and nothing is overwritten") func collision() throws {
        try export(Self.headset())
        let before = Dictionary(uniqueKeysWithValues: files().map { ($0, contents(of: "\(dataset)/\($0)")) })
        try export(Self.headset(), machine: 2)
        let scans = try table("sub-S01/sub-S01_scans.tsv")
        #expect(scans.rows.count == 6)
        #expect(Set(scans.rows.compactMap { scans.cell($0, "recording") }).count == 2)
        #expect(files().contains("sub-S01/eeg/sub-S01_task-rest_run-02_eeg.edf"))
        for (name, bytes) in before where !name.hasSuffix("_scans.tsv") { #expect(contents(of: "\(dataset)/\(name)") == bytes) }
        #expect(try table("participants.tsv").rows.count == 1)
        try export(Self.headset(subject: "S02"), machine: 3)
        #expect(try table("participants.tsv").rows.map { $0[0] } == ["sub-S01", "sub-S02"])
    }

    @Test("The same recording is refused the second time, and replaced on request, also under another name") func again() throws
    {
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "11111111-1111-4111-8111-111111111111"))
        let recording = try Self.headset().record(into: store)
        func export(forces: Bool) throws {
            _ = try Exporter(store: store, recording: recording).export(
                ExportRequest(format: .bids, path: dataset, replacesExisting: forces))
        }
        try export(forces: false)
        let before = files()
        #expect(throws: ExportError.self) { try export(forces: false) }
        try export(forces: true)
        #expect(files() == before)
        #expect(try table("sub-S01/sub-S01_scans.tsv").rows.count == 3)
        _ = try store.control.edit(recording, [(.subject, "S09")], at: MonotonicTime(nanoseconds: 200_000_000_000))
        try export(forces: true)
        #expect(
            files().filter { $0.hasPrefix("sub-") }
                == before.filter { $0.hasPrefix("sub-") }.map { $0.replacing("S01", with: "S09") })
    }

    @Test("Nobody's recording is refused, a task that nobody has said is called so") func missingFields() throws {
        #expect(throws: ExportError.self) { try export(Self.headset(subject: nil)) }
        #expect(throws: ExportError.self) { try export(Self.headset(subject: "äöü")) }
        #expect(!FileManager.default.fileExists(atPath: dataset))
        let report = try export(Self.headset(subject: "S 0/1", task: nil))
        #expect(files().contains("sub-S01/eeg/sub-S01_task-unspecified_run-01_eeg.edf"))
        #expect(report.notes.contains { $0.contains("--task") })
        // Another subject of the same letters.
        #expect(throws: ExportError.self) { try export(Self.headset(subject: "S-01"), machine: 2) }
    }

    @Test("A directory of something else, and a file, are left alone") func foreign() throws {
        try FileManager.default.createDirectory(atPath: dataset, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: dataset + "/thesis.txt"))
        #expect(throws: ExportError.self) { try export(Self.headset()) }
        #expect(files() == ["thesis.txt"])
    }

    @Test("A table of participants that people have written keeps its columns and rows") func foreignParticipants() throws {
        try export(Self.headset())
        let path = URL(fileURLWithPath: dataset + "/participants.tsv")
        try Data("participant_id\tgroup\r\nsub-S01\tcontrol\r\n".utf8).write(to: path)
        try export(Self.headset(subject: "S02"), machine: 3)
        let participants = try table("participants.tsv")
        #expect(participants.columns.prefix(2) == ["participant_id", "group"])
        #expect(participants.rows.map { participants.cell($0, "group") } == ["control", "n/a"])
    }

    @Test("A byte that changes on the disk is found in each file of samples, and nothing is left in the dataset")
    func plantedDefects() throws {
        try export(Self.headset(subject: "S00"), machine: 2)
        let before = files()
        for target in 0..<5 {
            var exporter = try Self.headset().exporter()
            var count = 0
            exporter.afterWriting = { path in
                defer { count += 1 }
                guard count == target else { return }
                let file = open(path, O_RDWR)
                defer { close(file) }
                var byte: UInt8 = 0
                pread(file, &byte, 1, 600)
                byte ^= 0x02
                pwrite(file, &byte, 1, 600)
            }
            #expect(throws: ExportError.self) {
                try exporter.export(ExportRequest(format: .bids, path: dataset))
            }
            #expect(files() == before)
        }
    }

    @Test("What a kill has left is removed, and a publication that a kill has interrupted is completed") func recovery() throws
    {
        try export(Self.headset())
        let abandoned = dataset + "/.eegsync-export-abcdef"
        let interrupted = dataset + "/.eegsync-export-ghijkl"
        for path in [abandoned, interrupted] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try Data("samples".utf8).write(to: URL(fileURLWithPath: path + "/1_eeg.edf"))
        }
        let list = "1_eeg.edf\tsub-S07/eeg/sub-S07_eeg.edf\n2_gone\tsub-S07/gone\n\tREADME.md\n1_eeg.edf\t../outside\n"
        try Data(list.utf8).write(to: URL(fileURLWithPath: interrupted + "/publication.tsv"))
        try export(Self.headset(subject: "S02"), machine: 3)
        #expect(!files().contains { $0.hasPrefix(".") })
        #expect(contents(of: dataset + "/sub-S07/eeg/sub-S07_eeg.edf") == Array("samples".utf8))
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/outside"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: dataset).allSatisfy { !$0.hasPrefix(".") })
    }

    @Test("Many exports at once lose no row") func atOnce() async throws {
        let dataset = dataset
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    _ = try Self.headset(subject: "S\(index / 2)").exporter(machine: index).export(
                        ExportRequest(format: .bids, path: dataset))
                }
            }
            try await group.waitForAll()
        }
        #expect(try Set(table("participants.tsv").rows.map { $0[0] }) == ["sub-S0", "sub-S1", "sub-S2", "sub-S3"])
        for subject in 0..<4 {
            let scans = try table("sub-S\(subject)/sub-S\(subject)_scans.tsv")
            #expect(scans.rows.count == 6)
            #expect(Set(scans.rows.map { $0[0] }).count == 6)
        }
    }

    @Test("EEG of another sampling frequency is a run of its own; banks of one are channels of one file") func division() throws
    {
        let fixture = RecordingFixture(
            streams: [
                .init(description: RecordingFixture.description(), range: 0...511),
                .init(
                    description: RecordingFixture.description("extra", channels: [RecordingFixture.channel("TP9")]),
                    range: 0...511),
                .init(description: RecordingFixture.description("exg", frequency: 250), range: 0...499, delay: 3_000_000_000),
                .init(
                    description: RecordingFixture.description(
                        "status", frequency: 1, channels: [RecordingFixture.channel("battery", type: "MISC", unit: "n/a")]),
                    range: 0...1),
            ], task: "rest")
        try export(fixture)
        let beginning = "sub-S01/eeg/sub-S01_task-rest_run-0"
        let first = try table(beginning + "1_channels.tsv")
        #expect(first.rows.map { $0[0] } == ["TP9", "AF7", "TP9-2"])
        let second = try table(beginning + "2_channels.tsv")
        #expect(second.rows.map { $0[0] } == ["TP9", "AF7"])
        #expect(second.rows.map { second.cell($0, "sampling_frequency") } == ["250", "250"])
        #expect(files().contains(beginning + "1_recording-status_physio.tsv.gz"))
        #expect(!files().contains { $0.contains("_run-02_recording") })
    }

    @Test("A run that a person has named is taken, and refused where another recording has it") func namedRun() throws {
        func export(machine: Int) throws {
            let boot = HostBoot(uuid: "11111111-1111-4111-8111-11111111111\(machine)")
            let store = try AcquisitionStore.inMemory(hostBoot: boot)
            let recording = try Self.headset().record(into: store)
            _ = try store.control.edit(
                recording, [(.run, "run 7"), (.session, "day/2")], at: MonotonicTime(nanoseconds: 200_000_000_000))
            _ = try Exporter(store: store, recording: recording).export(ExportRequest(format: .bids, path: dataset))
        }
        try export(machine: 1)
        let before = files()
        #expect(before.contains("sub-S01/ses-day2/eeg/sub-S01_ses-day2_task-rest_run-07_eeg.edf"))
        #expect(throws: ExportError.self) { try export(machine: 2) }
        #expect(files() == before)
    }

    @Test("Positions are those of the 10-20 system on a sphere") func positions() throws {
        let cz = try #require(ElectrodePosition("Cz"))
        #expect(abs(cz.z - ElectrodePosition.radius) < 1e-12 && abs(cz.x) < 1e-12 && abs(cz.y) < 1e-12)
        for name in ["Fp1", "F3", "T7", "TP9", "PO4", "Oz"] {
            let point = try #require(ElectrodePosition(name))
            let radius = (point.x * point.x + point.y * point.y + point.z * point.z).squareRoot()
            #expect(abs(radius - ElectrodePosition.radius) < 1e-9)
        }
        #expect(ElectrodePosition("T3") == ElectrodePosition("T7"))
        #expect(try #require(ElectrodePosition("F3")).x == -(try #require(ElectrodePosition("F4")).x))
        #expect(ElectrodePosition("ch1") == nil)
    }
}
