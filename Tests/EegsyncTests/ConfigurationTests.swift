import Acquisition
import Bluetooth
import Foundation
import Headsets
import KernelBluetooth
import Testing
import YAMLReading

@testable import eegsync

@Suite struct ConfigurationTests {
    @Test func theExampleThatIsInstalledIsAccepted() throws {
        let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Deploy/eegsync.yaml").standardized.path
        let configuration = try ConfigurationFile.load(path: example, models: models)
        #expect(configuration.databasePath == "/var/lib/eegsync/eegsync.sqlite")
        #expect(configuration.limits == Configuration.Limits())
        #expect(configuration.logLevel == .info)
        #expect(!configuration.headsets.isEmpty)
    }

    @Test func everyKeyIsRead() throws {
        let text = """
            database: /data/eeg.sqlite
            central: {kind: simulation, seed: 7, headsets: [{name: sim, model: thinkgear, serial: "S1"}]}
            headsets:
              - name: left-1
                model: buffered-eeg
                identifiers: ["00:55:DA:B0:13:24", "C0:55:DA:B0:13:24/random"]
                serial: "0012"
            limits: {commit_interval_seconds: 0.25, buffer_rows: 5_000, synchronous: full}
            log_level: debug
            """
        let public1 = try #require(PeripheralIdentifier("00:55:DA:B0:13:24"))
        let random1 = try #require(PeripheralIdentifier("00:55:DA:B0:13:24/random"))
        let random = try #require(PeripheralIdentifier("C0:55:DA:B0:13:24/random"))
        let expected = Configuration(
            databasePath: "/data/eeg.sqlite",
            headsets: [
                .init(
                    name: "left-1", model: "buffered-eeg", identifiers: [public1, random1, random], serialNumber: "0012")
            ],
            central: .simulation(
                .init(seed: 7, headsets: [.init(name: "sim", model: "thinkgear", serialNumber: "S1")])),
            limits: .init(commitInterval: .milliseconds(250), bufferRows: 5000, synchronous: .full), logLevel: .debug)
        #expect(try parse(text) == expected)
    }

    @Test func aMontageNamesEveryEEGChannelOnce() throws {
        let names = ["Fp1", "Fp2", "F3", "F4", "C3", "C4", "O1", "O2'"]
        func text(_ model: String, _ names: [String]) -> String {
            configuration(headset: "{name: left, model: \(model), montage: [\(names.joined(separator: ", "))]}")
        }
        #expect(try parse(text("hermes", names)).headsets.map(\.montage?.names) == [names])
        #expect(try parse(text("ganglion", ["a", "b", "c", "d"])).headsets[0].montage?.names.count == 4)
        let few = problems(text("hermes", Array(names.dropLast())))
        #expect(few.contains { $0.contains("headsets[0].montage: there are 7 names for 8 channels") })
        let twice = problems(text("hermes", names.dropLast() + ["FP1"]))
        #expect(twice.contains { $0.contains("headsets[0].montage[7]: the name 'FP1' is taken by another channel") })
        #expect(problems(text("hermes", names.dropLast() + ["a b"])).contains { $0.contains("letters, digits") })
        #expect(problems(text("muse", names)).contains { $0.contains("a headset of model 'muse' names its channels itself") })
        #expect(problems(text("hermes", [])).contains { $0.contains("there are 0 names for 8 channels") })
        let scalar = problems(configuration(headset: "{name: left, model: hermes, montage: AF7}"))
        #expect(scalar.contains { $0.contains("headsets[0].montage: 'AF7' is not a list") })
    }

    @Test func whatIsLeftOutHasItsDefault() throws {
        let read = try parse(configuration())
        #expect(read.limits == Configuration.Limits())
        #expect(read.limits.commitInterval == .seconds(10))
        #expect(read.logLevel == .info)
        #expect(read.headsets == [.init(name: "left", model: "buffered-eeg")])
        #expect(read.central == .simulation(.init(seed: 1, headsets: [])))
    }

    @Test func aPresetIsOneOfTheModelsAndDecidesItsStreams() throws {
        let chosen = try parse(configuration(headset: "{name: a, model: muse, preset: p22}"))
        #expect(chosen.headsets.map(\.preset) == ["p22"])
        #expect(chosen.knownHeadsets.first?.profile.streams.map(\.name) == ["eeg"])
        #expect(
            problems(configuration(headset: "{name: a, model: muse, preset: p7}")).first?
                .contains("headsets[0].preset: 'p7' is no preset of the model; allowed are p20, p21, p22,") == true)
        #expect(
            problems(configuration(headset: "{name: a, model: ganglion, preset: p21}")).first?
                .contains("no preset with this model") == true)
    }

    @Test func whereSerialPortsAreIsTakenFromTheModelsThatSayIt() throws {
        let address = PeripheralIdentifier(address: 0x2068_9D00_1324, type: .classic)
        let read = try parse(
            configuration(
                headset: "{name: a, model: thinkgear, identifiers: [\"20:68:9D:00:13:24\"]}",
                more: "  - {name: b, model: unicorn}"))
        #expect(read.serialPortChannels == [SerialPortChannel(number: 1, identifiers: [address])])
    }

    @Test func settingsAreThoseOfTheModelAndDecideItsScalesAndStreams() throws {
        let text = configuration(
            headset: """
                {name: a, model: hermes, settings: {gain: [24, 12, 1]}}
                  - {name: b, model: ganglion, settings: {accelerometer: false}}
                  - {name: c, model: muse, preset: p22}
                """)
        let profiles = try parse(text).knownHeadsets.map(\.profile)
        let usual = HermesProfile().streams[HermesProfile.eeg].channels[0].scale
        let scales = try #require(profiles.first?.streams[HermesProfile.eeg].channels.map { ($0.scale / usual * 12).rounded() })
        #expect(scales == [6, 12, 144, 12, 12, 12, 12, 12])
        #expect(profiles.dropFirst().map { $0.streams.map(\.name) } == [["eeg"], ["eeg"]])
        #expect(try parse(text) == parse(text))
        #expect(try parse(text) != parse(text.replacingOccurrences(of: "[24, 12, 1]", with: "[24, 12, 2]")))
    }

    @Test(arguments: [
        (
            "{name: a, model: hermes, settings: {gian: 12}}",
            "settings.gian: 'gian' is no setting of the model; did you mean 'gain'?"
        ),
        (
            "{name: a, model: hermes, settings: {gain: 13}}",
            "settings.gain: '13' is no value of the setting; allowed: 1, 2, 4, 6, 8, 12, 24"
        ),
        (
            "{name: a, model: hermes, settings: {gain: [1, 1, 1, 1, 1, 1, 1, 1, 1]}}",
            "settings.gain: 9 values are not one for each of the first channels"
                + "; allowed: one value for all, or a list of 1 ... 8"
        ),
        (
            "{name: a, model: ganglion, settings: {accelerometer: [true]}}",
            "settings.accelerometer: a list of 1 is not one value for the whole headset; allowed: one value"
        ),
        (
            "{name: a, model: explore, settings: {sampling_frequency: {hertz: 500}}}",
            "settings.sampling_frequency: a mapping is not a text; allowed: 250, 500, 1000"
        ),
        ("{name: a, model: hermes, settings: gain}", "settings: 'gain' is not a mapping; allowed: gain"),
        (
            "{name: a, model: unicorn, settings: {gain: 12}}",
            "settings.gain: 'gain' is no setting of the model; allowed: no settings with this model"
        ),
    ])
    func aSettingThatTheModelDoesNotHaveIsAProblemOfItsLine(headset: String, problem: String) {
        #expect(problems(configuration(headset: headset)).map { String($0.drop { $0 != "[" }) } == ["[0]." + problem])
    }

    @Test func everyProblemIsNamedAtOnceInTheOrderOfTheFile() {
        let text = """
            database: relative.sqlite
            colour: blue
            central: {kind: magic}
            headsets:
              - {name: left, model: muse9, size: 4}
            """
        #expect(
            problems(text) == [
                "line 1, column 11: database: 'relative.sqlite' is not the absolute path of a file; "
                    + "allowed is an absolute path",
                "line 2, column 1: colour: unknown key; allowed are database, central, headsets, adopt, adopt_after_seconds, "
                    + "limits, alerts, retention, ship, serve, lsl, markers and log_level",
                "line 3, column 17: central.kind: 'magic' is no central; allowed are auto, bluez, kernel and simulation",
                "line 5, column 25: headsets[0].model: 'muse9' is no model that this version knows; did you mean 'muse'?",
                "line 5, column 32: headsets[0].size: unknown key; "
                    + "allowed are name, model, identifiers, serial, passkey, passkey_file, montage, preset, settings, "
                    + "adopt, pairing_services, reference and ground",
            ])
    }

    @Test func theNearestKnownWordIsNamed() {
        let text = """
            databse: /a.sqlite
            central: {kind: kernal}
            headsets: [{nam: left, model: gangloin}]
            limits: {sync: full, synchronous: ful}
            log_level: Debug
            """
        #expect(
            problems(text).compactMap { $0.components(separatedBy: "did you mean ").dropFirst().first } == [
                "'database'?", "'kernel'?", "'name'?", "'ganglion'?", "'synchronous'?", "'full'?", "'debug'?",
            ])
    }

    @Test func aFileThatRefersToItselfMoreOftenThanMemoryLastsEnds() {
        let bomb = (0..<60).map { "a\($0): &a\($0) [*a\(max(0, $0 - 1)), *a\(max(0, $0 - 1))]" }.joined(separator: "\n")
        #expect(problems(bomb).first?.contains("anchors and aliases") == true)
        #expect(problems("headsets: " + String(repeating: "[", count: 200)) != [])
    }

    @Test func whatIsStillToBeFilledInIsAskedFor() {
        let found = problems(configuration(database: "database: !fill-in \"Where?\"", headset: "{name: !fill-in, model: muse}"))
        #expect(
            found == [
                "line 1, column 11: database: still to be filled in; Where?",
                "line 4, column 12: headsets[0].name: still to be filled in",
            ])
    }

    @Test func theWayToTheKernelsSocketsIsRead() throws {
        #expect(try parse(configuration(central: "{kind: kernel}")).central == .kernel(Configuration.Kernel()))
        let found = try parse(configuration(central: "{kind: kernel, adapter: hci1, power_on: true}"))
        #expect(found.central == .kernel(Configuration.Kernel(adapter: "hci1", powersOn: true)))
        #expect(
            problems(configuration(central: "{kind: kernel, start_notify: []}")) == [
                "line 2, column 25: central.start_notify: unknown key; allowed are kind, adapter, power_on and repairing"
            ])
    }

    @Test(
        "Headsets that have lost their keys are paired anew, unless a person forbids it",
        arguments: ["kernel", "bluez", "auto"])
    func repairing(kind: String) throws {
        for word in [nil, "always", "never"] {
            let text = word.map { "{kind: \(kind), repairing: \($0)}" } ?? "{kind: \(kind)}"
            let expected = Configuration.Repairing(rawValue: word ?? "always")
            switch try parse(configuration(central: text)).central {
            case .kernel(let settings): #expect(settings.repairing == expected)
            case .bluez(let settings): #expect(settings.repairing == expected)
            case .automatic(let bluez, let kernel): #expect(bluez.repairing == expected && kernel.repairing == expected)
            case .simulation: Issue.record("a simulation")
            }
        }
        let found = problems(configuration(central: "{kind: \(kind), repairing: sometimes}"))
        let expected = "central.repairing: 'sometimes' is not one of the words; allowed are always and never"
        #expect(!found.isEmpty && found.allSatisfy { $0.hasSuffix(expected) }, "\(found)")
    }

    @Test func addressesOfAHeadsetWithASerialPortAreClassicOnes() throws {
        let text = configuration(
            headset: #"{name: a, model: thinkgear, identifiers: ["20:68:9D:00:13:24", "20:68:9D:00:13:25/classic"]}"#)
        let expected = [0x2068_9D00_1324, 0x2068_9D00_1325].map { PeripheralIdentifier(address: $0, type: .classic) }
        #expect(try parse(text).headsets.map(\.identifiers) == [expected])
        let wrong = configuration(headset: #"{name: a, model: thinkgear, identifiers: ["20:68:9D:00:13:24/public"]}"#)
        let found = problems(wrong)
        #expect(found.count == 1 && found.first?.contains("is no address of Bluetooth Classic") == true, "\(found)")
    }

    @Test func withoutACentralTheMachineDecides() throws {
        let configuration = try parse("database: /a\nheadsets: [{name: a, model: thinkgear}]\n")
        #expect(configuration.central == .automatic(Configuration.BlueZ(), Configuration.Kernel()))
    }

    @Test func theWayToBluetoothdIsRead() throws {
        let text = """
            {kind: bluez, adapter: hci1, start_notify: ["C0:55:DA:B0:13:24/random"], recover_adapter: true}
            """
        let found = try parse(configuration(headset: "{name: a, model: thinkgear, passkey: 4711}", central: text))
        var expected = Configuration.BlueZ()
        expected.adapter = "hci1"
        expected.startNotify = [PeripheralIdentifier(address: 0xC055_DAB0_1324, type: .random)]
        expected.recoversAdapter = true
        #expect(found.central == .bluez(expected))
        #expect(found.headsets.map(\.passkey) == [4711])
    }

    @Test(arguments: [
        ("adapter: hci", "central.adapter: 'hci' is no adapter"),
        ("adapter: \"C0:55:DA:B0:13:24/random\"", "is no adapter"),
        ("recover_adapter: perhaps", "central.recover_adapter: 'perhaps' is neither true nor false"),
        ("start_notify: [left]", "central.start_notify[0]: 'left' is not a Bluetooth address"),
    ]) func aWrongWayToBluetoothdIsNamed(setting: String, problem: String) {
        let found = problems(configuration(central: "{kind: bluez, \(setting)}"))
        #expect(found.count == 1 && found.first?.contains(problem) == true, "\(found)")
    }

    @Test(arguments: [".nan", "nan", ".inf", "inf", "1e400", "0x10", "-1", "0", "0.01", "61", "\"1\"", "fast", "", "[1]"])
    func anAbsurdCommitIntervalIsRefused(value: String) {
        let found = problems(configuration(more: "limits: {commit_interval_seconds: \(value)}"))
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.hasPrefix("line 5, column 3") == true, "\(found)")
        #expect(found.first?.contains(": limits.commit_interval_seconds: ") == true, "\(found)")
        #expect(found.first?.hasSuffix("; allowed is 0.05 ... 60 s") == true, "\(found)")
    }

    @Test(arguments: [".nan", "-5", "999", "10000001", "99999999999999999999", "1.5", "true", "\"5000\"", "{}"])
    func anAbsurdBufferBoundIsRefused(value: String) {
        let found = problems(configuration(more: "limits: {buffer_rows: \(value)}"))
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.hasSuffix("; allowed is a whole number, 1000 ... 10000000") == true, "\(found)")
    }

    @Test(arguments: ["-1", "1.5", "abc", "18446744073709551616"]) func anAbsurdSeedIsRefused(value: String) {
        let found = problems(configuration(central: "{kind: simulation, seed: \(value), headsets: []}"))
        #expect(found.count == 1, "\(found)")
    }

    @Test func twoHeadsetsOfOneNameAreRefused() {
        let text = configuration(headset: "{name: left, model: thinkgear}\n  - {name: left, model: thinkgear}")
        #expect(
            problems(text) == [
                "line 5, column 12: headsets[1].name: the name 'left' is taken by another headset; choose a name of its own"
            ])
    }

    @Test func oneAddressIsThatOfOneHeadset() {
        let address = "identifiers: [\"00:55:DA:B0:13:24\"]"
        let text = configuration(headset: "{name: a, model: muse, \(address)}\n  - {name: b, model: muse, \(address)}")
        #expect(
            problems(text) == [
                "line 5, column 41: headsets[1].identifiers: an address is that of 'a', too; allowed is each address once"
            ])
    }

    @Test func aHeadsetOfLowEnergyHasNoAddressOfBluetoothClassic() {
        let found = problems(configuration(headset: #"{name: a, model: muse, identifiers: ["00:55:DA:B0:13:24/classic"]}"#))
        #expect(found.count == 1 && found.first?.contains("is no address of Bluetooth Low Energy") == true, "\(found)")
    }

    @Test(arguments: ["", "a b", "ä", "a/b", "\"a\\nb\"", String(repeating: "x", count: 65), "[a]", "~"])
    func aNameThatACommandCannotCarryIsRefused(name: String) {
        #expect(problems(configuration(headset: "{name: \(name), model: thinkgear}")).count == 1)
    }

    @Test(arguments: ["00:55:DA:B0:13", "zz:55:DA:B0:13:24", "00:55:DA:B0:13:24/wild", "12"])
    func aWrongAddressIsRefused(address: String) {
        let found = problems(configuration(headset: "{name: a, model: thinkgear, identifiers: [\"\(address)\"]}"))
        #expect(found.count == 1)
        #expect(
            found.first?.contains("headsets[0].identifiers[0]: '\(address)' is not a Bluetooth address") == true, "\(found)")
    }

    @Test func whatIsMissingIsNamed() {
        let found = problems("log_level: loud\n")
        #expect(
            found == [
                "line 1, column 1: 'database' is missing; allowed is an absolute path",
                "line 1, column 1: 'headsets' is missing; allowed is a list of headsets",
                "line 1, column 12: log_level: 'loud' is not one of the words; "
                    + "allowed are trace, debug, info, notice, warning, error and critical",
            ])
    }

    @Test(arguments: ["[]", "hello", "42", "database: [1]\ncentral: 3\nheadsets: {}", "headsets: 7", "? [a]\n: b"])
    func aFileOfTheWrongShapeIsRefusedWithoutHarm(text: String) {
        #expect(!problems(text).isEmpty)
    }

    @Test(arguments: ["a: [", "\ta: b", "a: b\n  c: d\n e", "{", "a: b\na: c", "%", "a: &x [*x]", "\u{0}"])
    func whatIsNotYAMLIsRefusedWithoutHarm(text: String) {
        #expect(!problems(text).isEmpty)
    }

    @Test func aSyntaxErrorHasItsLine() {
        #expect(
            throws: ConfigurationError.wrong(
                file: "test.yaml", .malformed(line: 3, column: 9, reason: "did not find expected ',' or ']'"))
        ) { try parse("database: /a\ncentral: [1\nheadsets: 3\n") }
    }

    @Test func anEmptyFileIsRefused() {
        let empty = YAMLDocumentError.malformed(line: nil, column: nil, reason: "the text is empty")
        #expect(throws: ConfigurationError.wrong(file: "test.yaml", empty)) {
            try parse("# nothing\n")
        }
    }

    @Test func filesThatCannotBeReadAreNamed() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let absent = directory.appendingPathComponent("absent.yaml").path
        #expect(throws: ConfigurationError.unreadable(file: absent, reason: "No such file or directory")) {
            try ConfigurationFile.load(path: absent, models: models)
        }
        let binary = directory.appendingPathComponent("binary.yaml").path
        try Data([0xFF, 0xFE, 0x00]).write(to: URL(fileURLWithPath: binary))
        #expect(throws: ConfigurationError.unreadable(file: binary, reason: "it is not UTF-8 text")) {
            try ConfigurationFile.load(path: binary, models: models)
        }
        let huge = directory.appendingPathComponent("huge.yaml").path
        try Data(count: 1_048_577).write(to: URL(fileURLWithPath: huge))
        #expect(throws: ConfigurationError.unreadable(file: huge, reason: "it is larger than 1 MiB")) {
            try ConfigurationFile.load(path: huge, models: models)
        }
        #expect(throws: ConfigurationError.self) { try ConfigurationFile.load(path: directory.path, models: models) }
    }
}
