import Headsets
import Storage
import Testing

@testable import Export

/// The banks of a wide stream are sampled together: equal n are one instant, whatever their packets' times say.
@Suite struct BankTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// A Daisy: the second bank's packet comes one period, 8 ms, behind the first one's. Its first three samples were lost.
    private static func fixture(firstN: Int64 = 3, stretch: Double = 1) -> RecordingFixture {
        let names = [["Ch1", "Ch2"], ["Ch9", "Ch10"]]
        let banks = names.enumerated().map { bank, names in
            var description = RecordingFixture.description(frequency: 125, channels: names.map { RecordingFixture.channel($0) })
            description.bank = bank
            return description
        }
        return RecordingFixture(streams: [
            .init(description: banks[0], range: 0...4999, stretch: stretch),
            .init(
                description: banks[1], range: firstN...4999, delay: (firstN + 1) * 8_000_000, stretch: stretch,
                value: { RecordingFixture.value($0, $1 + 8) }),
        ])
    }

    private func export(_ fixture: RecordingFixture, _ format: ExportFormat, channels: [String] = []) throws -> ExportReport {
        try fixture.exporter().export(
            ExportRequest(
                format: format, path: directory.path + "/a.\(format.rawValue)", selection: ExportSelection(channels: channels),
                replacesExisting: true))
    }

    @Test("EDF+ has equal n at one position, as XDF has them in one row", arguments: [3, 0, 2000], [1, 1.001])
    func positions(firstN: Int64, stretch: Double) throws {
        let fixture = Self.fixture(firstN: firstN, stretch: stretch)
        _ = try export(fixture, .edf)
        let reader = try EDFReader(path: directory.path + "/a.edf")
        let (first, second) = (try reader.digitalValues(ofSignal: 0), try reader.digitalValues(ofSignal: 2))
        for n in firstN...4999 {
            let (one, other) = (RecordingFixture.value(n, 0), RecordingFixture.value(n, 8))
            #expect(first[Int(n)] == one && second[Int(n)] == other, "n \(n)")
        }
        let report = try export(fixture, .xdf)
        #expect(report.files[0].streams.map(\.rowCount) == [5000])
    }

    @Test("Tables of two banks have one time for one n, also where the first bank is not chosen", arguments: [[], ["Ch9"]])
    func tables(channels: [String]) throws {
        _ = try export(Self.fixture(), .csv, channels: channels)
        let text = contents(of: directory.path + (channels.isEmpty ? "/a_eeg-2.csv" : "/a.csv"))
        let row = String(decoding: text, as: UTF8.self).split(separator: "\n")[1]
        // Three periods of 8 ms after the recording's beginning.
        #expect(row.hasPrefix("3,2026-03-01T10:00:00.274000Z,"), "\(row)")
    }

    @Test("A boot of the host that the first bank has nothing of keeps the times of its own bank")
    func otherBoot() throws {
        var contents = try Self.fixture().reader().contents
        let own = contents.streams[1].segments[0]
        var later = own
        (later.firstN, later.lastN, later.referenceN, later.hostBoot) = (6000, 6999, 6000, own.hostBoot + 1)
        later.referenceUnixNanoseconds += 1_000_000_000_000
        contents.streams[1].segments.append(later)
        let timed = contents.timedByFirstBanks
        #expect(timed.streams[0] == contents.streams[0])
        for n in [Int64(3), 4999] {
            #expect(timed.streams[1].unixNanoseconds(ofSample: n) == contents.streams[0].unixNanoseconds(ofSample: n))
        }
        #expect(timed.streams[1].unixNanoseconds(ofSample: 6500) == contents.streams[1].unixNanoseconds(ofSample: 6500))
    }
}
