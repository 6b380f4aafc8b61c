import Bluetooth
import Headsets
import Simulation
import Testing

/// The simulated Explore against the profile's own decoder.
struct ExploreHeadsetTests {
    @Test("Sends EEG, motion and environment, which decode to what it sampled", arguments: [4, 8, 16, 32])
    func streams(channelCount: Int) {
        let specification = ExploreSpecification(
            channelCount: channelCount, service: channelCount == 16 ? .nordicUART : .explorePro, crystalErrorPPM: 45)
        var host = HostedHeadset(.explore(specification), profile: ExploreProfile())
        host.start()
        host.run(seconds: 20)
        let status = host.statuses.first
        #expect(status?.condition == .streaming)
        #expect(status?.streams?.filter { $0.name == "eeg" }.count == (channelCount + 7) / 8)
        #expect(abs(host.instantCount(stream: ExploreProfile.eeg) - 5300) < 260)
        #expect(abs(host.instantCount(stream: ExploreProfile.accelerometer) - 425) < 25)
        #expect((19...23).contains(host.instantCount(stream: ExploreProfile.environment)))
        #expect(host.wrong(in: status?.streams) == nil)
        #expect(!host.items.contains { if case .discarded = $0 { true } else { false } })
    }

    @Test("Acknowledges commands, and samples at the frequency that it is told")
    func frequency() {
        var host = HostedHeadset(.explore(), profile: ExploreProfile(samplingFrequency: 500))
        host.start()
        host.run(seconds: 2)
        #expect(host.statuses.first?.condition == .wrongConfiguration)
        host.perform(.queryStatus)
        host.run(seconds: 2)
        #expect(host.statuses.last?.condition == .streaming)
        #expect(host.statuses.last?.streams?[ExploreProfile.eeg].samplingFrequency == 500)
    }
}
