import Bluetooth
import Headsets
import Simulation
import Testing

/// The simulated Muse headsets against the profile's own decoders.
struct MuseHeadsetTests {
    @Test("Sends each stream at its rate, which decodes to what it sampled", arguments: MuseSpecification.Model.allCases)
    func streams(_ muse: MuseSpecification.Model) {
        var host = HostedHeadset(.muse(MuseSpecification(muse)), profile: MuseProfile())
        host.start()
        let before = host.profile.streams.indices.map { host.instantCount(stream: $0) }
        host.run(seconds: 20)
        for (index, stream) in host.profile.streams.enumerated() {
            let count = host.instantCount(stream: index) - before[index]
            #expect(abs(Double(count) - 20 * stream.samplingFrequency) <= 13, "\(stream.name): \(count)")
        }
        #expect(host.firstWrong() == nil)
        #expect(host.statuses.contains { $0.batteryPercent == 82 && $0.serialNumber == "2031-TZRW-1301" })
        #expect((host.profile is MuseAthenaProfile) == (muse == .museSAthena))
        #expect((host.profile as? MuseProfile)?.variant == (muse == .muse2016 ? .withoutPPG : muse == .muse2 ? .withPPG : nil))
    }

    @Test("Answers share notifications, and what is left over from an older one stands behind them")
    func answers() {
        var host = HostedHeadset(.muse(), profile: MuseProfile())
        host.connect()
        host.perform(.queryStatus)
        let answers = host.notifications.filter { $0.characteristic == MuseService.control }.map(\.value)
        #expect(answers.allSatisfy { $0.count == 20 && $0[0] <= 19 })
        let isStale = answers.contains { Int($0[0]) < 19 && $0[Int($0[0]) + 1] != 0 }
        #expect(isStale)
        #expect(host.statuses.count == 1)
        #expect(!host.items.contains { if case .discarded = $0 { true } else { false } })
    }

    @Test("A headset in its bootloader tells so, and comes back as a headset after the wake sequence")
    func bootloader() {
        var specification = MuseSpecification()
        specification.startsInBootloader = true
        var host = HostedHeadset(.muse(specification), profile: MuseProfile())
        host.connect()
        host.perform(.queryStatus)
        #expect(host.statuses.map(\.condition) == [.bootloader])
        host.perform(.wake)
        host.run(seconds: 3)
        host.start()
        #expect(host.statuses.last?.condition == .idle || host.statuses.last?.condition == .streaming)
        #expect(host.instantCount(stream: MuseProfile.eeg) > 0)
    }

    @Test("A headset that shows its control characteristic only shows the rest after a command and another connection")
    func controlOnly() {
        var specification = MuseSpecification()
        specification.startsWithControlOnly = true
        var host = HostedHeadset(.muse(specification), profile: MuseProfile())
        host.connect()
        #expect((host.profile as? MuseProfile)?.variant == .controlOnly)
        host.perform(.initialise)
        host.run(seconds: 2)
        host.start()
        #expect((host.profile as? MuseProfile)?.variant == .withPPG)
        #expect(host.instantCount(stream: MuseProfile.eeg) > 0)
    }

    @Test("Streams end some minutes after the last keep-alive, and go on where it comes in time", arguments: [false, true])
    func keepAlive(isKeptAlive: Bool) throws {
        let interval = try #require(MuseProfile().timing.keepAliveInterval)
        #expect(MuseProfile().commands(for: .keepAlive, status: nil) == [MuseCommand.step([2, UInt8(ascii: "k"), 10])])
        #expect(MuseAthenaProfile().timing.keepAliveInterval == interval)
        var host = HostedHeadset(.muse(), profile: MuseProfile())
        host.start()
        for _ in 0..<78 {
            if isKeptAlive { host.perform(.keepAlive) }
            host.run(seconds: Double(interval.components.seconds))
        }
        let before = host.instantCount(stream: MuseProfile.eeg)
        host.run(seconds: 5)
        #expect((host.instantCount(stream: MuseProfile.eeg) > before) == isKeptAlive)
    }

    @Test("A lost packet of one channel is missing in that channel and nowhere else")
    func lostPackets() {
        // A little longer than from one packet to the next.
        let lost = ScriptedFault(at: .seconds(12), .lostNotification, for: .milliseconds(50))
        var host = HostedHeadset(.muse(), profile: MuseProfile(), script: [lost])
        host.start()
        host.run(seconds: 10)
        #expect(host.firstWrong() == nil)
        let counts = (0..<4).map { channel in
            host.blocks.filter { $0.block.stream == MuseProfile.eeg && $0.block.firstChannel == channel }.count
        }
        #expect(host.bench.world.injected[.lostNotification] > 0)
        #expect(counts.allSatisfy { $0 > 0 })
    }
}
