import Bluetooth
import Headsets
import Simulation
import Testing

/// The simulated Cyton with a radio of its own against the profile's decoder.
struct CytonBLEHeadsetTests {
    @Test("Sends 125 samples a second, which decode to what it sampled, and begins anew after a reconnect")
    func streams() {
        var host = HostedHeadset(.cytonBLE(crystalErrorPPM: 20), profile: CytonBLEProfile())
        host.start()
        host.run(seconds: 20)
        #expect(abs(host.instantCount(stream: 0) - 2525) < 30)
        #expect(host.firstWrong() == nil)
        host.bench.central.request(.cancelPeripheralConnection(host.headset.identifier, attempt: Attempt(number: 600)))
        host.run(seconds: 3)
        #expect(host.headset.sessions?.sessions.last?.ended == nil)
        host.start()
        host.run(seconds: 1)
        #expect(host.headset.sessions?.sessions.count == 2)
    }
}
