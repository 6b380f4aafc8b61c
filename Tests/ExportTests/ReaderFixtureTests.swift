import FoundationEssentials
import Glibc
import Headsets
import Storage
import Testing

@testable import Export

/// Writes the files that Tests/Readers reads with MNE, pyEDFlib and edfio, and beside each what a reader must find in it.
///
/// They go into the directory that EEGSYNC_EXPORT_FIXTURES names; without it into a temporary one, which still checks the
/// writing.
@Suite struct ReaderFixtureTests {
    struct Expectation: Codable {
        struct Signal: Codable {
            var label: String
            var unit: String
            var samplingFrequency: Double
            /// Physical values of the first samples, missing ones filled.
            var values: [Double]
            /// A reader's values may differ by so much.
            var tolerance: Double
        }
        struct Mark: Codable {
            var onsetSeconds: Double
            var durationSeconds: Double?
            var text: String
        }
        var file: String
        /// `EDF+C` and so on.
        var kind: String
        var subject: String
        /// The header's, to the second.
        var start: String
        var startFractionSeconds: Double
        var durationSeconds: Double
        var signals: [Signal]
        /// From the first sample, by onset.
        var marks: [Mark]
    }

    @Test("Files for other programs' readers are written with what they must find")
    func write() throws {
        let temporary = try TemporaryDirectory()
        let path = getenv("EEGSYNC_EXPORT_FIXTURES").map { String(cString: $0) } ?? temporary.path
        mkdir(path, 0o755)
        var expectations: [Expectation] = []
        for (name, fixture) in Self.fixtures {
            for format in [ExportFormat.edf, .bdf] {
                for (gaps, isTogether) in GapTreatment.allCases.map({ ($0, false) }) + [(.fill, true)] {
                    let suffix = gaps.rawValue + (isTogether ? "-together" : "")
                    let request = ExportRequest(
                        format: format, path: "\(path)/\(name)-\(suffix).\(format.rawValue)", gaps: gaps,
                        isTogether: isTogether, replacesExisting: true)
                    let report = try fixture.exporter().export(request)
                    for file in report.files {
                        expectations.append(Self.expectation(file, fixture, gaps: gaps, format: format))
                    }
                }
            }
            let csv = ExportRequest(format: .csv, path: "\(path)/\(name).csv", replacesExisting: true)
            #expect(try fixture.exporter().export(csv).files.count == fixture.streams.count)
        }
        #expect(expectations.count > 12)
        try write(expectations, to: "\(path)/expectations.json")
    }

    @Test("Files of the other formats are written beside what each recording holds")
    func writeRecordings() throws {
        let temporary = try TemporaryDirectory()
        let path = getenv("EEGSYNC_EXPORT_FIXTURES").map { String(cString: $0) } ?? temporary.path
        mkdir(path, 0o755)
        let fixtures = Self.fixtures + RecordingExpectation.fixtures
        for (name, fixture) in fixtures {
            for format in [ExportFormat.xdf, .set, .brainvision] {
                for gaps in format.gapTreatments {
                    let request = ExportRequest(
                        format: format, path: "\(path)/\(name)-\(gaps.rawValue).\(format.ending)", gaps: gaps,
                        replacesExisting: true)
                    #expect(try !fixture.exporter().export(request).files.isEmpty)
                }
            }
        }
        try writeParquet(fixtures, to: path)
        try write(fixtures.map { RecordingExpectation($0, $1) }, to: "\(path)/recordings.json")
    }

    @Test(
        "What only the table of readers and formats needs is written",
        .enabled(if: getenv("EEGSYNC_EXPORT_FIXTURES") != nil))
    func writeTable() throws {
        let directory = try #require(getenv("EEGSYNC_EXPORT_FIXTURES").map { String(cString: $0) })
        let path = directory + "/table"
        try? FileManager.default.removeItem(atPath: path)
        mkdir(directory, 0o755)
        mkdir(path, 0o755)
        let fixtures = Self.fixtures + RecordingExpectation.fixtures
        for (index, (name, var fixture)) in fixtures.enumerated() where name != "unset" {
            // A dataset is ordered by subjects, and each recording is found by its own.
            fixture.subject = name
            let exporter = try fixture.exporter(machine: index + 1)
            var requests = [
                ExportRequest(format: .sqlite, path: "\(path)/\(name).sqlite"),
                ExportRequest(format: .bids, path: "\(path)/bids"),
            ]
            // The first ones are there already as EDF+, BDF+ and CSV.
            if index >= Self.fixtures.count {
                requests.append(ExportRequest(format: .csv, path: "\(path)/\(name).csv"))
                for format in [ExportFormat.edf, .bdf] {
                    for gaps in [GapTreatment.fill, .discontinuous] {
                        let file = "\(path)/\(name)-\(gaps.rawValue).\(format.rawValue)"
                        requests.append(ExportRequest(format: format, path: file, gaps: gaps))
                    }
                }
            }
            for request in requests { #expect(try !exporter.export(request).files.isEmpty) }
        }
    }

    /// All recordings in one directory, with the Python that EEGSYNC_PYTHON names.
    private func writeParquet(_ fixtures: [(String, RecordingFixture)], to path: String) throws {
        guard let python = ParquetExportTests.python else { return }
        for (index, (name, var fixture)) in fixtures.enumerated() {
            fixture.headset = "fixture-\(name)"
            for (values, folder) in [(TableValues.physical, "parquet"), (.raw, "parquet-raw")] {
                let request = ExportRequest(
                    format: .parquet, path: "\(path)/\(folder)", values: values, python: python, replacesExisting: true)
                #expect(try !fixture.exporter(machine: index + 1).export(request).files.isEmpty)
            }
        }
    }

    @Test("Tables of other tools' layouts are written beside what each recording holds")
    func writeDialects() throws {
        let temporary = try TemporaryDirectory()
        let path = getenv("EEGSYNC_EXPORT_FIXTURES").map { String(cString: $0) + "/dialects" } ?? temporary.path
        mkdir(path, 0o755)
        for (name, fixture, dialects) in DialectFixtures.all {
            for dialect in dialects {
                let request = ExportRequest(
                    format: .csv, path: "\(path)/\(name)-\(dialect.rawValue).csv", dialect: dialect, replacesExisting: true)
                #expect(try !fixture.exporter().export(request).files.isEmpty)
            }
        }
        try write(DialectFixtures.all.map { RecordingExpectation($0.name, $0.fixture) }, to: "\(path)/recordings.json")
    }

    private func write(_ document: some Encodable, to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let file = try #require(fopen(path, "w"))
        defer { fclose(file) }
        for byte in try encoder.encode(document) { fputc(Int32(byte), file) }
    }

    static var fixtures: [(String, RecordingFixture)] {
        let names = ["TP9", "AF7", "AF8", "TP10", "C3", "C4", "O1", "O2"]
        var plain = RecordingFixture(streams: [
            .init(
                description: RecordingFixture.description(channels: names.map { RecordingFixture.channel($0) }),
                range: 0...7679,
                absent: [1000...1255, 2000...2000, 3000...5600], nulls: [(3, 300...311), (3, 400...411), (8, 0...99)])
        ])
        plain.annotations = [
            plain.annotation("eyes closed µ", at: 2.5, duration: 10), plain.annotation("Blink", at: 2.5),
            plain.annotation("in the gap", at: 15), plain.annotation("late", at: 29.9),
        ]
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
        let mixed = RecordingFixture(
            streams: [
                .init(description: RecordingFixture.description(), range: 0...2559),
                .init(
                    description: RecordingFixture.description(
                        "accelerometer", frequency: 52,
                        channels: ["X", "Y"].map {
                            RecordingFixture.channel($0, type: "ACCEL", unit: "g", scale: 1.0 / 16_384, raw: -32_768...32_767)
                        }),
                    range: 5...524),
            ], subject: nil)
        // A computer whose clock was never set: 1970-01-01T00:16:40Z.
        let unset = RecordingFixture(
            streams: [.init(description: RecordingFixture.description(frequency: 256.5), range: 0...1025)],
            start: 1_000_000_000_000)
        return [("plain", plain), ("fine", fine), ("mixed", mixed), ("unset", unset)]
    }

    /// What a reader must find, made from the fixture's formulas, not from what was written.
    private static func expectation(
        _ file: ExportedFile, _ fixture: RecordingFixture, gaps: GapTreatment, format: ExportFormat
    ) -> Expectation {
        let start = file.startUnixNanoseconds ?? 0
        var signals: [Expectation.Signal] = []
        var marks: [Expectation.Mark] = []
        var duration = 0.0
        for (index, exported) in file.streams.enumerated() {
            guard let stream = fixture.streams.first(where: { $0.description.name == exported.name }) else { continue }
            let frequency = stream.description.samplingFrequency
            let length = Double(exported.lastN - exported.firstN + 1)
            duration = max(duration, (length / frequency).rounded(.up))
            for (channel, description) in stream.description.channels.enumerated() {
                let values = filled(fixture, stream, channel, exported.firstN...exported.lastN)
                let isWide = description.rawMaximum > 32_767 && format == .edf
                // 24-bit data in 16 bits: half of a step, which is the data's range over 65,535 rounded up, and half of the
                // last of the eight characters of -178840.
                let all = stream.range.map { Double(stream.value($0, channel)) }
                let span = (all.max() ?? 0) - (all.min() ?? 0)
                // Half of the last of the header's eight characters, where the range is as wide as ±187500.0.
                let isCoarse = description.rawMaximum > 32_767
                let tolerance =
                    isWide
                    ? ((span / 65_535).rounded(.up) + 1) / 2 + 0.5 / abs(description.scale)
                    : isCoarse ? 0.05 / abs(description.scale) : 0.01
                signals.append(
                    .init(
                        label: (description.type == "EEG" ? "EEG " : "MISC \(description.type) ") + description.name,
                        unit: description.unit, samplingFrequency: frequency,
                        values: values.map { $0 * description.scale + description.offset },
                        tolerance: tolerance * abs(description.scale)))
            }
            let first = exported.firstN
            func mark(_ range: ClosedRange<Int64>, _ text: String) {
                let onset = Double(range.lowerBound - first) / frequency
                marks.append(.init(onsetSeconds: onset, durationSeconds: Double(range.count) / frequency, text: text))
            }
            for gap in stream.absent where gap.lowerBound >= exported.firstN && gap.upperBound <= exported.lastN {
                mark(gap, "BAD_ACQ_SKIP")
                if case .timed(let uncertainty) = stream.certainty {
                    mark(gap, "BAD_LENGTH_TIMED +-\(uncertainty) samples")
                }
            }
            for null in stream.nulls where null.range.lowerBound >= exported.firstN && null.range.upperBound <= exported.lastN {
                mark(null.range, "BAD_ACQ_SKIP@@EEG \(stream.description.channels[null.channel - 1].name)")
            }
            let end = exported.lastN + 1
            let recordEnd = first + Int64((length / frequency).rounded(.up) * frequency)
            if recordEnd > end && index == 0 { mark(end...(recordEnd - 1), "BAD_ACQ_SKIP") }
        }
        for annotation in fixture.annotations where gaps != .segments {
            let onset = Double(annotation.onsetUnixNanoseconds - start) / 1e9
            marks.append(.init(onsetSeconds: onset, durationSeconds: annotation.durationSeconds, text: annotation.description))
        }
        // 1985-01-01T00:00:00Z, before which the format has no dates.
        let firstDate: Int64 = 473_385_600_000_000_000
        let kind = (format == .edf ? "EDF+" : "BDF+") + (gaps == .discontinuous ? "D" : "C")
        return Expectation(
            file: PartialFile.split(file.path).name, kind: kind, subject: EDFField.subfield(fixture.subject),
            start: start < firstDate ? "1985-01-01T00:00:00" : CivilTime(unixSeconds: start / 1_000_000_000).iso8601,
            startFractionSeconds: Double(start % 1_000_000_000 / 1000) / 1e6, durationSeconds: duration, signals: signals,
            marks: marks.sorted { $0.onsetSeconds < $1.onsetSeconds })
    }

    /// Raw values with missing ones filled as the page Exporting says.
    private static func filled(
        _ fixture: RecordingFixture, _ stream: RecordingFixture.Stream, _ channel: Int, _ range: ClosedRange<Int64>
    ) -> [Double] {
        let found = range.map { n in fixture.row(stream, n).flatMap { $0[channel] } }
        var last = found.first { $0 != nil } ?? nil
        return found.map { value in
            last = value ?? last
            return Double(last ?? 0)
        }
    }
}
