import Bluetooth
import Headsets
import Testing

/// What a person may set about each model: that the commands, the decoder and the scales follow from it.
@Suite("Headset settings")
struct HeadsetSettingTests {
    /// The profile of a model with settings, a value for the whole headset each.
    private static func profile(_ model: String, _ stated: (String, [String])...) throws -> any HeadsetProfile {
        let profile = try HeadsetCatalog.builtIn.profile(model: model)
        var settings = HeadsetSettings()
        for (name, values) in stated { try settings.state(name, values, isList: values.count > 1, of: profile.settings) }
        return profile.choosing(settings: settings)
    }

    /// What is written when a headset is initialised, as text.
    private static func texts(_ profile: any HeadsetProfile, _ status: HeadsetStatus? = nil) -> [String] {
        bytes(profile, status).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func bytes(_ profile: any HeadsetProfile, _ status: HeadsetStatus? = nil) -> [[UInt8]] {
        profile.commands(for: .initialise, status: status).compactMap { step in
            if case .write(let bytes, _, _) = step { bytes } else { nil }
        }
    }

    /// The microvolts of each channel's first sample in what a headset has sent.
    private static func microvolts(
        _ profile: any HeadsetProfile, _ bytes: [UInt8], _ characteristic: BluetoothUUID
    ) throws -> [Double] {
        var decoder = profile.makeDecoder()
        var decoded = Decoded()
        decoder.decode(bytes, from: characteristic, into: &decoded)
        let blocks = decoded.items.compactMap { if case .samples(let block) = $0, block.stream == 0 { block } else { nil } }
        let block = try #require(blocks.first)
        let channels = profile.streams[0].channels
        return channels.indices.map { Double(decoded.values[block.values.lowerBound + $0]) * channels[$0].scale }
    }

    private static func isClose(_ found: [Double], _ expected: [Double]) -> Bool {
        found.count == expected.count && zip(found, expected).allSatisfy { abs($0 - $1) < 1e-6 * max(1, abs($1)) }
    }

    @Test(
        "have names, sentences and values of their own, and the usual one is one of the values",
        arguments: HeadsetCatalog.builtIn.models)
    func description(model: String) throws {
        let profile = try HeadsetCatalog.builtIn.profile(model: model)
        let names = profile.settings.map(\.name)
        #expect(Set(names).count == names.count)
        for setting in profile.settings {
            #expect(!setting.meaning.isEmpty && !setting.meaning.hasSuffix("."))
            #expect(setting.name.allSatisfy { $0.isLowercase || $0 == "_" || $0.isNumber })
            #expect(setting.values.count > 1 && Set(setting.values).count == setting.values.count)
            #expect(setting.usual.map { setting.values.contains($0) } ?? true)
        }
    }

    @Test("leave a profile as it is where the usual values are stated", arguments: HeadsetCatalog.builtIn.models)
    func usual(model: String) throws {
        let profile = try HeadsetCatalog.builtIn.profile(model: model)
        var stated = HeadsetSettings()
        for setting in profile.settings {
            if let usual = setting.usual { try stated.state(setting.name, [usual], isList: false, of: profile.settings) }
        }
        for settings in [stated, HeadsetSettings()] {
            let chosen = profile.choosing(settings: settings)
            #expect(chosen.streams == profile.streams)
            for purpose in CommandPurpose.allCases {
                #expect(chosen.commands(for: purpose, status: nil) == profile.commands(for: purpose, status: nil))
            }
        }
    }

    @Test("do something with every value that is not the usual one", arguments: HeadsetCatalog.builtIn.models)
    func effect(model: String) throws {
        let profile = try HeadsetCatalog.builtIn.profile(model: model)
        for setting in profile.settings {
            for value in setting.values where value != setting.usual {
                let chosen = try Self.profile(model, (setting.name, [value]))
                let isOther = CommandPurpose.allCases.contains {
                    chosen.commands(for: $0, status: nil) != profile.commands(for: $0, status: nil)
                }
                #expect(isOther, "\(setting.name): \(value)")
            }
        }
    }

    @Test("are refused where the model has not the name, not the value, not so many channels, or where they are stated twice")
    func refusals() throws {
        let known = HermesProfile().settings
        var stated = HeadsetSettings()
        #expect(throws: HeadsetSettingError.unknownSetting("notch", known: ["gain"])) {
            try stated.state("notch", ["50"], isList: false, of: known)
        }
        #expect(throws: HeadsetSettingError.valueNotAllowed("3", setting: "gain", allowed: known[0].values)) {
            try stated.state("gain", ["24", "3"], isList: true, of: known)
        }
        for (values, isList) in [(Array(repeating: "1", count: 9), true), ([], true), (["1", "2"], false)] {
            #expect(throws: HeadsetSettingError.wrongCount(values.count, setting: "gain", maximum: 8)) {
                try stated.state("gain", values, isList: isList, of: known)
            }
        }
        #expect(stated.isEmpty && stated["gain", 0] == nil)
        try stated.state("gain", ["24", "1"], isList: true, of: known)
        #expect((0..<3).map { stated["gain", $0] } == ["24", "1", nil])
        #expect(throws: HeadsetSettingError.statedTwice("gain")) { try stated.state("gain", ["1"], isList: false, of: known) }
        let nothing = HeadsetSettingError.unknownSetting("x", known: [])
        #expect(nothing.description == "'x' is no setting of the model (allowed: no settings with this model)")
    }

    @Test("give a Nucleus-Kit registers for the gains that are not 12, and each channel its scale")
    func hermes() throws {
        let profile = try Self.profile("hermes", ("gain", ["24", "12", "1"]))
        let written = Self.bytes(profile)
        #expect(written.dropLast() == [[3, 2, 0, 0], [2, 1, 0x05, 0x60], [2, 1, 0x07, 0x00]])
        #expect(written.last?.prefix(2) == [1, 1])
        // 4.5 V / gain / 2^23 a count: a quarter of the range on each channel.
        var packet = [UInt8](repeating: 0, count: HermesService.packetLength)
        for channel in 0..<8 { packet[1 + 3 * channel] = 0x20 }
        let full = 4.5e6 / 4
        let expected = [full / 24, full / 12, full] + Array(repeating: full / 12, count: 5)
        #expect(Self.isClose(try Self.microvolts(profile, packet, HermesService.eegData), expected))
        let all = try Self.profile("hermes", ("gain", ["6"]))
        #expect(Self.bytes(all).count == 10)
        #expect(Self.isClose(try Self.microvolts(all, packet, HermesService.eegData), Array(repeating: full / 6, count: 8)))
    }

    @Test("give a Cyton a command for each channel that is set, and the same frame other physical values")
    func cyton() throws {
        let profile = try Self.profile(
            "cyton", ("gain", ["24", "8", "1"]), ("bias", ["true", "true", "true", "false"]), ("auxiliary", ["analog"]),
            ("time_stamps", ["true"]), ("daisy", ["false"]))
        #expect(Self.texts(profile) == ["s", "c", "d", "/2", "<", "x2040110X", "x3000110X", "x4060010X"])
        #expect(!profile.answersStatusQuery)
        #expect(profile.streams.map(\.name) == ["eeg", "auxiliary"] && profile.streams[1].channels.count == 1)
        let frames = [1, 2].flatMap {
            CytonFrame(number: $0, eeg: Array(repeating: 8_388_607, count: 8), kind: .auxiliaryTimeSynced).encoded()
        }
        let expected = [4.5e6 / 24, 4.5e6 / 8, 4.5e6] + Array(repeating: 4.5e6 / 24, count: 5)
        #expect(Self.isClose(try Self.microvolts(profile, frames, .serialPort), expected))
    }

    @Test("reach the channels of a Daisy, whose status describes them with their scales")
    func daisy() throws {
        let gains = (0..<16).map { $0 == 15 ? "2" : "24" }
        let profile = try Self.profile("cyton", ("gain", gains))
        var decoder = profile.makeDecoder()
        var decoded = Decoded()
        decoder.decode(Array("daisy attached$$$16$$$".utf8), from: .serialPort, into: &decoded)
        let statuses = decoded.items.compactMap { if case .status(let status) = $0 { status } else { nil } }
        let status = try #require(statuses.first)
        #expect(Self.texts(profile, status) == ["d", "/0", ">", "xI010110X"])
        let scales = try #require(status.streams?[CytonProfile.daisy].channels.map(\.scale))
        #expect(Self.isClose(scales.map { $0 * 8_388_607 }, Array(repeating: 187_500, count: 7) + [2_250_000]))
    }

    @Test("set the amplifiers of a Cyton over Bluetooth Low Energy, and nothing that does not fit through its radio")
    func cytonBLE() throws {
        let profile = try Self.profile("cyton-ble", ("gain", ["24", "4"]), ("srb2", ["false"]), ("power", ["true", "false"]))
        #expect(profile.settings.map(\.name) == ["gain", "power", "bias", "srb2"])
        #expect(Self.texts(profile) == ["s", "d", "x1060100X", "x2120100X"])
        let sample: [UInt8] = [0x7F, 0xFF, 0xFF]
        let packet: [UInt8] = [0xC0, 0] + Array(repeating: sample, count: 6).joined()
        #expect(Self.isClose(try Self.microvolts(profile, packet, RFduinoService.data), [187_500, 1_125_000]))
    }

    @Test("switch a Ganglion's accelerometer off: its command, its stream and the packing of its samples")
    func ganglion() throws {
        let profile = try Self.profile("ganglion", ("accelerometer", ["false"]))
        #expect(Self.texts(profile, HeadsetStatus(condition: .idle)) == ["s", "N"])
        #expect(profile.streams.map(\.name) == ["eeg"])
        #expect(Self.texts(GanglionProfile(), HeadsetStatus(condition: .idle)) == ["s", "n"])
    }

    @Test("set the frequency of an Explore whatever its service, which answers that it has another one until it has it")
    func explore() throws {
        let database = GATTDatabase(characteristics: ExploreService.nordicUART.characteristics)
        let profile = try Self.profile("explore", ("sampling_frequency", ["500"])).adapted(to: database)
        #expect(
            profile.commands(for: .initialise, status: nil).first
                == .write(
                    ExploreCommand.samplingFrequency(doublings: 1).bytes, to: ExploreService.nordicUART.command,
                    type: .withoutResponse))
        #expect(profile.settings.first?.values == ["250", "500", "1000"])
    }

    @Test("set the notch of a MindWave, but not of the headset of 2013", arguments: [("50", 0x1B), ("60", 0x1C)])
    func mindWave(notch: String, command: UInt8) throws {
        let profile = try Self.profile("mindwave", ("notch", [notch]))
        let newer = profile.adapted(to: GATTDatabase(characteristics: MindWaveService.characteristics))
        #expect(Self.bytes(newer).map { $0[2] } == [command])
        let older = profile.adapted(to: GATTDatabase(characteristics: MindWaveService.characteristics2013))
        #expect(Self.bytes(older).isEmpty)
    }
}
