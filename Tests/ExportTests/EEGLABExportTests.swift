import Headsets
import Storage
import Testing

@testable import Export

@Suite struct EEGLABExportTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func export(_ fixture: RecordingFixture, gaps: GapTreatment? = nil) throws -> ExportReport {
        try fixture.exporter().export(ExportRequest(format: .set, path: directory.path + "/a.set", gaps: gaps))
    }

    private var values: [Float] {
        let bytes = contents(of: directory.path + "/a.fdt")
        return stride(from: 0, to: bytes.count, by: 4).map { start in
            Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[start + $1]) << (8 * UInt32($1)) })
        }
    }

    @Test("The values are physical, the missing rows left out, the files name each other")
    func small() throws {
        let report = try export(
            RecordingFixture(streams: [
                .init(
                    description: RecordingFixture.description(frequency: 4), range: 0...4, absent: [1...2], nulls: [(2, 3...3)])
            ]))
        #expect(directory.names == ["a.fdt", "a.set", "a.set.json"])
        let scale: Float = 0.2197265625
        #expect(values == [-2000, -1899, -1889, -1899, -1852, -1751].map { $0 * scale })
        #expect(report.files[0].streams.map(\.rowCount) == [3])
        #expect(report.files[0].streams.map(\.filledCount) == [0])
        #expect(report.notes.isEmpty)
    }

    @Test("Volts are written as microvolts, which EEGLAB takes all values for")
    func units() throws {
        let channels = [RecordingFixture.channel("Cz", unit: "V", scale: 1e-6), RecordingFixture.channel("Oz", unit: "mV")]
        _ = try export(
            RecordingFixture(streams: [
                .init(
                    description: RecordingFixture.description(channels: channels), range: 0...0,
                    value: { _, channel in channel == 0 ? 250 : 1 })
            ]))
        #expect(values == [250, 219.7265625])
    }

    @Test("Counts of 24 bits that 32 bits of a value cannot tell apart are said to be inexact")
    func inexact() throws {
        let channels = [RecordingFixture.channel("E1", scale: 0.0223517, offset: 1e6, raw: -8_388_608...8_388_607)]
        let report = try export(
            RecordingFixture(streams: [
                .init(
                    description: RecordingFixture.description(channels: channels), range: 0...999,
                    value: { n, _ in 8_000_000 + Int32(n) })
            ]))
        #expect(report.notes.count == 1)
        #expect(report.notes[0].hasPrefix("Stream eeg: "))
    }

    @Test("A MAT-file is as its specification lays it out")
    func matFile() {
        let bytes = MATValue.file("x", .structure([("a", .number(1.5)), ("b", .text("hi"))]), text: "test")
        #expect(bytes.prefix(25) == Array("MATLAB 5.0 MAT-file, test".utf8)[...])
        #expect(bytes[124..<128] == [0, 1, 0x49, 0x4D])
        func words(_ values: UInt32...) -> [UInt8] {
            values.flatMap { v in (0..<4).map { UInt8(truncatingIfNeeded: v >> (8 * $0)) } }
        }
        // An array of doubles: flags, dimensions 1 x 1, no name, one number.
        let number =
            words(14, 56, 6, 8, 6, 0, 5, 8, 1, 1, 1, 0, 9, 8) + (0..<8).map { UInt8((1.5).bitPattern >> (8 * $0) & 0xFF) }
        // Characters: two units of 16 bits in the tag.
        let text = words(14, 48, 6, 8, 4, 0, 5, 8, 1, 2, 1, 0, 4 << 16 | 4) + [0x68, 0, 0x69, 0]
        let names = (Array("a".utf8) + [UInt8](repeating: 0, count: 31)) + (Array("b".utf8) + [UInt8](repeating: 0, count: 31))
        let fields = words(4 << 16 | 5, 32, 1, 64) + names
        let head = words(6, 8, 2, 0, 5, 8, 1, 1, 1 << 16 | 1) + [0x78, 0, 0, 0]
        let content = head + fields + number + text
        #expect(Array(bytes[128...]) == words(14, UInt32(content.count)) + content)
    }

    @Test("An array of structures has a value for each field of each; without any it is empty")
    func arrays() {
        let two = MATValue.structures(fields: ["t"], [[.number(1)], [.number(2)]])
        let one = MATValue.structures(fields: ["t"], [[.number(1)]])
        #expect(MATValue.file("x", two, text: "").count == MATValue.file("x", one, text: "").count + 64)
        #expect(MATValue.file("x", .empty, text: "")[160...].prefix(8) == [0, 0, 0, 0, 0, 0, 0, 0])
    }
}
