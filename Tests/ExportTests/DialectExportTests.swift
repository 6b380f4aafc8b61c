import Foundation
import Glibc
import Headsets
import Storage
import Testing

@testable import Export

@Suite struct DialectExportTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func lines(_ name: String) -> [String] {
        String(decoding: contents(of: directory.path + "/" + name), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func export(_ fixture: RecordingFixture, _ dialect: TableDialect, _ name: String = "a.csv") throws -> ExportReport {
        try fixture.exporter().export(ExportRequest(format: .csv, path: directory.path + "/" + name, dialect: dialect))
    }

    private func sidecar(_ name: String = "a.json") throws -> DialectSidecar {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(DialectSidecar.self, from: Data(contents(of: directory.path + "/" + name)))
    }

    /// A Muse whose EEG has three rows, the second one after a gap, and an accelerometer that begins later.
    private static var short: RecordingFixture {
        let profile = MuseProfile(variant: .withoutPPG).streams
        var fixture = RecordingFixture(
            streams: [
                .init(
                    description: profile[0], range: 0...255, absent: [1...253], nulls: [(2, 254...254)],
                    value: { n, channel in Int32(2048 + n - Int64(channel)) }),
                .init(
                    description: profile[1], range: 0...9, delay: 900_000_000,
                    value: { n, channel in Int32(16_384 * (n + 1)) + Int32(channel) }),
            ], model: "muse")
        fixture.annotations = [fixture.annotation("7", at: 0.5), fixture.annotation("look, there", at: 0.99)]
        return fixture
    }

    @Test("muselsl's table: a file for each stream, three decimals, a marker column where there are marks")
    func museLSL() throws {
        let report = try export(Self.short, .muselsl)
        #expect(directory.names == ["a.csv", "a.json", "a_accelerometer.csv", "a_accelerometer.json"])
        #expect(
            lines("a.csv") == [
                "timestamps,TP9,AF7,AF8,TP10,Right AUX,Marker0",
                "1772359200.250000,0.000,-0.488,-0.977,-1.465,0.000,0",
                "1772359201.242187,124.023,,123.047,122.559,0.000,7",
                "1772359201.246093,124.512,124.023,123.535,123.047,0.000,8",
            ])
        #expect(lines("a_accelerometer.csv")[0] == "timestamps,X,Y,Z,Marker0")
        #expect(lines("a_accelerometer.csv")[1].hasPrefix("1772359201.150000,1.000,1.000061,1.000122,7"))
        #expect(report.files[0].streams[0].rowCount == 3)
        let sidecar = try sidecar()
        #expect(sidecar.markers == ["7": 7, "look, there": 8])
        #expect(sidecar.streams[0].gaps.map(\.count) == [253, 1])
        #expect(sidecar.missingValueCount == 1)
        #expect(sidecar.columns[2].channel == "AF7")
    }

    @Test(
        "Mind Monitor's table: counts in its microvolts, annotations as rows, unknown cells empty, no cell behind the battery")
    func mindMonitor() throws {
        _ = try export(Self.short, .mindmonitor)
        let bands = String(repeating: ",", count: 21)
        let events = String(repeating: ",", count: 38)
        #expect(
            lines("a.csv") == [
                "TimeStamp,Delta_TP9,Delta_AF7,Delta_AF8,Delta_TP10,Theta_TP9,Theta_AF7,Theta_AF8,Theta_TP10,Alpha_TP9,"
                    + "Alpha_AF7,Alpha_AF8,Alpha_TP10,Beta_TP9,Beta_AF7,Beta_AF8,Beta_TP10,Gamma_TP9,"
                    + "Gamma_AF7,Gamma_AF8,Gamma_TP10,"
                    + "RAW_TP9,RAW_AF7,RAW_AF8,RAW_TP10,AUX_RIGHT,Accelerometer_X,Accelerometer_Y,Accelerometer_Z,"
                    + "Gyro_X,Gyro_Y,Gyro_Z,HeadBandOn,HSI_TP9,HSI_AF7,HSI_AF8,HSI_TP10,Battery,Elements",
                "2026-03-01 10:00:00.250\(events)/muse/event/connected anna",
                "2026-03-01 10:00:00.250\(bands)825.20147,824.79853,824.3956,823.99267,,,,,,,,,,,,,",
                "2026-03-01 10:00:00.750\(events)/Marker/7",
                "2026-03-01 10:00:01.240\(events)\"/Marker/look, there\"",
                "2026-03-01 10:00:01.242\(bands)927.54579,,926.73993,926.337,,5.0,5.00006104,5.00012207,,,,,,,,,",
                "2026-03-01 10:00:01.246\(bands)927.94872,927.54579,927.14286,926.73993,,5.0,5.00006104,5.00012207,,,,,,,,,",
            ])
    }

    @Test("BrainFlow's files: tabs, no header, the rows of the board, 0 before the first acceleration")
    func brainFlow() throws {
        let report = try export(Self.short, .brainflow)
        #expect(directory.names == ["a.csv", "a.json", "a_auxiliary.csv", "a_auxiliary.json"])
        let tab = "\t"
        #expect(
            lines("a.csv").map { $0.replacingOccurrences(of: tab, with: " ") } == [
                "0.000000 0.000000 -0.488281 -0.976563 -1.464844 1772359200.250000 0.000000",
                "21.000000 124.023438 nan 123.046875 122.558594 1772359201.242187 7.000000",
                "21.000000 124.511719 124.023438 123.535156 123.046875 1772359201.246093 8.000000",
            ])
        #expect(
            lines("a_auxiliary.csv")[0].replacingOccurrences(of: tab, with: " ")
                == "0.000000 1.000000 1.000061 1.000122 0.000000 0.000000 0.000000 1772359201.150000 7.000000")
        #expect(report.notes.contains { $0.contains("board 41, Muse2016") })
        #expect(try sidecar().layout == "BrainFlow board 41 (Muse2016), preset 0")
    }

    @Test("The OpenBCI GUI's file: four lines of header, names of columns, numbers with a point, the latest acceleration")
    func openBCI() throws {
        let profile = CytonProfile().streams
        let fixture = RecordingFixture(
            streams: [
                .init(
                    description: profile[0], range: 254...258, absent: [256...257], nulls: [(2, 255...255)],
                    value: { n, channel in Int32(n - 254) * 1000 + Int32(channel) }),
                .init(
                    description: profile[1], range: 0...1, delay: 4_000_000,
                    value: { n, channel in Int32(8000 + n) + Int32(channel) }),
            ], model: "cyton")
        let report = try export(fixture, .openbci, "a.txt")
        #expect(directory.names == ["a.json", "a.txt"])
        let file = lines("a.txt")
        #expect(
            file[..<4] == [
                "%OpenBCI Raw EXG Data", "%Number of channels = 8", "%Sample Rate = 250 Hz",
                "%Board = OpenBCI_GUI$BoardCytonSerial",
            ])
        #expect(
            file[4]
                == "Sample Index, EXG Channel 0, EXG Channel 1, EXG Channel 2, EXG Channel 3, EXG Channel 4, EXG Channel 5, "
                + "EXG Channel 6, EXG Channel 7, Accel Channel 0, Accel Channel 1, Accel Channel 2, Not Used, "
                + "Digital Channel 0 (D11), Digital Channel 1 (D12), Digital Channel 2 (D13), Digital Channel 3 (D17), "
                + "Not Used, Digital Channel 4 (D18), Analog Channel 0, Analog Channel 1, Analog Channel 2, "
                + "Timestamp, Marker Channel, "
                + "Timestamp (Formatted)")
        let rest = "192.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0"
        let first = file[5].split(separator: ", ").map(String.init)
        #expect(first[0] == "254.0" && first[1] == "0.0" && first[9...11] == ["0.0", "0.0", "0.0"])
        // The value that is missing is the one before, as BrainFlow leaves it.
        let second = file[6].split(separator: ", ").map(String.init)
        #expect(second[0] == "255.0" && second[2] == first[2] && second[1] != first[1])
        #expect(file[6].contains("1.0, 1.000125, 1.00025, " + rest))
        #expect(file[7].hasPrefix("2.0, "))
        #expect(file[7].hasSuffix("1.0, 1.000125, 1.00025, \(rest), 1772359200.266000, 0.0, 2026-03-01 10:00:00.266"))
        #expect(file.count == 8)
        #expect(report.notes.contains { $0.hasPrefix("1 missing values of single channels hold the value before") })
    }

    @Test("The sample index of a Ganglion has each number twice, and goes on over the sample that is never sent")
    func ganglionIndex() throws {
        _ = try export(DialectFixtures.ganglion, .openbci)
        let numbers = lines("a.csv").dropFirst(5).map { String($0.prefix { $0 != "," }) }
        #expect(numbers[..<5] == ["0.0", "0.0", "1.0", "1.0", "2.0"])
        #expect(numbers[198...202] == ["99.0", "99.0", "0.0", "0.0", "1.0"])
    }

    @Test("A Daisy's sample index has even numbers only, and 16 channels beside each other")
    func daisyIndex() throws {
        let daisy = try #require(DialectFixtures.all.first { $0.name == "daisy" })
        _ = try export(daisy.fixture, .brainflow)
        let rows = lines("a.csv").map { $0.split(separator: "\t").map(String.init) }
        #expect(rows[..<3].map { $0[0] } == ["0.000000", "2.000000", "4.000000"])
        #expect(rows.allSatisfy { $0.count == 32 })
        #expect(rows[384][9] == "nan" && rows[384][1] != "nan")
    }

    @Test(
        "A headset that the tool does not record is refused with what it records and what to do",
        arguments: [
            (TableDialect.openbci, "muse", "Cyton"), (.muselsl, "cyton", "Muses"), (.mindmonitor, "ganglion", "Muses"),
            (.brainflow, "buffered-eeg", "Cyton, Ganglion"),
        ] as [(TableDialect, String, String)])
    func refused(dialect: TableDialect, model: String, records: String) throws {
        let fixture = RecordingFixture(
            streams: [.init(description: RecordingFixture.description(), range: 0...9)], model: model)
        let error = #expect(throws: ExportError.self) { _ = try export(fixture, dialect) }
        guard case .notRepresentable(let what, let reason, let advice) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(what.contains(model) && reason.contains(records) && advice.contains("Leave --dialect out"))
        #expect(directory.names.isEmpty)
    }

    @Test("What was chosen and has no table, or changes its channels, is refused; a part of it is written")
    func chosen() throws {
        let fixture = DialectFixtures.muse(seconds: 4)
        var request = ExportRequest(
            format: .csv, path: directory.path + "/a.csv", selection: ExportSelection(streams: ["ppg"]), dialect: .mindmonitor)
        #expect(throws: ExportError.self) { try fixture.exporter().export(request) }
        request.selection = ExportSelection(from: .sample(10), to: .sample(12), streams: ["eeg"], channels: ["AF8"])
        request.dialect = .muselsl
        _ = try fixture.exporter().export(request)
        #expect(lines("a.csv").count == 3)
        #expect(lines("a.csv")[1].split(separator: ",")[1...2] == ["0.000", "0.000"])
        var other = CytonProfile().streams[0]
        (other.bank, other.samplingFrequency) = (1, 125)
        let twice = RecordingFixture(
            streams: DialectFixtures.streams([CytonProfile().streams[0], other], seconds: 1), model: "cyton")
        #expect(throws: ExportError.self) { try export(twice, .openbci, "b.csv") }
        #expect(directory.names == ["a.csv", "a.json"])
    }

    @Test("A byte that changes on the disk is found in every dialect, and no file is left", arguments: TableDialect.allCases)
    func plantedDefects(dialect: TableDialect) throws {
        let chosen = try #require(DialectFixtures.all.first { $0.dialects.contains(dialect) })
        var exporter = try chosen.fixture.exporter()
        let request = ExportRequest(format: .csv, path: directory.path + "/a.csv", dialect: dialect)
        for offset in [0, 3, 40, 700, 5000, 20_000, 60_001] {
            exporter.afterWriting = { path in
                let file = open(path, O_RDWR)
                defer { close(file) }
                var byte: UInt8 = 0
                try #require(pread(file, &byte, 1, offset) == 1)
                byte ^= 0x02
                pwrite(file, &byte, 1, offset)
            }
            let error = #expect(throws: ExportError.self) { try exporter.export(request) }
            if case .verificationFailed = error {} else { Issue.record("offset \(offset): \(String(describing: error))") }
            #expect(directory.names.isEmpty)
        }
    }

    @Test("Each headset's recording has its tables, and their rows are the rows of the database")
    func all() throws {
        for (name, fixture, dialects) in DialectFixtures.all {
            for dialect in dialects {
                let report = try export(fixture, dialect, "\(name)-\(dialect.rawValue).csv")
                let eeg = fixture.streams.first { $0.description.name == "eeg" && $0.description.bank == 0 }
                let rows = eeg.map { stream in stream.range.count { fixture.row(stream, $0) != nil } }
                #expect(report.files[0].streams[0].rowCount == rows.map(Int64.init), "\(name) \(dialect)")
            }
        }
    }
}
