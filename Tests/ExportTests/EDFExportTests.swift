import Foundation
import Headsets
import Storage
import Testing

@testable import Export

@Suite struct EDFExportTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func export(
        _ fixture: RecordingFixture, _ name: String = "a.edf", format: ExportFormat = .edf, gaps: GapTreatment = .fill,
        streams: [String] = [], together: Bool = false
    ) throws -> ExportReport {
        try fixture.exporter().export(
            ExportRequest(
                format: format, path: directory.path + "/" + name, selection: ExportSelection(streams: streams), gaps: gaps,
                isTogether: together))
    }

    private func read(_ name: String = "a.edf") throws -> EDFReader {
        try EDFReader(path: directory.path + "/" + name)
    }

    /// First and one past the last sample, at 256 Hz, of the stretches marked with a text.
    private func skips(_ reader: EDFReader, _ text: String = "BAD_ACQ_SKIP") throws -> [[Int]] {
        try reader.annotations().filter { $0.text == text }.map {
            let start = Double($0.onsetMicroseconds - 250_000)
            return [start, start + Double($0.durationMicroseconds ?? -1)].map { micros in
                let sample = micros / 1e6 * 256
                #expect(abs(sample - sample.rounded()) < 0.001)
                return Int(sample.rounded())
            }
        }
    }

    @Test("What a headset said of a sample is at that very sample in the file, and the sidecar names it")
    func events() throws {
        // The second stream's samples drift away from the file's grid, which follows n.
        var fixture = RecordingFixture(streams: [
            .init(description: RecordingFixture.description("motion", frequency: 64), range: 0...639),
            .init(description: RecordingFixture.description(), range: 0...2559, stretch: 1.01),
        ])
        fixture.annotations = [
            AnnotationContents(
                onsetUnixNanoseconds: fixture.start, durationSeconds: nil, description: "Trigger in 7", source: "headset",
                sample: AnnotatedSample(stream: StreamID(rawValue: 2), n: 2000), deviceTicks: 781_250, code: 7),
            fixture.annotation("by time", at: 1),
        ]
        _ = try export(fixture)
        let reader = try EDFReader(path: directory.path + "/a.edf")
        let onsets = try reader.annotations().filter {
            !$0.text.hasPrefix("BAD") && !$0.text.hasPrefix("eegsync: ")
        }.map { [$0.text: $0.onsetMicroseconds] }
        #expect(onsets == [["by time": 1_250_000], ["Trigger in 7": 250_000 + 2000 * 1_000_000 / 256]])
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let sidecar = try decoder.decode(
            FileSidecar.self, from: Data(contents(of: directory.path + "/a.edf.json")))
        let event = try #require(sidecar.annotations.first { $0.source == "headset" })
        #expect(event.stream == "eeg" && event.n == 2000 && event.deviceTicks == 781_250 && event.code == 7)
    }

    @Test("A small file is byte for byte as the specification lays it out")
    func golden() throws {
        var fixture = RecordingFixture(streams: [
            .init(
                description: RecordingFixture.description(frequency: 4, channels: [RecordingFixture.channel("TP9")]),
                range: 0...3)
        ])
        fixture.annotations = [fixture.annotation("Blink", at: 0.5, duration: 0.25)]
        _ = try export(fixture)
        let annotationSamples = 60
        func pad(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: width - text.utf8.count) }
        var expected =
            pad("0", 8) + pad("S01 X X X", 80) + pad("Startdate 01-MAR-2026 X eegsync Buffered_EEG", 80) + "01.03.26"
            + "10.00.00" + pad("768", 8) + pad("EDF+C", 44) + pad("1", 8) + pad("1", 8) + pad("2", 4)
        expected += pad("EEG TP9", 16) + pad("EDF Annotations", 16)
        expected += pad("", 160) + pad("uV", 8) + pad("", 8)
        expected += pad("-450", 8) + pad("-1", 8) + pad("449.7803", 8) + pad("1", 8)
        expected += pad("-2048", 8) + pad("-32768", 8) + pad("2047", 8) + pad("32767", 8)
        expected += pad("", 160) + pad("4", 8) + pad(String(annotationSamples), 8) + pad("", 64)
        var bytes = Array(expected.utf8)
        // -2000, -1963, -1926, -1889
        bytes += [0x30, 0xF8, 0x55, 0xF8, 0x7A, 0xF8, 0x9F, 0xF8]
        let lists = Array("+0.25\u{14}\u{14}\u{0}+0.75\u{15}0.25\u{14}Blink\u{14}\u{0}".utf8)
        bytes += lists + [UInt8](repeating: 0, count: annotationSamples * 2 - lists.count)
        #expect(contents(of: directory.path + "/a.edf") == bytes)
    }

    @Test("24 bits a sample are little endian, three bytes each, under BDF+'s names")
    func bdf() throws {
        let channel = RecordingFixture.channel("Fp1", scale: 0.022_351_744, raw: -8_388_608...8_388_607)
        let description = RecordingFixture.description(frequency: 2, channels: [channel])
        let fixture = RecordingFixture(streams: [
            .init(description: description, range: 0...1, value: { n, _ in n == 0 ? -8_388_608 : 66_051 })
        ])
        #expect(ExportFormat.lossless(for: try fixture.reader().contents) == .bdf)
        _ = try export(fixture, format: .bdf)
        let bytes = contents(of: directory.path + "/a.edf")
        #expect(Array(bytes[..<8]) == [0xFF] + Array("BIOSEMI".utf8))
        #expect(Array(bytes[768..<774]) == [0x00, 0x00, 0x80, 0x03, 0x02, 0x01])
        #expect(try read().header.signals.last?.label == "BDF Annotations")
    }

    @Test("Missing rows hold the last value and are annotated with onset and duration; the end of the last record, too")
    func filled() throws {
        let fixture = RecordingFixture(streams: [
            .init(description: RecordingFixture.description(), range: 10...1000, absent: [100...355, 600...600])
        ])
        let report = try export(fixture)
        let reader = try read()
        let values = try reader.digitalValues(ofSignal: 1)
        #expect(values.count == 1024)
        for n in Int64(10)...1000 {
            let held = (100...355).contains(n) ? 99 : n == 600 ? 599 : n
            #expect(values[Int(n - 10)] == RecordingFixture.value(held, 1), "n \(n)")
        }
        #expect(values[991...] == ArraySlice(repeating: RecordingFixture.value(1000, 1), count: 33)[...])
        #expect(try skips(reader) == [[90, 346], [590, 591], [991, 1024]])
        #expect(report.files[0].streams[0].rowCount == 991 - 257)
        #expect(report.files[0].streams[0].filledCount == 257)
        #expect(report.notes.isEmpty)
    }

    @Test("Missing values before the first hold the next; a channel that is NULL throughout holds 0 and is annotated once")
    func nulls() throws {
        let fixture = RecordingFixture(streams: [
            .init(
                description: RecordingFixture.description(), range: 0...511, absent: [0...9],
                nulls: [(1, 10...19), (1, 100...111), (2, 0...511)])
        ])
        _ = try export(fixture)
        let reader = try read()
        let first = try reader.digitalValues(ofSignal: 0)
        #expect(first[..<20].allSatisfy { $0 == RecordingFixture.value(20, 0) })
        #expect(first[100..<112].allSatisfy { $0 == RecordingFixture.value(99, 0) })
        #expect(first[112] == RecordingFixture.value(112, 0))
        #expect(try reader.digitalValues(ofSignal: 1).allSatisfy { $0 == 0 })
        #expect(try skips(reader) == [[0, 10]])
        #expect(try skips(reader, "BAD_ACQ_SKIP@@EEG TP9") == [[10, 20], [100, 112]])
        #expect(try skips(reader, "BAD_ACQ_SKIP@@EEG AF7") == [[10, 512]])
    }

    @Test(
        "A sample that the headset never sends is held: neither marked, nor the end of a segment",
        arguments: GapTreatment.allCases)
    func unsent(_ treatment: GapTreatment) throws {
        var stream = RecordingFixture.Stream(
            description: RecordingFixture.description(), range: 0...1023, absent: [200...200, 401...401])
        stream.absenceCause = .notSent
        let fixture = RecordingFixture(streams: [stream])
        let report = try export(fixture, gaps: treatment)
        #expect(report.files.count == 1)
        let reader = try read(directory.names[0])
        #expect(try skips(reader).isEmpty)
        let first = try reader.digitalValues(ofSignal: 0)
        #expect(first[200] == RecordingFixture.value(199, 0))
        #expect(first[201] == RecordingFixture.value(201, 0))
    }

    @Test("Each unbroken segment is a file of its own, with its own start and its own annotations")
    func segments() throws {
        var fixture = RecordingFixture(streams: [
            .init(
                description: RecordingFixture.description(), range: 0...1000, absent: [0...2, 300...555, 900...1000],
                nulls: [(1, 700...702)])
        ])
        fixture.annotations = [
            fixture.annotation("before", at: -1), fixture.annotation("in the gap", at: 1.5),
            fixture.annotation("second", at: 3),
        ]
        let report = try export(fixture, gaps: .segments)
        #expect(directory.names.filter { $0.hasSuffix(".edf") } == ["a_run-01.edf", "a_run-02.edf"])
        #expect(report.files.map { $0.streams[0].firstN } == [3, 556])
        #expect(report.files.map { $0.streams[0].lastN } == [299, 899])
        #expect(report.files[1].startUnixNanoseconds == RecordingFixture.start + 556 * 1_000_000_000 / 256)
        let (one, two) = (try read("a_run-01.edf"), try read("a_run-02.edf"))
        #expect(two.header.startTime == "10.00.02")
        #expect(try one.digitalValues(ofSignal: 0).prefix(297) == (Int64(3)...299).map { RecordingFixture.value($0, 0) }[...])
        #expect(try two.digitalValues(ofSignal: 1).prefix(344) == (Int64(556)...899).map { RecordingFixture.value($0, 1) }[...])
        #expect(try one.annotations().map(\.text).sorted() == ["BAD_ACQ_SKIP", "before", "in the gap"])
        #expect(try two.annotations().map(\.text).sorted() == ["BAD_ACQ_SKIP", "BAD_ACQ_SKIP@@EEG TP9", "second"])
    }

    @Test("A discontinuous file leaves out records without rows, and the others say when they are")
    func discontinuous() throws {
        let fixture = RecordingFixture(streams: [
            .init(description: RecordingFixture.description(), range: 0...2559, absent: [100...1900])
        ])
        _ = try export(fixture, gaps: .discontinuous)
        let reader = try read()
        #expect(!reader.header.isContinuous)
        #expect(reader.header.recordCount == 4)
        var onsets: [Int64] = []
        try reader.forEachRecord { onsets.append($0.onsetMicroseconds) }
        #expect(onsets == [250_000, 7_250_000, 8_250_000, 9_250_000])
        let values = try reader.digitalValues(ofSignal: 0)
        #expect(values[256 + 1901 - 1792] == RecordingFixture.value(1901, 0))
        #expect(try skips(reader) == [[100, 1901]])
    }

    @Test("Annotations beyond the capacity of their record go into the next ones, and records grow until all fit")
    func manyAnnotations() throws {
        var fixture = RecordingFixture(streams: [.init(description: RecordingFixture.description(), range: 0...2559)])
        fixture.annotations =
            (0..<500).map { fixture.annotation("event number \($0)", at: 1 + Double($0) / 1000) }
            + (0..<300).map { fixture.annotation("late \($0)", at: 9.5) }
            + [fixture.annotation(String(repeating: "x", count: 3000), at: 4), fixture.annotation("after", at: 99)]
        _ = try export(fixture)
        let annotations = try read().annotations()
        #expect(Set(annotations.map(\.text)).isSuperset(of: (0..<500).map { "event number \($0)" }))
        #expect(annotations.count { $0.text.hasPrefix("late") } == 300)
        #expect(annotations.last { $0.text == "after" }?.onsetMicroseconds == 99_250_000)
        let pieces = annotations.filter { $0.onsetMicroseconds == 4_250_000 }.map(\.text)
        #expect(pieces.map { $0.drop { $0 != "x" }.count }.reduce(0, +) == 3000)
    }

    @Test("Together, streams of several rates share a file, each at its place in time; gaps of the others name their channels")
    func severalRates() throws {
        let motion = RecordingFixture.description(
            "accelerometer", frequency: 52, channels: [RecordingFixture.channel("X", type: "ACCEL", unit: "g")])
        let fixture = RecordingFixture(streams: [
            .init(description: RecordingFixture.description(), range: 0...1023),
            .init(description: motion, range: 1000...1150, absent: [1052...1061], delay: 505_000_000),
        ])
        let report = try export(fixture, together: true)
        let reader = try read()
        #expect(reader.header.signals.map(\.samplesPerRecord).dropLast() == [256, 256, 52])
        let values = try reader.digitalValues(ofSignal: 2)
        // 505 ms are 26.26 samples of 52 Hz.
        #expect(values[26] == RecordingFixture.value(1000, 0))
        #expect(values[26 + 150] == RecordingFixture.value(1150, 0))
        #expect(abs(report.files[0].streams[1].gridOffsetSeconds - 0.005) < 1e-9)
        #expect(try skips(reader).isEmpty)
        #expect(try reader.annotations().count { $0.text == "BAD_ACQ_SKIP@@MISC ACCEL X" } == 3)
        _ = try export(fixture, "b.edf", streams: ["accelerometer"])
        #expect(try read("b.edf").header.signals.map(\.label) == ["MISC ACCEL X", "EDF Annotations"])
    }

    @Test("What is missing for all signals is marked once; what another stream lacks beyond that names its channels")
    func oneMark() throws {
        let second = RecordingFixture.description("eeg2", channels: [RecordingFixture.channel("O1")])
        let fixture = RecordingFixture(streams: [
            .init(description: RecordingFixture.description(), range: 0...1023, absent: [300...399, 600...609]),
            .init(description: second, range: 0...1023, absent: [300...399, 500...509, 605...614, 700...705]),
        ])
        _ = try export(fixture, together: true)
        #expect(try skips(read()) == [[300, 400], [600, 610]])
        #expect(try skips(read(), "BAD_ACQ_SKIP@@EEG O1") == [[500, 510], [605, 615], [700, 706]])
    }

    @Test("Values beyond 16 bits are mapped from the data's own range, and what is lost is said")
    func wideRange() throws {
        var channel = RecordingFixture.channel("Fp1", scale: 0.022_351_744, raw: -8_388_608...8_388_607)
        func fixture(_ factor: Int32) -> RecordingFixture {
            RecordingFixture(streams: [
                .init(
                    description: RecordingFixture.description(channels: [channel]), range: 0...511,
                    value: { 1_000_000 + RecordingFixture.value($0, $1) * factor })
            ])
        }
        let kept = try export(fixture(1))
        #expect(kept.notes.isEmpty)
        let signal = try read().header.signals[0]
        let digital = try read().digitalValues(ofSignal: 0)[7]
        let physical = (Double(digital) - Double(signal.digitalMinimum)) * signal.gain + (Double(signal.physicalMinimum) ?? 0)
        #expect(abs(physical - 0.022_351_744 * Double(1_000_000 + RecordingFixture.value(7, 0))) < 0.01)
        let lossy = try export(fixture(1000), "b.edf")
        #expect(lossy.notes.count == 1)
        #expect(lossy.notes[0].contains("one step of EDF+ is 61 raw counts, 1.36"))
        channel.unit = "n/a"
        #expect(try export(fixture(1000), "c.edf").notes[0].contains("is 61 raw counts; smaller differences are lost"))
    }

    @Test("A value beyond the declared range is kept where the format holds it, else clipped and counted")
    func clipping() throws {
        let fixture = RecordingFixture(streams: [
            .init(
                description: RecordingFixture.description(frequency: 4), range: 0...3,
                value: { n, _ in [3000, -70_000, 70_000, 1][Int(n)] })
        ])
        let report = try export(fixture)
        #expect(try read().digitalValues(ofSignal: 0) == [3000, -32_768, 32_767, 1])
        #expect(report.notes == ["4 values beyond the format's range were written as its limit."])
    }

    @Test("What the recorded times and the sample grid differ by is measured, and annotations follow the samples")
    func deviation() throws {
        // A headset whose crystal is 1,000 ppm slow: 10.01 s for 10 s.
        var fixture = RecordingFixture(streams: [
            .init(description: RecordingFixture.description(), range: 0...2559, stretch: 1.001)
        ])
        fixture.annotations = [fixture.annotation("middle", at: 5.005)]
        let report = try export(fixture)
        #expect(abs(report.files[0].streams[0].maximumDeviationSeconds - 0.01) < 1e-4)
        let middle = try #require(try read().annotations().first { $0.text == "middle" })
        #expect(abs(middle.onsetMicroseconds - 5_250_000) <= 1)
    }
}
