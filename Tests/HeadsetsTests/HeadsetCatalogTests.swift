import Bluetooth
import Headsets
import Testing

@Suite("Headset catalog")
struct HeadsetCatalogTests {
    @Test("finds each built-in profile by its model")
    func builtIn() throws {
        #expect(
            HeadsetCatalog.builtIn.models == [
                "buffered-eeg", "cyton", "cyton-ble", "explore", "ganglion", "hermes", "mindwave", "muse", "tgam", "thinkgear",
                "unicorn",
            ])
        for model in HeadsetCatalog.builtIn.models {
            let profile = try HeadsetCatalog.builtIn.profile(model: model)
            #expect(profile.model == model)
        }
    }

    @Test("names the known models where one is unknown")
    func unknownModel() {
        let error = HeadsetCatalogError.unknownModel("Muse", known: ["buffered-eeg", "ganglion"])
        let catalog = HeadsetCatalog(profiles: [BufferedEEGProfile(), GanglionProfile()])
        #expect(throws: error) { try catalog.profile(model: "Muse") }
        #expect(error.description == "the headset model \"Muse\" is unknown; known models: buffered-eeg, ganglion")
    }

    @Test("holds profiles whose streams can be stored", arguments: HeadsetCatalog.builtIn.models)
    func streams(model: String) throws {
        let profile = try HeadsetCatalog.builtIn.profile(model: model)
        for stream in profile.streams {
            #expect(stream.samplingFrequency > 0)
            #expect((1...StreamDescription.channelsPerBank).contains(stream.channels.count))
            for channel in stream.channels {
                #expect(channel.scale != 0)
                #expect(channel.rawMinimum < channel.rawMaximum)
            }
        }
        #expect(profile.timing.silenceLimit > profile.timing.packetPeriod)
        #expect(!profile.recognition.scanFilter.isEmpty)
    }

    @Test("takes for counted what bears a count, of known characteristics, and no stream of bytes")
    func counted() {
        let profiles = HeadsetCatalog.builtIn.profiles
        #expect(
            profiles.filter { !$0.countedCharacteristics.isEmpty }.map(\.model) == [
                "buffered-eeg", "cyton-ble", "ganglion", "hermes", "muse",
            ])
        let streams = profiles.filter { ["explore", "mindwave", "tgam", "cyton"].contains($0.model) }
        for characteristic in streams.flatMap(\.requiredCharacteristics) + [HermesService.motionData] {
            #expect(!profiles.contains { $0.countedCharacteristics.contains(characteristic) })
        }
    }

    @Test("recognises a buffered headset in both advertising modes, and none by a similar UUID")
    func recognition() {
        let filter = BufferedEEGProfile().recognition.scanFilter
        #expect(filter.matches(Advertisement(serviceUUIDs: [BufferedEEGService.service])))
        #expect(filter.matches(Advertisement(serviceUUIDs: [BufferedEEGService.pairingService])))
        let service = BufferedEEGService.service
        #expect(!filter.matches(Advertisement(serviceUUIDs: [BluetoothUUID(high: 0, low: service.low)])))
        #expect(!filter.matches(Advertisement(localName: "Buffered EEG")))
        #expect(service.description == "ab870001-81bc-439d-a90a-be5d3a2ce5f9")
    }

    @Test("recognises a MindWave Mobile by its name, and no other serial device")
    func thinkGearRecognition() {
        let filter = ThinkGearProfile().recognition.scanFilter
        #expect(filter.matches(Advertisement(localName: "MindWave Mobile")))
        #expect(!filter.matches(Advertisement(localName: "Printer", serviceUUIDs: [.serialPort])))
    }

    @Test("has one written command for each purpose of a buffered headset")
    func commands() {
        let profile = BufferedEEGProfile()
        for purpose in CommandPurpose.allCases where ![.keepAlive, .queryVersion].contains(purpose) {
            let writes = profile.commands(for: purpose, status: nil).filter { if case .write = $0 { true } else { false } }
            #expect(writes.count == 1)
        }
        #expect(profile.commands(for: .queryStatus, status: nil) == [BufferedEEGCommand.status.step])
        #expect(profile.answersStatusQuery)
        #expect(!ThinkGearProfile().answersStatusQuery)
        #expect(
            BufferedEEGCommand.acknowledge(stream: 1, upTo: 2).step
                == .write([8, 1, 2, 0, 0, 0], to: BufferedEEGService.control, type: .withResponse))
    }

    @Test("gives EEG channels the names of a montage, over all banks, where there are as many")
    func montage() {
        let streams = HermesProfile().streams
        let names = (1...8).map { "E\($0)" }
        let named = Montage(names).applied(to: streams)
        #expect(named[0].channels.map(\.name) == names)
        #expect(named.dropFirst().elementsEqual(streams.dropFirst()))
        #expect(Montage(["A"]).applied(to: streams) == streams)
        #expect(Montage(names + ["E9"]).applied(to: streams) == streams)
        let banks = Montage((1...16).map { "E\($0)" }).applied(to: [streams[0], streams[1], streams[0]])
        #expect(banks[2].channels.map(\.name) == (9...16).map { "E\($0)" })
        #expect(Montage.channelCount(of: HermesProfile()) == 8)
        #expect(Montage.channelCount(of: MuseProfile()) == nil)
        #expect(Montage.channelCount(of: BufferedEEGProfile()) == nil)
    }

    @Test("knows that 512 raw frames and a power frame are 4,132 bytes a second")
    func nominalRate() {
        #expect(ThinkGearProfile.nominalBytesPerSecond == 4132)
    }
}
