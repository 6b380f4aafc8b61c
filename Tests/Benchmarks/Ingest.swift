import Acquisition
import Bluetooth
import Headsets
import Rehearsal
import Simulation
import Storage

/// From notifications to rows on disk: decoder, assembler, batches, one commit a second. Each headset sends 8 channels at
/// 250 Hz in notifications of 8 samples, of the simulated signal.
struct Ingest {
    /// How many headsets send at once.
    var headsets: Int
    /// How many virtual seconds they send.
    var seconds: Int
    /// 24: the simulated signal as it is; 16: without its lowest 5 bits, from a headset of 16 bits.
    var bits = 24
    /// False: no digests are written, to show what they cost.
    var keepsEvidence = true

    private static let samplesPerNotification = 8
    private static let period = Duration.milliseconds(32)

    private static func name(_ number: Int) -> String { "headset\(number)" }

    func run(path: String) throws -> Cost {
        let store = try AcquisitionStore(
            path: path, hostBoot: HostBoot(uuid: "benchmark"), options: StoreOptions(keepsEvidence: keepsEvidence))
        var options = SimulatedWorld.Options()
        options.dataNotifications = .heartbeat(.seconds(3600))
        let specifications = (1...headsets).map { HeadsetSpecification.buffered(number: $0, memory) }
        let world = SimulatedWorld(
            seed: 1, headsets: specifications, options: options, start: MonotonicTime(nanoseconds: 60_000_000_000))
        let central = FedCentral(world.makeCentral())
        var limits = AcquisitionLimits()
        limits.wishesInterval = nil
        // Named by their addresses: of several of a model in sight none is bound by chance.
        let known = zip(1..., specifications).map { number, specification in
            KnownHeadset(
                name: Self.name(number), profile: BufferedEEGProfile(), identifiers: [specification.identifier],
                identityProof: specification.serialNumber)
        }
        let driver = try VirtualDriver(
            central: central, store: store, limits: limits, seed: 1,
            lookUp: { open in known.first { $0.matches(open) } },
            readClock: VirtualDriver.rightClock(unixNanosecondsAtBoot: 1_790_000_000_000_000_000))
        try connect(driver, world: world, store: store)
        central.isFed = true
        let notifications = prepare(world)
        let ticks = seconds * 1000 / 32
        var now = world.now
        var cost = try Cost.measure {
            for tick in 0..<ticks {
                now = now + Self.period
                for headset in notifications {
                    central.fed.append(
                        .didUpdateValue(
                            BufferedEEGService.data, on: headset.identifier, value: headset.values[tick], at: now))
                }
                driver.step(at: now)
            }
            try driver.end(at: now)
            try store.close()
            return Int64(ticks * headsets * Self.samplesPerNotification)
        }
        cost.facts = [
            ("notifications", Double(ticks * headsets)), ("virtualSeconds", Double(ticks) * Self.period.inSeconds),
        ]
        return cost
    }

    private var memory: BufferedHeadsetSpecification {
        var stream = BufferedHeadsetSpecification.eeg()
        guard bits == 16 else { return BufferedHeadsetSpecification(streams: [stream]) }
        for channel in stream.channels.indices {
            stream.channels[channel].scale *= 32
            stream.channels[channel].rawMinimum = -32_768
            stream.channels[channel].rawMaximum = 32_767
        }
        return BufferedHeadsetSpecification(streams: [stream])
    }

    /// Lets every headset stream; the world sends no samples meanwhile.
    private func connect(_ driver: VirtualDriver, world: SimulatedWorld, store: AcquisitionStore) throws {
        var recordings: [RecordingID] = []
        for number in 1...headsets {
            recordings.append(
                try store.control.startRecording(
                    headset: Self.name(number), model: BufferedEEGProfile().model, label: "benchmark", subject: nil,
                    task: nil, at: world.now))
        }
        while !recordings.allSatisfy({ driver.engine.phase(of: $0)?.phase == .streaming }) {
            let next = [world.nextEventTime, driver.deadline].compactMap { $0 }.min() ?? world.now
            world.advance(to: max(next, world.now))
            driver.step(at: world.now)
            precondition(world.now.seconds < 600, "the headsets do not stream")
        }
    }

    private struct Sent {
        var identifier: PeripheralIdentifier
        var values: [[UInt8]]
    }

    /// Everything that the headsets will send.
    private func prepare(_ world: SimulatedWorld) -> [Sent] {
        world.headsets.map { headset in
            let boot = headset.buffered?.bootHistory.last?.bootIdentifier ?? 0
            let values = (0..<(seconds * 1000 / 32)).map { tick in
                let first = UInt32(10_000 + tick * Self.samplesPerNotification)
                var samples: [Int32] = []
                for instant in 0..<UInt32(Self.samplesPerNotification) {
                    for channel in 0..<8 {
                        samples.append(
                            SimulatedSignal.value(
                                seed: UInt64(headset.number), boot: boot, stream: 0, channel: channel,
                                index: first + instant) >> (bits == 16 ? 5 : 0))
                    }
                }
                let header = BufferedEEGBlock.Header(
                    isFromMemory: false, bootIdentifier: boot, stream: 0, channelCount: 8,
                    instantCount: Self.samplesPerNotification, firstIndex: first)
                return BufferedEEGBlock(header: header, values: samples).encoded()
            }
            return Sent(identifier: headset.identifier, values: values)
        }
    }
}
