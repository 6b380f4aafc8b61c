import Foundation
import Glibc
import Storage
import Testing

@testable import Export

/// With a Python that has pyarrow, which EEGSYNC_PYTHON names; what the files hold is shown in Tests/Readers.
@Suite struct ParquetExportTests {
    let directory: TemporaryDirectory
    let fixture = RecordingFixture(streams: [
        .init(
            description: RecordingFixture.description(), range: 0...2559, absent: [600...700], nulls: [(2, 300...310)])
    ])

    /// The Python of the tests; nil where none is named.
    static let python = ProcessInfo.processInfo.environment["EEGSYNC_PYTHON"]

    init() throws { directory = try TemporaryDirectory() }

    private func request(_ python: String, replaces: Bool = false) -> ExportRequest {
        ExportRequest(format: .parquet, path: directory.path + "/study", python: python, replacesExisting: replaces)
    }

    private var files: [String] {
        let all = FileManager.default.enumerator(atPath: directory.path + "/study")
        return (all?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".parquet") || $0.hasSuffix(".json") }.sorted()
    }

    private func tidy() { try? FileManager.default.removeItem(atPath: directory.path + "/study") }

    @Test("Without Python, or without what it needs, the message says what to install, and nothing is left")
    func missing() throws {
        // `false` is a program that fails whatever it is asked.
        for python in ["/nonexistent/python3", "false"] {
            do {
                _ = try fixture.exporter().export(request(python))
                Issue.record("\(python) wrote something")
            } catch ExportError.toolMissing(let name, _, let advice) {
                #expect(name.contains(python))
                #expect(advice.contains("pip install pyarrow numpy"))
            }
            #expect(directory.names.isEmpty)
        }
    }

    @Test(
        "A recording is there once, is left alone without --force, and is replaced as a whole with it",
        .enabled(if: python != nil))
    func again() throws {
        defer { tidy() }
        let python = try #require(Self.python)
        let exporter = try fixture.exporter()
        let report = try exporter.export(request(python))
        #expect(report.files[0].streams.map(\.rowCount) == [2459])
        let names = files
        #expect(names.count == 2)
        #expect(names.allSatisfy { $0.hasPrefix("stream=eeg/recording=") })
        #expect(names.contains { $0.hasSuffix("/day=2026-03-01/part-0.parquet") })
        #expect(throws: ExportError.exists(path: report.files[0].path)) { try exporter.export(request(python)) }
        // An earlier export's day that the new one has not goes.
        mkdir(report.files[0].path + "/day=2026-02-01", 0o755)
        _ = FileManager.default.createFile(atPath: report.files[0].path + "/day=2026-02-01/part-0.parquet", contents: Data())
        _ = try exporter.export(request(python, replaces: true))
        #expect(files == names)
    }

    @Test("A row that changes on the disk is found, and nothing is left of the export", .enabled(if: python != nil))
    func plantedDefects() throws {
        defer { tidy() }
        let python = try #require(Self.python)
        var size = 0
        var exporter = try fixture.exporter()
        exporter.afterWriting = { size = contents(of: $0).count }
        _ = try exporter.export(request(python))
        tidy()
        for offset in stride(from: 3, to: size, by: size / 12) {
            var found = false
            exporter.afterWriting = { path in
                let file = open(path, O_RDWR)
                defer { close(file) }
                var bytes = [UInt8](repeating: 0, count: 16)
                pread(file, &bytes, 16, off_t(offset))
                bytes = bytes.map { ~$0 }
                pwrite(file, &bytes, min(16, size - offset), off_t(offset))
            }
            do { _ = try exporter.export(request(python)) } catch is ExportError { found = true }
            // What lies in a part that no reader of rows looks at changes no row.
            if found {
                #expect(directory.names.isEmpty, "offset \(offset)")
            } else {
                #expect(try isSound(python), "offset \(offset)")
            }
            tidy()
        }
    }

    /// Whether the exported rows are those of the recording, all the same.
    private func isSound(_ python: String) throws -> Bool {
        let stream = try fixture.exporter().contents.streams[0]
        let joined = try JoinedStream.join([StreamPart(stream: stream, range: 0...2559)])[0]
        let rows = ParquetStream(stream: joined, values: .physical, program: try ArrowProgram(python: python), texts: [:])
        let path = try #require(files.first { $0.hasSuffix(".parquet") })
        let changed = try rows.digest(of: [directory.path + "/study/" + path]) { _ in }
        let staging = try TemporaryDirectory()
        let written = try rows.write(to: staging.path, prefix: "x", reader: try fixture.reader()) { _ in }
        return changed == written.digest
    }

    @Test("A channel never has the name of another column, whatever capitals it has")
    func channelNames() throws {
        let channels = ["Time", "TP9", "tp9", "n"].map { RecordingFixture.channel($0) }
        let fixture = RecordingFixture(streams: [
            .init(description: RecordingFixture.description(channels: channels), range: 0...9)
        ])
        let stream = try fixture.exporter().contents.streams[0]
        let joined = try JoinedStream.join([StreamPart(stream: stream, range: 0...9)])[0]
        #expect(ParquetStream.columnNames(of: joined.channels) == ["Time_2", "TP9", "tp9_2", "n_2"])
        #expect(ParquetExport.partition("../e g") == "---e-g")
    }
}
