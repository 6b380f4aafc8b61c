import Bluetooth
import Storage
import Testing

@testable import Export

/// Other programs may say that something lasted for ever.
@Suite struct AnnotationDurationTests {
    private let directory: TemporaryDirectory
    private let exporter: Exporter

    private static let durations = [Double.infinity, 1e300, 1e13]

    init() throws {
        directory = try TemporaryDirectory()
        let store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "11111111-1111-4111-8111-111111111111"))
        let fixture = RecordingFixture(streams: [.init(description: RecordingFixture.description(), range: 0...511)])
        let recording = try fixture.record(into: store)
        var batch = WriteBatch(number: 2)
        batch.changes = Self.durations.map { seconds in
            Change.annotation(
                AnnotationRecord(
                    recording: recording, onset: MonotonicTime(nanoseconds: 100_500_000_000), durationSeconds: seconds,
                    description: "lasts \(seconds)", source: "operator"))
        }
        try store.commit(batch)
        exporter = try Exporter(store: store, recording: recording)
    }

    @Test("An EDF+ file says a year of it, its sidecar too")
    func edf() throws {
        let path = directory.path + "/a.edf"
        _ = try exporter.export(ExportRequest(format: .edf, path: path))
        let found = try EDFReader(path: path).annotations().filter { $0.text.hasPrefix("lasts") }
        #expect(found.map(\.durationMicroseconds) == [Int64?](repeating: 31_536_000_000_000, count: 3))
    }

    @Test("Events of a dataset say a year of it, whoever says how long it lasted")
    func events() throws {
        let stream = try #require(exporter.contents.streams.first)
        var events = BIDSEvents(timeline: try FileTimeline(parts: [(stream: stream, range: 0...511)]))
        var annotations = exporter.contents.annotations
        #expect(annotations.count == 3)
        events.addMarks(annotations)
        for (index, seconds) in Self.durations.enumerated() { annotations[index].durationSeconds = seconds }
        events.addMarks(annotations)
        let table = events.table
        #expect(table.rows.count == 6)
        #expect(table.rows.allSatisfy { table.cell($0, "duration") == "31536000" })
    }
}
