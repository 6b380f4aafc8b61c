import Bluetooth
import Headsets
import Simulation
import Testing

/// The simulated Nucleus-Kit headset against the profile's own decoder.
struct HermesHeadsetTests {
    private static let eegData = HermesService.eegData

    private static func counters(_ host: HostedHeadset) -> [Int] {
        host.notifications.filter { $0.characteristic == eegData }.compactMap { $0.value.first.map(Int.init) }
    }

    @Test("Sends 25 packets and 50 samples of motion a second, which decode to what it sampled")
    func streams() {
        var host = HostedHeadset(.hermes(), profile: HermesProfile())
        host.start()
        host.run(seconds: 30)
        let sampled = host.instantCount(stream: HermesProfile.eeg)
        #expect(abs(sampled - 31 * 250) < 300, "\(sampled) samples")
        for stream in HermesProfile.accelerometer...HermesProfile.magnetometer {
            #expect(abs(host.instantCount(stream: stream) * 5 - sampled) < 60)
        }
        #expect(host.firstWrong() == nil)
        let counters = Self.counters(host)
        #expect(counters.max() == 127)
        let isUnbroken = zip(counters, counters.dropFirst()).allSatisfy { last, next in (last + 1) % 128 == next }
        #expect(isUnbroken)
    }

    @Test("Is told to measure EEG once: it keeps the command from link to link, and forgets it with its power")
    func status() {
        var host = HostedHeadset(.hermes(), profile: HermesProfile())
        host.start()
        #expect(host.statuses.map(\.condition) == [.idle])
        host.bench.central.request(.cancelPeripheralConnection(host.headset.identifier, attempt: Attempt(number: 600)))
        host.run(seconds: 3)
        host.connect()
        host.perform(.queryStatus)
        #expect(host.statuses.map(\.condition) == [.idle, .streaming])
    }

    @Test("Samples only while somebody listens; its counter stands still meanwhile and then goes on")
    func reconnect() {
        var host = HostedHeadset(.hermes(), profile: HermesProfile())
        host.start()
        host.run(seconds: 4)
        let last = Self.counters(host).last
        host.bench.central.request(.cancelPeripheralConnection(host.headset.identifier, attempt: Attempt(number: 600)))
        host.run(seconds: 10)
        let count = Self.counters(host).count
        #expect(host.headset.sessions?.sessions.first?.ended != nil)
        host.start()
        host.run(seconds: 1)
        let next = Self.counters(host).dropFirst(count).first
        let step = last.flatMap { last in next.map { ($0 - last + 128) % 128 } } ?? 128
        #expect((1...3).contains(step), "\(step) packets on after 10 s")
    }

    @Test("Holds packets back while the radio is silent, and drops 30 where it had to hold more")
    func held() {
        for (milliseconds, lost) in [(1000, 0), (1500, 30)] {
            let silence = ScriptedFault(
                at: .boot + .seconds(12), .silence, for: .milliseconds(milliseconds))
            var host = HostedHeadset(.hermes(), profile: HermesProfile(), script: [silence])
            host.start()
            host.run(seconds: 20)
            let counters = Self.counters(host)
            var missing: [Int] = []
            for (last, next) in zip(counters, counters.dropFirst()) where (last + 1) % 128 != next {
                missing.append((next - last + 127) % 128)
            }
            #expect(missing == (lost == 0 ? [] : [lost]), "after \(milliseconds) ms")
            #expect(host.firstWrong(stream: HermesProfile.eeg) == nil)
        }
    }

    @Test("Tells of a button now and then")
    func buttons() {
        var host = HostedHeadset(.hermes(), profile: HermesProfile())
        host.start()
        host.run(seconds: 40)
        let events = host.items.compactMap { if case .event(let event) = $0 { event } else { nil } }
        #expect(events.count == 2)
        #expect(events.allSatisfy { $0.description.hasPrefix("Button ") && $0.sample?.counter != nil && $0.code != nil })
    }

    @Test("Is silent after a register was written, until it is started or a mode is chosen")
    func registers() {
        var host = HostedHeadset(.hermes(), profile: HermesProfile())
        host.start()
        for (command, streams) in [
            (HermesCommand.write(HermesRegister(address: 5, value: 0x60)), false), (.start, true), (.stop, false),
            (.mode(.eeg), true),
        ] {
            host.bench.central.request(
                .writeValue(
                    command.encoded, to: HermesService.configuration, type: .withoutResponse, on: host.headset.identifier,
                    attempt: Attempt(number: 700)))
            host.run(seconds: 1)
            let before = Self.counters(host).count
            host.run(seconds: 2)
            #expect((Self.counters(host).count > before) == streams, "\(command)")
        }
    }
}
