import Bluetooth
import Headsets
import Testing

/// What a person may choose that a Muse sends.
@Suite("Presets of a Muse")
struct MusePresetTests {
    private static let older = [MuseService.control] + MuseService.eeg + [MuseService.accelerometer, MuseService.gyroscope]

    private static func profile(_ preset: String, _ characteristics: [BluetoothUUID]) -> any HeadsetProfile {
        MuseProfile().choosing(preset: preset).adapted(
            to: GATTDatabase(
                characteristics: characteristics.map {
                    Characteristic(service: MuseService.service, uuid: $0, properties: [.notify])
                }))
    }

    private static func commands(of profile: any HeadsetProfile, status: HeadsetStatus? = nil) -> [String] {
        profile.commands(for: .initialise, status: status).compactMap { step in
            if case .write(let bytes, _, _) = step { MuseCommand.text(of: bytes) } else { nil }
        }
    }

    @Test(
        "decide which streams an older one has, and are what it is told",
        arguments: [
            ("p20", 5, ["eeg", "accelerometer", "gyroscope"]), ("p21", 4, ["eeg", "accelerometer", "gyroscope"]),
            ("p22", 4, ["eeg"]), ("p50", 5, ["eeg", "accelerometer", "gyroscope", "ppg"]),
            ("p51", 4, ["eeg", "accelerometer", "gyroscope", "ppg"]), ("p60", 5, ["eeg", "accelerometer", "gyroscope", "ppg"]),
            ("p61", 4, ["eeg", "accelerometer", "gyroscope", "ppg"]),
        ])
    func older(preset: String, eegChannelCount: Int, streams: [String]) {
        let profile = Self.profile(preset, Self.older + MuseService.ppg)
        #expect(profile.streams.map(\.name) == streams)
        #expect(profile.streams.first?.channels.count == eegChannelCount)
        #expect(Self.commands(of: profile) == ["h", preset])
        #expect(profile.dataCharacteristics.contains(MuseService.ppg[0]) == streams.contains("ppg"))
        #expect(profile.dataCharacteristics.contains(MuseService.gyroscope) == streams.contains("gyroscope"))
        #expect(profile.dataCharacteristics.contains(MuseService.eeg[4]) == (eegChannelCount == 5))
    }

    @Test("with optical channels are the like without to a headset that has none")
    func withoutPPG() {
        #expect(Self.commands(of: Self.profile("p50", Self.older)) == ["h", "p20"])
        #expect(Self.commands(of: Self.profile("p61", Self.older)) == ["h", "p21"])
        #expect(Self.profile("p50", Self.older).streams.map(\.name) == ["eeg", "accelerometer", "gyroscope"])
    }

    @Test("decide which streams an Athena has", arguments: MuseAthenaPreset.allCases)
    func athena(preset: MuseAthenaPreset) {
        let profile = Self.profile(preset.rawValue, [MuseService.control, MuseService.multiplexed])
        #expect(Self.commands(of: profile) == ["h", preset.rawValue])
        #expect(profile.streams.first?.channels.count == preset.eegChannelCount)
        let optics = profile.streams.filter { $0.name == "optics" }.map(\.channels.count)
        #expect(optics.reduce(0, +) == preset.opticsChannelCount)
        #expect(profile.streams.last?.name == "reference")
    }

    @Test("are not chosen again where the status says that they are set, and are where it says another one or nothing")
    func alreadySet() {
        func status(_ fields: String) -> HeadsetStatus {
            HeadsetStatus(condition: .idle, raw: Array("{\"sn\":\"2031-TZRW-1324\"\(fields),\"rc\":0}".utf8))
        }
        let older = Self.profile("p21", Self.older + MuseService.ppg)
        let cases: [(profile: any HeadsetProfile, fields: String, commands: [String])] = [
            (older, ",\"ps\":33", ["h"]), (older, ",\"ps\":32", ["h", "p21"]), (older, ",\"ps\":21", ["h", "p21"]),
            (older, "", ["h", "p21"]), (older, ",\"ps\":\"p21\"", ["h", "p21"]),
            (Self.profile("p1041", [MuseService.control, MuseService.multiplexed]), ",\"ps\":4161", ["h"]),
            (Self.profile("p1041", [MuseService.control, MuseService.multiplexed]), ",\"ps\":33", ["h", "p1041"]),
        ]
        for (profile, fields, commands) in cases {
            // An Athena's commands are sent again where no answer comes; those stand within the wait.
            #expect(Self.commands(of: profile, status: status(fields)) == commands, "\(fields)")
        }
    }

    @Test("of the other kind of headset leave each kind its usual one, and every word of the list is one of some kind")
    func others() {
        let both = [MuseService.control, MuseService.multiplexed]
        #expect(Self.commands(of: Self.profile("p22", both)) == ["h", "p1041"])
        #expect(Self.commands(of: Self.profile("p1041", Self.older + MuseService.ppg)) == ["h", "p50"])
        #expect(Self.commands(of: Self.profile("p1041", Self.older)) == ["h", "p21"])
        let presets = MuseProfile().presets
        #expect(Set(presets).count == presets.count)
        #expect(presets.allSatisfy { MusePreset(rawValue: $0) != nil || MuseAthenaPreset(rawValue: $0) != nil })
        #expect(GanglionProfile().presets.isEmpty)
    }

    @Test("bring nothing of streams that they do not have, whatever the headset sends")
    func unwanted() {
        var decoder = Self.profile("p22", Self.older + MuseService.ppg).makeDecoder()
        var decoded = Decoded()
        let packet = [UInt8](repeating: 1, count: MuseService.packetLength)
        for characteristic in [MuseService.eeg[4], MuseService.accelerometer, MuseService.gyroscope, MuseService.ppg[0]] {
            decoder.decode(packet, from: characteristic, into: &decoded)
        }
        #expect(decoded.items == Array(repeating: .discarded(byteCount: MuseService.packetLength), count: 4))
        #expect(decoded.values.isEmpty)
    }
}
