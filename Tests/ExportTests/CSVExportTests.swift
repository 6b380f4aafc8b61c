import Headsets
import Storage
import Testing

@testable import Export

@Suite struct CSVExportTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func lines(_ name: String) -> [String] {
        String(decoding: contents(of: directory.path + "/" + name), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test("Every n has a row; missing rows and NULLs have empty cells")
    func rows() throws {
        let fixture = RecordingFixture(streams: [
            .init(
                description: RecordingFixture.description(frequency: 4), range: 7...12, absent: [9...10], nulls: [(1, 8...8)])
        ])
        let report = try fixture.exporter().export(
            ExportRequest(format: .csv, path: directory.path + "/a.csv", values: .raw))
        #expect(
            lines("a.csv") == [
                "n,time,TP9,AF7",
                "7,2026-03-01T10:00:00.250000Z,-1741,-1640",
                "8,2026-03-01T10:00:00.500000Z,,-1603",
                "9,2026-03-01T10:00:00.750000Z,,",
                "10,2026-03-01T10:00:01.000000Z,,",
                "11,2026-03-01T10:00:01.250000Z,-1593,-1492",
                "12,2026-03-01T10:00:01.500000Z,-1556,-1455",
            ])
        #expect(report.files[0].streams[0].rowCount == 4)
        #expect(report.files[0].streams[0].filledCount == 2)
        let sidecar = lines("a.json").joined()
        #expect(sidecar.contains("\"cause\" : \"linkLost\""))
        #expect(sidecar.contains("\"values\" : \"raw\""))
    }

    @Test("A channel never has the name of another column")
    func columns() throws {
        let channels = ["n", "time", "TP9", "TP9", "TP9"].map { RecordingFixture.channel($0) }
        let fixture = RecordingFixture(streams: [
            .init(description: RecordingFixture.description(channels: channels), range: 0...9)
        ])
        _ = try fixture.exporter().export(ExportRequest(format: .csv, path: directory.path + "/a.csv"))
        #expect(lines("a.csv").first == "n,time,n_2,time_2,TP9,TP9_2,TP9_3")
    }

    @Test(
        "Physical values give back the raw counts, whatever scale and offset",
        arguments: [
            (0.2197265625, 0.0, -2048, 2047), (0.48828125, -1000.0, 0, 4095),
            (4.5 / 24 / 8_388_607, 0.0, -8_388_608, 8_388_607), (-0.001, 3.3, -32_768, 32_767), (2.0, 1.0, -5, 5),
            (1e-9, 0.0, -2_147_483_648, 2_147_483_647), (1.0 / 3, 1.0 / 7, -100, 100),
        ] as [(Double, Double, Int32, Int32)])
    func roundTrip(scale: Double, offset: Double, low: Int32, high: Int32) throws {
        let channel = RecordingFixture.channel("C", scale: scale, offset: offset, raw: low...high)
        let number = try CSVNumber(channel: channel)
        let path = directory.path + "/a"
        let file = try PartialFile(path: path, replacesExisting: false)
        let text = CSVBuffer(file: file)
        let raws = [low, high, 0, low + 1, high - 1, low / 3, high / 7].filter { (low...high).contains($0) }
        for raw in raws {
            number.append(raw, to: text)
            try text.endRow()
        }
        try text.flush()
        try file.publish(replacesExisting: false)
        for (raw, line) in zip(raws, lines("a")) {
            let value = try #require(Double(line))
            #expect(abs(value - (scale * Double(raw) + offset)) <= abs(scale) * 1e-6 + abs(value) * 1e-15)
            let digits = line.filter(\.isNumber)
            let decimals = line.contains(".") ? line.split(separator: ".")[1].count : 0
            let mantissa = try #require(Int64(digits)) * (line.hasPrefix("-") ? -1 : 1)
            #expect(number.raw(mantissa: mantissa, decimals: decimals) == Int64(raw))
        }
    }

    @Test("A scale whose counts 18 digits cannot tell apart is refused with advice")
    func refused() {
        let channel = RecordingFixture.channel("C", scale: 1e-12, offset: 1e6)
        #expect(throws: ExportError.self) { try CSVNumber(channel: channel) }
    }

    @Test("Several streams are several tables; names with commas are quoted")
    func severalStreams() throws {
        let fixture = RecordingFixture(streams: [
            .init(description: RecordingFixture.description(), range: 0...10),
            .init(
                description: RecordingFixture.description(
                    "ppg", frequency: 64, channels: [RecordingFixture.channel("red, left", type: "PPG")]),
                range: 5...9),
        ])
        let report = try fixture.exporter().export(ExportRequest(format: .csv, path: directory.path + "/a.csv"))
        #expect(report.files.count == 2)
        #expect(directory.names == ["a_eeg.csv", "a_eeg.json", "a_ppg.csv", "a_ppg.json"])
        #expect(lines("a_ppg.csv")[0] == "n,time,\"red, left\"")
    }
}
