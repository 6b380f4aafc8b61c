import Bluetooth
import Headsets
import Simulation
import Testing

/// The simulated Unicorn against the profile's own decoder.
struct UnicornHeadsetTests {
    @Test("Sends 250 frames a second, which decode to what it sampled, over the turn of its counter")
    func streams() {
        let specification = UnicornSpecification(firstCounter: .max - 1000, crystalErrorPPM: 40)
        var host = HostedHeadset(.unicorn(specification), profile: UnicornProfile())
        host.start()
        host.run(seconds: 30)
        for stream in 0..<3 { #expect(abs(host.instantCount(stream: stream) - 7550) < 60) }
        #expect(host.firstWrong() == nil)
        #expect(host.blocks.contains { $0.block.counter == 0 })
        #expect(host.statuses == [HeadsetStatus(condition: .streaming, batteryPercent: 80)])
        // The answer to the first stop came before anybody listened.
        #expect(host.items.filter { $0 == .message("Command acknowledged") }.count == 1)
    }

    @Test("Stops when it is told, obeys no command with a wrong checksum, and stops when its link ends")
    func commands() {
        var host = HostedHeadset(.unicorn(), profile: UnicornProfile())
        host.start()
        host.run(seconds: 1)
        host.perform(.stop)
        #expect(host.headset.sessions?.sessions.first?.ended != nil)
        host.bench.central.request(
            .writeValue(
                [0x61, 0x7C, 0x88], to: .serialPort, type: .withoutResponse, on: host.headset.identifier,
                attempt: Attempt(number: 500)))
        host.run(seconds: 1)
        #expect(host.headset.sessions?.sessions.count == 1)
        host.perform(.start)
        host.run(seconds: 1)
        host.bench.central.request(.cancelPeripheralConnection(host.headset.identifier, attempt: Attempt(number: 600)))
        host.run(seconds: 2)
        #expect(host.headset.sessions?.sessions.last?.ended != nil)
    }
}
