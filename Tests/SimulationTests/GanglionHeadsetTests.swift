import Bluetooth
import Headsets
import Simulation
import Testing

/// The simulated Ganglion against the profile's own decoder.
struct GanglionHeadsetTests {
    @Test(
        "Sends 200 samples and 10 accelerations a second, which decode to what it sampled",
        arguments: GanglionFirmware.allCases)
    func streams(_ firmware: GanglionFirmware) {
        var host = HostedHeadset(.ganglion(GanglionSpecification(firmware: firmware)), profile: GanglionProfile())
        host.start()
        host.run(seconds: 30)
        let count = host.instantCount(stream: GanglionProfile.eeg)
        // Firmware 3 leaves out one of 201.
        let expected = firmware == .version3 ? 30 * 200 * 200 / 201 : 30 * 200
        #expect(abs(count - expected - 40) < 45, "\(count) samples")
        #expect(abs(host.instantCount(stream: GanglionProfile.accelerometer) - 300) < 6)
        #expect(host.firstWrong() == nil)
        let unsent = host.items.filter { if case .unsent = $0 { true } else { false } }.count
        #expect(firmware == .version3 ? (29...31).contains(unsent) : unsent == 0)
        #expect(host.statuses.first?.condition == .idle)
    }

    @Test("With the accelerometer off, packets are numbered from 100 and have 19 bits", arguments: GanglionFirmware.allCases)
    func withoutAccelerometer(_ firmware: GanglionFirmware) {
        let specification = HeadsetSpecification.ganglion(GanglionSpecification(firmware: firmware))
        var host = HostedHeadset(specification, profile: GanglionProfile(isAccelerometerOn: false))
        host.start()
        host.run(seconds: 3)
        let numbers = host.notifications.filter { $0.characteristic == GanglionService.data }.compactMap(\.value.first)
        #expect(numbers.count > 200)
        #expect(numbers.allSatisfy { firmware == .version3 ? (100..<200).contains($0) : $0 == 0 || (101...200).contains($0) })
        #expect(host.blocks.allSatisfy { $0.block.stream == GanglionProfile.eeg })
        #expect(host.firstWrong() == nil, "one bit more of each sample")
    }

    @Test("Answers commands with text, looks at the first byte of a write only, and measures impedances")
    func commands() {
        var host = HostedHeadset(.ganglion(), profile: GanglionProfile())
        host.connect()
        host.subscribe([GanglionService.data])
        func write(_ text: String) {
            host.bench.central.request(
                .writeValue(
                    Array(text.utf8), to: GanglionService.command, type: .withResponse, on: host.headset.identifier,
                    attempt: Attempt(number: 500)))
        }
        write("vb")
        host.run(seconds: 2)
        let messages = host.items.compactMap { if case .message(let text) = $0 { text } else { nil } }
        #expect(messages.count == 1)
        #expect(messages.first?.hasPrefix("OpenBCI Ganglion v3.0.2") == true)
        #expect(host.blocks.isEmpty)
        write("z")
        host.run(seconds: 3)
        #expect(host.items.contains(.impedance(electrode: 4, kilohms: 35)))
        write("Z")
        host.run(seconds: 1)
        #expect(host.headset.sessions?.sessions.isEmpty == true, "nothing was sampled before")
        write("b")
        host.run(seconds: 1)
        write("z")
        host.run(seconds: 1)
        #expect(host.headset.sessions?.sessions.first?.ended != nil)
        write("Z")
        host.run(seconds: 1)
        #expect(host.headset.sessions?.sessions.count == 2)
        // Told twice, it forgets that it has sampled; a start ends the measurement, too.
        write("z")
        write("z")
        write("Z")
        host.run(seconds: 1)
        #expect(host.headset.sessions?.sessions.last?.ended != nil)
        write("z")
        write("b")
        let known = host.items.count { if case .impedance = $0 { true } else { false } }
        host.run(seconds: 2)
        #expect(host.items.count { if case .impedance = $0 { true } else { false } } == known)
        #expect(host.headset.sessions?.sessions.last?.ended == nil)
    }

    @Test("Stops when its link ends, and begins to count anew after the next start")
    func reconnect() {
        var host = HostedHeadset(.ganglion(), profile: GanglionProfile())
        host.start()
        host.run(seconds: 5)
        host.bench.central.request(.cancelPeripheralConnection(host.headset.identifier, attempt: Attempt(number: 600)))
        host.run(seconds: 3)
        #expect(host.headset.sessions?.sessions.first?.ended != nil)
        host.start()
        host.run(seconds: 1)
        #expect(host.headset.sessions?.sessions.count == 2)
        #expect(host.blocks.filter { $0.block.stream == GanglionProfile.eeg && $0.block.counter == 0 }.count > 5)
    }
}
