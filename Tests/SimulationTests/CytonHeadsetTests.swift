import Bluetooth
import Headsets
import Simulation
import Testing

/// The simulated Cyton against the profile's own decoder.
struct CytonHeadsetTests {
    @Test("Sends 250 frames a second, which decode to what it sampled", arguments: [false, true])
    func streams(hasDaisy: Bool) {
        let specification = CytonSpecification(hasDaisy: hasDaisy, crystalErrorPPM: -30)
        var host = HostedHeadset(
            .cyton(specification), profile: CytonProfile(hasDaisy: hasDaisy))
        host.start()
        host.run(seconds: 30)
        for stream in 0..<(hasDaisy ? 2 : 1) {
            let count = host.instantCount(stream: stream)
            #expect(abs(count - (hasDaisy ? 3780 : 7550)) < 60, "\(count) samples")
        }
        #expect(host.firstWrong() == nil)
        #expect(abs(host.instantCount(stream: hasDaisy ? 2 : 1) - 755) < 8)
        #expect(host.statuses.first?.streams?.count == (hasDaisy ? 3 : 2))
    }

    @Test("Sends readings of pins in place of accelerations, and time stamps")
    func auxiliary() {
        for stampsTime in [false, true] {
            let settings = CytonSettings(auxiliary: .analog, stampsTime: stampsTime)
            var host = HostedHeadset(.cyton(), profile: CytonProfile(settings: settings))
            host.start()
            host.run(seconds: 3)
            #expect(host.instantCount(stream: 1) == host.instantCount(stream: 0))
            #expect(host.firstWrong() == nil)
            #expect(host.statuses.contains { $0.tickFrequency == 1000 } == stampsTime)
        }
    }

    @Test("Streams on when its link ends, answers the next question all the same, and then begins anew")
    func reconnect() {
        var host = HostedHeadset(.cyton(), profile: CytonProfile())
        host.start()
        host.run(seconds: 5)
        host.bench.central.request(.cancelPeripheralConnection(host.headset.identifier, attempt: Attempt(number: 600)))
        host.run(seconds: 3)
        #expect(host.headset.sessions?.sessions.last?.ended == nil)
        let statuses = host.statuses.count
        host.start()
        host.run(seconds: 1)
        #expect(host.statuses.count > statuses)
        #expect(host.headset.sessions?.sessions.count == 2)
    }
}
