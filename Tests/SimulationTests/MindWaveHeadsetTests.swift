import Bluetooth
import Headsets
import Simulation
import Testing

/// The simulated NeuroSky headsets of Low Energy against the decoders of their profiles.
struct MindWaveHeadsetTests {
    private static func values(_ host: HostedHeadset, stream: Int) -> [Int32] {
        host.blocks.filter { $0.block.stream == stream }.flatMap(\.values)
    }

    /// How many raw samples came before each mark.
    private static func marks(_ items: [DecodedItem]) -> [Int] {
        var (count, marks) = (0, [Int]())
        for item in items {
            switch item {
            case .samples(let block) where block.stream == ThinkGearProfile.eeg: count += block.instantCount
            case .periodMark(ThinkGearProfile.eeg, 512, _): marks.append(count)
            default: break
            }
        }
        return marks
    }

    @Test("Sends 512 raw samples and one set of powers a second in each format", arguments: MindWaveProfile.Format.allCases)
    func streams(format: MindWaveProfile.Format) {
        var host = HostedHeadset(.mindWave(format: format), profile: MindWaveProfile())
        host.start()
        host.run(seconds: 20)
        let raw = host.instantCount(stream: ThinkGearProfile.eeg)
        #expect(abs(raw - 20 * 512) < 512, "\(raw) samples")
        #expect((19...22).contains(host.instantCount(stream: ThinkGearProfile.esense)))
        // Each mark stands behind 512 raw samples; a notification holds ten.
        let marks = Self.marks(host.items)
        #expect((19...22).contains(marks.count))
        for (earlier, later) in zip(marks, marks.dropFirst()) { #expect(abs(later - earlier - 512) < 10) }
        let powers = Self.values(host, stream: ThinkGearProfile.power)
        #expect((19 * 8...22 * 8).contains(powers.count))
        #expect(powers.allSatisfy { (0..<500_000).contains($0) })
        #expect(!host.items.contains { if case .damaged = $0 { true } else { false } })
    }

    @Test("Sends what was started only, and nothing after the link has ended")
    func commands() {
        var host = HostedHeadset(.mindWave(), profile: MindWaveProfile())
        host.connect()
        host.subscribe(host.profile.dataCharacteristics)
        host.run(seconds: 2)
        #expect(host.notifications.isEmpty)
        func write(_ bytes: [UInt8]) {
            host.bench.central.request(
                .writeValue(
                    bytes, to: MindWaveService.handshake, type: .withResponse, on: host.headset.identifier,
                    attempt: Attempt(number: 500)))
        }
        write(Array(MindWaveCommand.startRaw.encoded.dropLast()) + [0])
        write(MindWaveCommand.startESense.encoded)
        host.run(seconds: 3)
        #expect(Set(host.notifications.map(\.characteristic)) == [MindWaveService.esense])
        write(MindWaveCommand.stopESense.encoded)
        write(MindWaveCommand.startRaw.encoded)
        host.run(seconds: 1)
        let count = host.instantCount(stream: ThinkGearProfile.esense)
        host.run(seconds: 2)
        #expect(host.instantCount(stream: ThinkGearProfile.esense) == count)
        #expect(host.instantCount(stream: ThinkGearProfile.eeg) > 1000)
        host.bench.central.request(.cancelPeripheralConnection(host.headset.identifier, attempt: Attempt(number: 600)))
        host.run(seconds: 1)
        host.connect()
        host.subscribe(host.profile.dataCharacteristics)
        let before = host.notifications.count
        host.run(seconds: 2)
        #expect(host.notifications.count == before)
    }

    @Test("A board sends as soon as somebody listens, in pieces of 20 bytes", arguments: TGAMProfile.Radio.allCases)
    func board(radio: TGAMProfile.Radio) {
        var host = HostedHeadset(.tgam(radio: radio), profile: TGAMProfile())
        host.start()
        host.run(seconds: 5)
        #expect(host.instantCount(stream: ThinkGearProfile.eeg) > 5 * 512)
        #expect(host.notifications.allSatisfy { $0.value.count <= 20 && $0.characteristic == radio.data })
        #expect(host.statuses.contains { $0.condition == .streaming })
    }
}
