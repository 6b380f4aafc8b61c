import Bluetooth
import Headsets
import Simulation
import Testing

/// Everything at once, for hours, with a host that never gives up.
struct StormTests {
    private func world(seed: UInt64, faults: FaultProbabilities = .storm) -> SimulatedWorld {
        var options = SimulatedWorld.Options()
        options.dataNotifications = .heartbeat(.seconds(1))
        var buffered = BufferedHeadsetSpecification(capacity: 2000)
        buffered.firstIndex = .max - 40_000
        var headset = HeadsetSpecification.buffered(buffered)
        headset.usesPrivateAddress = true
        return SimulatedWorld(seed: seed, headsets: [headset], faults: faults, options: options)
    }

    @Test("The same seed gives the same events, another seed gives others")
    func determinism() {
        let digests = [UInt64(1), 1, 2].map { seed in
            let host = PersistentHost(world(seed: seed))
            host.run(until: .seconds(3600))
            return host.world.digest
        }
        #expect(digests[0] == digests[1])
        #expect(digests[0] != digests[2])
    }

    @Test("The generator, the signal and a run are the same on every machine")
    func goldenValues() {
        // First outputs of SplitMix64 with seed 1234567, as published with its reference implementation.
        var generator = SeededGenerator(seed: 1_234_567)
        #expect(generator.next() == 6_457_827_717_110_365_317)
        #expect(generator.next() == 3_203_168_211_198_807_973)
        #expect(generator.exponential() > 0)
    }

    @Test("In a storm every fault happens, no connect is answered twice, and after its end samples flow", arguments: 1...6)
    func storm(seed: UInt64) {
        let world = world(seed: seed)
        let host = PersistentHost(world)
        world.stopFaults(at: .seconds(4 * 3600))
        host.run(until: .seconds(4 * 3600 + 30))
        #expect(host.secondAnswers.isEmpty)
        #expect(world.contractViolations.isEmpty)
        #expect(world.now - host.lastNotification < .seconds(2))
        #expect(host.notificationCount > 1000)
        // A channel's packet can only be lost where blocks are sent.
        let missing = Fault.allCases.filter { world.injected[$0] == 0 && $0 != .lostChannelPacket }
        #expect(missing.count <= 3, "\(missing)")
        let quiet = world.injected
        host.run(until: .seconds(5 * 3600))
        for fault in Fault.allCases where fault != .bufferOverrun && fault != .counterWrap {
            #expect(world.injected[fault] == quiet[fault])
        }
    }

    @Test("With all data sent, blocks of several streams survive a storm, and channels get lost")
    func data() {
        var buffered = BufferedHeadsetSpecification(
            streams: [BufferedHeadsetSpecification.eeg(), BufferedHeadsetSpecification.accelerometer])
        buffered.splitsChannels = true
        let world = SimulatedWorld(seed: 3, headsets: [.buffered(buffered), .thinkGear()], faults: .storm)
        let host = PersistentHost(world)
        host.run(until: .seconds(300))
        #expect(host.notificationCount > 500)
        #expect(world.injected[.lostChannelPacket] > 0)
        #expect(world.injected[.duplicatedNotification] > 0)
        #expect(world.contractViolations.isEmpty)
    }

    @Test("Two headsets of one model have different serial numbers and similar names")
    func twoHeadsets() {
        let world = SimulatedWorld(seed: 1, headsets: [.buffered(number: 1), .buffered(number: 2)])
        let specifications = world.headsets.map(\.specification)
        #expect(specifications[0].serialNumber != specifications[1].serialNumber)
        #expect(specifications[0].localName.dropLast() == specifications[1].localName.dropLast())
        #expect(specifications[0].serviceUUIDs == specifications[1].serviceUUIDs)
    }
}
