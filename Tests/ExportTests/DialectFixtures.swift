import Headsets
import Storage

@testable import Export

/// Recordings of the headsets whose makers' programs have tables of their own, as their profiles describe them.
enum DialectFixtures {
    /// What is written of each: `name`, the recording, and the dialects that know the headset.
    static var all: [(name: String, fixture: RecordingFixture, dialects: [TableDialect])] {
        [
            ("muse", muse(seconds: 12), [.muselsl, .mindmonitor, .brainflow]),
            ("athena", athena, [.muselsl, .mindmonitor, .brainflow]),
            ("cyton", cyton, [.openbci, .brainflow]), ("daisy", daisy, [.openbci, .brainflow]),
            ("ganglion", ganglion, [.openbci, .brainflow]), ("unicorn", unicorn, [.brainflow]),
            ("explore", explore, [.brainflow]),
        ]
    }

    /// 5 channels of EEG with a gap of 120 samples, single values missing, and marks; motion and PPG.
    static func muse(seconds: Int64) -> RecordingFixture {
        var fixture = RecordingFixture(
            streams: streams(MuseProfile(preset: "p50", variant: .withPPG).streams, seconds: seconds), model: "muse")
        fixture.streams[0].absent = [300...419]
        fixture.streams[0].nulls = [(2, 24...35), (4, 500...511)]
        fixture.annotations = marks(fixture)
        return fixture
    }

    private static var athena: RecordingFixture {
        var fixture = RecordingFixture(
            streams: streams(MuseAthenaProfile(preset: .p1041).streams, seconds: 6), model: "muse")
        fixture.streams[0].absent = [100...131]
        return fixture
    }

    private static var cyton: RecordingFixture {
        var fixture = RecordingFixture(streams: streams(CytonProfile().streams, seconds: 8), model: "cyton")
        fixture.streams[0].absent = [1000...1009, 1500...1500]
        fixture.annotations = marks(fixture)
        return fixture
    }

    /// Some frames of the board came, those of the Daisy did not.
    private static var daisy: RecordingFixture {
        var fixture = RecordingFixture(streams: streams(CytonProfile(hasDaisy: true).streams, seconds: 6), model: "cyton")
        for bank in 0...1 { fixture.streams[bank].absent = [200...215] }
        fixture.streams[1].nulls = (1...8).map { ($0, 400...402) }
        return fixture
    }

    /// Firmware 3, which takes each 201st sample and never sends it.
    static var ganglion: RecordingFixture {
        var fixture = RecordingFixture(streams: streams(GanglionProfile().streams, seconds: 6), model: "ganglion")
        fixture.streams[0].absent = stride(from: Int64(200), to: 1200, by: 201).map { $0...$0 }
        fixture.streams[0].absenceCause = .notSent
        return fixture
    }

    private static var unicorn: RecordingFixture {
        RecordingFixture(streams: streams(UnicornProfile().streams, seconds: 4), model: "unicorn")
    }

    private static var explore: RecordingFixture {
        RecordingFixture(streams: streams(ExploreProfile().streams, seconds: 4), model: "explore")
    }

    private static func marks(_ fixture: RecordingFixture) -> [AnnotationContents] {
        [
            fixture.annotation("7", at: 1.0), fixture.annotation("eyes closed", at: 2.5, duration: 1),
            fixture.annotation("a, \"b\"", at: 3), fixture.annotation("eyes closed", at: 3.5),
        ]
    }

    /// Values within what each channel can hold.
    static func streams(_ descriptions: [StreamDescription], seconds: Int64) -> [RecordingFixture.Stream] {
        descriptions.enumerated().map { index, description in
            let low = Int64(description.channels[0].rawMinimum)
            let span = Int64(description.channels[0].rawMaximum) - low + 1
            return RecordingFixture.Stream(
                description: description, range: 0...(Int64(Double(seconds) * description.samplingFrequency) - 1),
                // Streams begin one after the other, as packets come.
                delay: description.bank == 0 ? Int64(index) * 3_000_000 : 0,
                value: { n, channel in Int32(low + (n * 7919 + Int64(channel) * 104_729) % span) })
        }
    }
}
