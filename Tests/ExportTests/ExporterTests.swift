import Bluetooth
import Glibc
import Headsets
import Storage
import Testing

@testable import Export

@Suite struct ExporterTests {
    let directory: TemporaryDirectory
    let fixture = RecordingFixture(streams: [
        .init(description: RecordingFixture.description(), range: 0...2559, absent: [600...700])
    ])

    init() throws { directory = try TemporaryDirectory() }

    private func request(_ format: ExportFormat, _ name: String = "a", replaces: Bool = false) -> ExportRequest {
        ExportRequest(format: format, path: directory.path + "/" + name, replacesExisting: replaces)
    }

    @Test("Every format is known by its name alone, and says something about itself")
    func registry() {
        for format in ExportFormat.allCases {
            #expect(ExportFormat(rawValue: format.rawValue) == format)
            #expect(!format.summary.isEmpty)
        }
        #expect(Set(ExportFormat.allCases).count == ExportFormat.allCases.count)
        #expect(ExportFormat(rawValue: "xls") == nil)
    }

    @Test(
        "An existing file is left untouched unless it is to be replaced",
        arguments: ExportFormat.allCases.filter { !$0.isDirectory })
    func existing(format: ExportFormat) throws {
        let path = directory.path + "/a"
        let file = try #require(fopen(path, "w"))
        fputs("precious", file)
        fclose(file)
        #expect(throws: ExportError.exists(path: path)) { try fixture.exporter().export(request(format)) }
        #expect(contents(of: path) == Array("precious".utf8))
        #expect(directory.names == ["a"])
        _ = try fixture.exporter().export(request(format, replaces: true))
        #expect(directory.names.reduce(0) { $0 + contents(of: directory.path + "/" + $1).count } > 10_000)
    }

    @Test(
        "A byte that changes on the disk is found, in whichever file and wherever it is, and no file is left",
        arguments: ExportFormat.allCases.filter { !$0.isWholeRecording && !$0.isDirectory })
    func plantedDefects(format: ExportFormat) throws {
        var base = try fixture.exporter()
        var sizes: [Int] = []
        base.afterWriting = { sizes.append(contents(of: $0).count) }
        _ = try base.export(request(format, "good"))
        let names = directory.names
        for (index, size) in sizes.enumerated() {
            for offset in stride(from: 3, to: size - 1, by: max(1, size / 40)) {
                var exporter = base
                var count = 0
                exporter.afterWriting = { path in
                    defer { count += 1 }
                    guard count == index else { return }
                    let file = open(path, O_RDWR)
                    defer { close(file) }
                    var byte: UInt8 = 0
                    pread(file, &byte, 1, offset)
                    byte ^= 0x02
                    pwrite(file, &byte, 1, offset)
                }
                do {
                    _ = try exporter.export(request(format, "bad"))
                    Issue.record("offset \(offset) of file \(index) was not found")
                    for name in directory.names where !names.contains(name) { unlink(directory.path + "/" + name) }
                } catch let error as ExportError {
                    guard case .verificationFailed = error else {
                        Issue.record("\(error)")
                        continue
                    }
                }
                #expect(directory.names == names)
            }
        }
    }

    @Test("A database whose content is not the recording's is found")
    func plantedDatabaseDefect() throws {
        var exporter = try fixture.exporter()
        exporter.afterWriting = { path in
            let copy = try ControlStore(path: path, hostBoot: HostBoot(uuid: "11111111-1111-4111-8111-111111111111"))
            let onset = MonotonicTime(nanoseconds: 100_000_000_000)
            try copy.mark(RecordingID(rawValue: 1), text: "planted", durationSeconds: nil, at: onset)
            try copy.close()
        }
        #expect(
            throws: ExportError.verificationFailed(path: directory.path + "/a", detail: "what it says of the recording differs")
        ) {
            try exporter.export(request(.sqlite))
        }
        #expect(!directory.names.contains("a"))
    }

    @Test("An exported database is one file that reads as the recording")
    func database() throws {
        let boot = HostBoot(uuid: "11111111-1111-4111-8111-111111111111")
        let source = try TemporaryDirectory()
        let store = try AcquisitionStore(path: source.path + "/eegsync.sqlite", hostBoot: boot)
        let exporter = try Exporter(store: store, recording: try fixture.record(into: store))
        let report = try exporter.export(request(.sqlite))
        #expect(directory.names == ["a"])
        #expect(report.files[0].streams[0].rowCount == 2459)
        let copy = try ReadOnlyStore(path: directory.path + "/a", hostBoot: boot)
        #expect(try copy.reader(of: RecordingID(rawValue: 1)).contents == exporter.contents)
        // The copy exports to the same bytes as the original.
        _ = try exporter.export(request(.edf, "original.edf"))
        _ = try Exporter(store: copy, recording: RecordingID(rawValue: 1)).export(request(.edf, "copy.edf"))
        #expect(contents(of: directory.path + "/original.edf") == contents(of: directory.path + "/copy.edf"))
    }

    @Test("A shortened file is found")
    func shortened() throws {
        for format in ExportFormat.allCases {
            var exporter = try fixture.exporter()
            exporter.afterWriting = { truncate($0, 9000) }
            #expect(throws: ExportError.self) { try exporter.export(request(format)) }
            #expect(directory.names.isEmpty)
        }
    }

    @Test("A recording without samples, and a stream that is not there, are refused before a file is made")
    func refused() throws {
        let empty = RecordingFixture(streams: [
            .init(description: RecordingFixture.description(), range: 0...9, absent: [0...9])
        ])
        #expect(throws: ExportError.emptyRecording(RecordingID(rawValue: 1))) {
            try empty.exporter().export(request(.edf))
        }
        var unknown = request(.edf)
        unknown.selection.streams = ["ppg"]
        #expect(throws: ExportError.unknownStream(name: "ppg", available: ["eeg"])) {
            try fixture.exporter().export(unknown)
        }
        #expect(directory.names.isEmpty)
    }

    @Test("A directory that is not there is said, not created")
    func missingDirectory() throws {
        do {
            _ = try fixture.exporter().export(request(.edf, "none/a.edf"))
            Issue.record("It was written.")
        } catch let error as ExportError {
            #expect(error == .cannotWrite(path: directory.path + "/none/a.edf", reason: "No such file or directory"))
            #expect(error.disposition == .waitForOperator)
            #expect(error.description.contains("Check the directory"))
        }
    }

    @Test("A full disk is told as such")
    func fullDisk() throws {
        // The kernel's own full device.
        let file = try PartialFile(path: directory.path + "/a", replacesExisting: false)
        let full = open("/dev/full", O_WRONLY)
        try #require(full >= 0)
        file.replaceDescriptor(full)
        #expect(throws: ExportError.diskFull(path: directory.path + "/a")) { try file.write([1]) }
    }

    @Test("Progress never falls and ends at 1")
    func progress() throws {
        let python = ParquetExportTests.python
        for format in ExportFormat.allCases where format != .parquet || python != nil {
            var fractions: [Double] = []
            var request = request(format, "p." + format.rawValue)
            request.python = python ?? request.python
            _ = try fixture.exporter().export(request) { fractions.append($0) }
            #expect(fractions == fractions.sorted())
            #expect(fractions.last == 1)
        }
    }

    @Test("Suffixes go before the extension")
    func suffixes() {
        #expect(PartialFile.path("/a.b/c.edf", suffix: "_run-01") == "/a.b/c_run-01.edf")
        #expect(PartialFile.path("/a.b/c", suffix: "_x") == "/a.b/c_x")
        #expect(CSVExport.sidecarPath("/a.b/c.csv") == "/a.b/c.json")
        #expect(CSVExport.sidecarPath("c") == "c.json")
    }
}
