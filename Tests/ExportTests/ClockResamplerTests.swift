import Foundation
import Headsets
import Storage
import Testing

@testable import Export

/// Files whose samples are computed to lie at the nominal rate in UTC.
@Suite struct ClockResamplerTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// A sine of UTC as a headset with another crystal samples it, in 24 bits.
    private func sine(
        hertz: Double, stretch: Double, count: Int64 = 7680, absent: [ClosedRange<Int64>] = []
    ) -> RecordingFixture {
        let channel = RecordingFixture.channel("Fp1", scale: 0.022_351_744, raw: -8_388_608...8_388_607)
        return RecordingFixture(streams: [
            .init(
                description: RecordingFixture.description(channels: [channel]), range: 0...(count - 1), absent: absent,
                stretch: stretch,
                value: { n, _ in Int32((6e6 * sin(2 * .pi * hertz * Double(n) * stretch / 256)).rounded()) })
        ])
    }

    private func export(_ fixture: RecordingFixture, resamples: Bool = true) throws -> (EDFReader, ExportReport) {
        let path = directory.path + "/a.bdf"
        let report = try fixture.exporter().export(
            ExportRequest(format: .bdf, path: path, resamplesToClock: resamples, replacesExisting: true))
        return (try EDFReader(path: path), report)
    }

    /// Signal to noise, in decibels, of the first signal against the sine at the file's own times.
    private func ratio(_ reader: EDFReader, hertz: Double, of positions: Range<Int>) throws -> Double {
        let signal = reader.header.signals[0]
        let values = try reader.digitalValues(ofSignal: 0)
        let low = try #require(Double(signal.physicalMinimum))
        var (power, noise) = (0.0, 0.0)
        for k in positions {
            let read = (Double(values[k]) - Double(signal.digitalMinimum)) * signal.gain + low
            let truth = 6e6 * 0.022_351_744 * sin(2 * .pi * hertz * Double(k) / 256)
            power += truth * truth
            noise += (read - truth) * (read - truth)
        }
        return 10 * log10(power / noise)
    }

    @Test(
        "A sine lies at its times in UTC, with 100 dB, whatever the headset's crystal",
        arguments: [1.3, 10, 40, 100], [1 + 50e-6, 1 - 300e-6])
    func sines(hertz: Double, stretch: Double) throws {
        let (reader, report) = try export(sine(hertz: hertz, stretch: stretch))
        // The first and the last have samples on one side only.
        #expect(try ratio(reader, hertz: hertz, of: 64..<7600) > 100)
        #expect(report.files[0].streams[0].maximumDeviationSeconds == 0)
        #expect(report.files[0].streams[0].firstN == 0 && report.files[0].streams[0].lastN == 7679)
        let texts = try reader.annotations().map(\.text)
        #expect(texts.contains("eegsync: the samples were computed to lie at the nominal rate in UTC"))
    }

    @Test("Without it the same sine is off, and the file says by how much")
    func notResampled() throws {
        let (reader, report) = try export(sine(hertz: 10, stretch: 1 - 300e-6), resamples: false)
        #expect(try ratio(reader, hertz: 10, of: 64..<7600) < 20)
        // 7,679 samples of 300 ppm less than 1/256 s.
        #expect(abs(report.files[0].streams[0].maximumDeviationSeconds - 0.009) < 1e-5)
        let texts = try reader.annotations().map(\.text)
        #expect(texts.contains("eegsync: samples lie at the nominal rate, up to 9 ms from UTC"))
    }

    @Test("A gap stays a gap, at its times in UTC")
    func gaps() throws {
        let (reader, _) = try export(sine(hertz: 10, stretch: 1 + 500e-6, absent: [3000...3255]))
        let skips = try reader.annotations().filter { $0.text == "BAD_ACQ_SKIP" }
        let skip = try #require(skips.first)
        // Sample 3000 lies at 3000 x 1.0005 / 256 s; the computed samples beside the gap are missing, too.
        let period = 1.0 / 256
        let onset = Double(skip.onsetMicroseconds - 250_000) / 1e6
        let duration = Double(skip.durationMicroseconds ?? 0) / 1e6
        #expect(abs(onset - 3000 * 1.0005 * period) <= period)
        #expect(abs(duration - 256 * 1.0005 * period) <= 2 * period)
        #expect(try ratio(reader, hertz: 10, of: 64..<2960) > 100)
        #expect(try ratio(reader, hertz: 10, of: 3300..<7600) > 100)
    }

    @Test("The start is local time where that is asked for, and the file says so")
    func localStart() throws {
        let path = directory.path + "/a.edf"
        _ = try RecordingFixture(streams: [.init(description: RecordingFixture.description(), range: 0...255)]).exporter()
            .export(ExportRequest(format: .edf, path: path, startZone: "Europe/Berlin"))
        let reader = try EDFReader(path: path)
        #expect(reader.header.startDate == "01.03.26" && reader.header.startTime == "11.00.00")
        #expect(
            try reader.annotations().map(\.text).contains(
                "eegsync: the start is local time, UTC+01:00, Europe/Berlin"))
        let sidecar = String(decoding: contents(of: path + ".json"), as: UTF8.self)
        #expect(sidecar.contains("\"start_zone\" : \"Europe/Berlin\"") && sidecar.contains("2026-03-01T10:00:00.250000Z"))
    }
}
