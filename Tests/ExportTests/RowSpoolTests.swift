import Glibc
import Headsets
import Storage
import Testing

@testable import Export

@Suite struct RowSpoolTests {
    let directory: TemporaryDirectory
    /// Gaps, single rows, and values that are NULL.
    let fixture = RecordingFixture(streams: [
        .init(
            description: RecordingFixture.description(
                channels: ["Fp1", "Fp2", "Cz"].map { RecordingFixture.channel($0, raw: -8_388_608...8_388_607) }),
            range: 5...1200, absent: [40...40, 42...299, 640...703], nulls: [(1, 5...20), (3, 300...310), (2, 1200...1200)],
            value: { 2_000_000 + RecordingFixture.value($0, $1) })
    ])

    /// Kept open: its rows are in memory.
    let store: AcquisitionStore
    let reader: RecordingReader

    init() throws {
        directory = try TemporaryDirectory()
        store = try AcquisitionStore.inMemory(hostBoot: HostBoot(uuid: "11111111-1111-4111-8111-111111111111"))
        reader = try store.reader(of: try fixture.record(into: store))
    }

    private var path: String { directory.path + "/a.edf" }

    private func spool(rowsPerBlock: Int) throws -> RowSpool {
        let spool = try #require(RowSpool(beside: path, channelCount: 3, rowsPerBlock: rowsPerBlock))
        try reader.forEachChunk(of: StreamID(rawValue: 1), in: 0...5000, rowsPerChunk: rowsPerBlock) {
            #expect(spool.append($0))
        }
        return spool
    }

    private struct Rows: Hashable {
        var n: [Int64] = []
        var values: [Int32] = []
        var missing: [UInt8] = []

        mutating func add(_ chunk: borrowing SampleChunk) {
            n += chunk.n
            values += chunk.values
            missing += chunk.missingChannels
        }
    }

    @Test("Any range of rows reads as it does from the database, whatever the order and the size of the blocks")
    func ranges() throws {
        let bounds: [Int64] = [0, 4, 5, 6, 39, 40, 41, 42, 150, 299, 300, 511, 640, 700, 704, 1199, 1200, 1201, 4000]
        for rowsPerBlock in [1, 7, 64, 16_384] {
            let spool = try spool(rowsPerBlock: rowsPerBlock)
            for high in bounds.reversed() {
                for low in bounds where low <= high {
                    var (expected, found) = (Rows(), Rows())
                    try reader.forEachChunk(of: StreamID(rawValue: 1), in: low...high, rowsPerChunk: 100) { expected.add($0) }
                    try spool.forEachChunk(in: low...high) { found.add($0) }
                    #expect(found == expected, "\(low)...\(high) in blocks of \(rowsPerBlock)")
                }
            }
        }
    }

    @Test("A file is the same, byte for byte, whether its rows come from a spool or from the database")
    func sameFile() throws {
        let stream = reader.contents.streams[0]
        let survey = try RowSurvey(of: stream, in: 5...1200, from: reader, beside: path) { _ in }
        #expect(survey.runs == [5...39, 41...41, 300...639, 704...1200])
        #expect(survey.extremes.allSatisfy { $0.map { (1_997_000...2_003_000).contains($0.lowerBound) } == true })
        let timeline = try FileTimeline(parts: [(stream, 5...1200)])
        let mapping = EDFDigitalMapping(raw: try #require(survey.extremes[0]), variant: .edf)
        let plan = EDFWriter.Plan(
            contents: reader.contents, variant: .edf, isContinuous: true, timeline: timeline,
            mappings: [[mapping, mapping, mapping]], annotations: [])
        let files = try [RowSource.database(reader), .spool(try #require(survey.spool))].enumerated().map { index, rows in
            let file = try PartialFile(path: "\(path)\(index)", replacesExisting: false)
            var writer = EDFWriter(plan: plan, reader: reader, rows: [rows])
            _ = try writer.write(to: file) { _ in }
            return contents(of: file.temporaryPath)
        }
        #expect(files[0].count > 7000)
        #expect(files[0] == files[1])
    }

    @Test("It has no name: nothing is left, however the process ends")
    func unnamed() throws {
        let spool = try spool(rowsPerBlock: 64)
        #expect(directory.names.isEmpty)
        withExtendedLifetime(spool) {}
    }

    @Test("Where there is no room for it, or no place, the rows come from the database")
    func withoutRoom() throws {
        let full = try #require(RowSpool(beside: path, channelCount: 3, rowsPerBlock: 64))
        // The kernel's own full device.
        full.replaceDescriptor { _ in open("/dev/full", O_RDWR) }
        var isKept: [Bool] = []
        try reader.forEachChunk(of: StreamID(rawValue: 1), in: 0...5000, rowsPerChunk: 64) { isKept.append(full.append($0)) }
        #expect(isKept.count > 10 && isKept.allSatisfy { !$0 })
        let nowhere = try RowSurvey(
            of: reader.contents.streams[0], in: 5...1200, from: reader, beside: directory.path + "/none/a.edf"
        ) { _ in }
        #expect(nowhere.spool == nil)
        #expect(nowhere.runs.count == 4)
    }

    @Test("Where the copy leaves no room for the file, it gives way")
    func givesWay() throws {
        var exporter = try Exporter(store: store, recording: RecordingID(rawValue: 1))
        var (attempts, fractions) = (0, [Double]())
        exporter.afterWriting = { path in
            attempts += 1
            if attempts == 1 { throw ExportError.diskFull(path: path) }
        }
        let report = try exporter.export(ExportRequest(format: .edf, path: path)) { fractions.append($0) }
        #expect(attempts == 2)
        #expect(report.files.map(\.path) == [path])
        #expect(directory.names == ["a.edf", "a.edf.json"])
        #expect(fractions == fractions.sorted())
        exporter.afterWriting = { throw ExportError.diskFull(path: $0) }
        #expect(throws: ExportError.self) { try exporter.export(ExportRequest(format: .edf, path: path + "2")) }
        #expect(directory.names == ["a.edf", "a.edf.json"])
    }

    @Test("A byte that the disk changes is found, wherever it is")
    func plantedDefect() throws {
        var size = 0
        try spool(rowsPerBlock: 64).replaceDescriptor { descriptor in
            size = lseek(descriptor, 0, SEEK_END)
            return descriptor
        }
        #expect(size > 800 * (8 + 3 * 4 + 1))
        for offset in stride(from: 0, to: size, by: 97) {
            let spool = try spool(rowsPerBlock: 64)
            spool.replaceDescriptor { descriptor in
                var byte: UInt8 = 0
                pread(descriptor, &byte, 1, offset)
                byte ^= 0x04
                pwrite(descriptor, &byte, 1, offset)
                return descriptor
            }
            #expect(throws: ExportError.self, "offset \(offset)") { try spool.forEachChunk(in: 0...5000) { _ in } }
        }
    }
}
