import Bluetooth
package import Headsets

/// What a simulated Explore is like.
package struct ExploreSpecification: Hashable, Sendable {
    /// Channels of EEG: 4, 8, 16 or 32.
    package var channelCount: Int
    /// Through which characteristics it sends.
    package var service: ExploreService
    /// Its clock at power-on, in 1/100,000 s.
    package var firstTicks: UInt64
    /// By how much its crystal is fast, in parts per million.
    package var crystalErrorPPM: Double

    /// Creates a specification.
    package init(
        channelCount: Int = 8, service: ExploreService = .explorePro, firstTicks: UInt64 = 12_345, crystalErrorPPM: Double = 0
    ) {
        self.channelCount = channelCount
        self.service = service
        self.firstTicks = firstTicks
        self.crystalErrorPPM = crystalErrorPPM
    }

    /// The kind of its packets of EEG.
    var kind: ExplorePacket.Kind {
        switch channelCount {
        case ...4: .eeg4
        case ...8: .eeg8BLE
        case ...16: .eeg16BLE
        default: .eeg32BLE
        }
    }

    /// Instants in a packet of EEG.
    var instantsPerPacket: Int64 { kind == .eeg4 ? 33 : 1 }
}

/// The firmware of an Explore: packets while somebody listens; answers to commands; no memory over the air.
final class ExploreHeadset: PeripheralBehaviour, SessionHeadset {
    /// The most bytes of a notification.
    private static let notificationLength = 244

    private unowned let headset: SimulatedHeadset
    private let specification: ExploreSpecification
    private let interval: Int64
    private var record = SessionRecord()
    private var samplingFrequency = 250.0
    private var booted: Int64 = 0
    /// By session: ticks between two samples of EEG.
    private var periods: [UInt64] = []
    private var answers: [ExplorePacket] = []
    private var nextMotion: Int64 = 0
    private var nextEnvironment: Int64 = 0
    /// The clock at the next trigger.
    private var nextTrigger: UInt64 = 0

    init(_ specification: ExploreSpecification, headset: SimulatedHeadset) {
        self.specification = specification
        self.headset = headset
        interval = headset.specification.connectionInterval.nanoseconds
    }

    var isStreaming: Bool { record.isSampling }
    var sessions: [SampleSession] { record.sessions }

    func boot(at time: Int64) {
        record.stop(at: time)
        samplingFrequency = 250
        booted = time
    }

    func shutDown(at time: Int64) { record.stop(at: time) }

    func linkChanged(at time: Int64) {
        let isHeard = headset.isNotifying(specification.service.data)
        if isHeard == record.isSampling { return }
        answers.removeAll()
        if isHeard {
            start(at: time)
        } else {
            record.stop(at: time)
        }
        headset.scheduleTick(at: isHeard ? time + interval : nil)
    }

    /// Ticks from one trigger to the next: 3 s and some, so that they fall anywhere between two samples.
    static let triggerPeriod: UInt64 = 300_123

    /// Nanoseconds of a tick.
    private static let tickNanoseconds: Int64 = 10_000

    /// The headset's time since it was switched on, in nanoseconds.
    private func elapsed(at time: Int64) -> Int64 {
        headset.headsetTime(at: max(time, booted)) - headset.headsetTime(at: booted)
    }

    private func ticks(at time: Int64) -> UInt64 {
        specification.firstTicks + UInt64(elapsed(at: time) / Self.tickNanoseconds)
    }

    /// Each stream goes on at the next multiple of its period on the headset's clock.
    private func start(at time: Int64) {
        let now = ticks(at: time)
        let period = UInt64(ExplorePacket.tickFrequency / samplingFrequency)
        func first(_ period: UInt64) -> Int64 { Int64((now + period - 1) / period) }
        let banks = (specification.channelCount + 7) / 8
        let (motion, environment) = (first(5000), first(100_000))
        func delay(_ first: Int64, _ period: UInt64) -> Int64 {
            (first * Int64(period) - Int64(specification.firstTicks)) * Self.tickNanoseconds - elapsed(at: time)
        }
        periods.append(period)
        nextMotion = 0
        nextEnvironment = 0
        nextTrigger = (now / Self.triggerPeriod + 1) * Self.triggerPeriod
        record.start(
            at: time,
            firstIndexes: [motion, motion, motion, environment] + (0..<banks).map { _ in first(period) },
            samplingFrequencies: [20, 20, 20, 1] + (0..<banks).map { _ in samplingFrequency },
            crystal: headset.specification.crystal,
            delays: (0..<3).map { _ in delay(motion, 5000) } + [delay(environment, 100_000)]
                + (0..<banks).map { _ in delay(first(period), period) })
        answers.append(information(at: now))
    }

    // MARK: Commands

    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError? {
        guard characteristic == specification.service.command, value.count == 14, value[0] == 0xA0,
            value.suffix(4) == [0xAF, 0xBE, 0xAD, 0xDE]
        else { return nil }
        let now = ticks(at: time)
        let reference = [value[8]] + value[4..<8]
        answers.append(ExplorePacket(kind: .commandReceived, ticks: now, content: reference))
        let isObeyed = (0xA6...0xA7).contains(value[8]) || (value[8] == 0xA1 && (1...7).contains(value[9]))
        answers.append(ExplorePacket(kind: .commandStatus, ticks: now, content: reference + [isObeyed ? 1 : 0]))
        if value[8] == 0xA1, isObeyed {
            samplingFrequency = 250 * Double(1 << Int(value[9] - 1))
            if record.isSampling { start(at: time) }
        }
        headset.scheduleTick(at: time + interval)
        return nil
    }

    private func information(at ticks: UInt64) -> ExplorePacket {
        var content = Array("PCB_303_801E_XX".utf8) + [0]
        content += [0xC2, 0x02, frequencyCode, 0xFF, 1, 0x14]
        return ExplorePacket(kind: .deviceInformationBLE, ticks: ticks, content: content)
    }

    private var frequencyCode: UInt8 { UInt8((16_000 / Int(samplingFrequency)).trailingZeroBitCount) }

    // MARK: Sending

    func tick(at time: Int64) -> Int64? {
        guard headset.isNotifying(specification.service.data) else { return nil }
        var packets = answers
        answers.removeAll()
        if let session = record.sessions.last, record.isSampling {
            let step = specification.instantsPerPacket
            let due = record.takeDue(at: time, backlog: 64 * step, step: step, stream: ExploreProfile.eeg)
            for position in stride(from: due.lowerBound, to: due.upperBound, by: Int(step)) {
                packets.append(eegPacket(position, session))
            }
            let now = MonotonicTime(nanoseconds: time)
            nextMotion = max(nextMotion, session.position(at: now, stream: 0) - 8)
            while nextMotion < session.position(at: now, stream: 0) {
                packets.append(motionPacket(nextMotion, session))
                nextMotion += 1
            }
            nextEnvironment = max(nextEnvironment, session.position(at: now, stream: 3) - 1)
            while nextEnvironment < session.position(at: now, stream: 3) {
                packets.append(environmentPacket(nextEnvironment, session))
                nextEnvironment += 1
            }
            packets += triggers(upTo: ticks(at: time))
        }
        send(packets)
        return time + interval
    }

    /// As many whole packets in a notification as fit; a longer one takes several.
    private func send(_ packets: [ExplorePacket]) {
        var bytes: [UInt8] = []
        func flush() {
            for start in stride(from: 0, to: bytes.count, by: Self.notificationLength) {
                let piece = bytes[start..<min(bytes.count, start + Self.notificationLength)]
                headset.notify(Array(piece), from: specification.service.data)
            }
            bytes.removeAll()
        }
        for packet in packets {
            let encoded = packet.encoded()
            if bytes.count + encoded.count > Self.notificationLength { flush() }
            bytes += encoded
        }
        flush()
    }

    private func eegPacket(_ position: Int64, _ session: SampleSession) -> ExplorePacket {
        let channels = 0..<specification.channelCount
        let number = record.number
        let ticks = UInt64(session.firstIndexes[ExploreProfile.eeg] + position) * periods[number]
        let instants = (0..<specification.instantsPerPacket).map { offset in
            channels.map { eeg(number, $0 / 8, $0 % 8, position + offset) }
        }
        let content =
            specification.kind == .eeg4
            ? ExplorePacket.content(ofInstants: instants, frequencyCode: frequencyCode)
            : ExplorePacket.content(ofInstant: instants[0])
        return ExplorePacket(kind: specification.kind, ticks: ticks, content: content)
    }

    private func motionPacket(_ position: Int64, _ session: SampleSession) -> ExplorePacket {
        var content: [UInt8] = []
        for stream in 0..<3 {
            for axis in 0..<3 {
                let bits = UInt16(bitPattern: Int16(motion(record.number, stream, axis, position)))
                content += [UInt8(truncatingIfNeeded: bits), UInt8(bits >> 8)]
            }
        }
        let ticks = UInt64(session.firstIndexes[0] + position) * 5000
        return ExplorePacket(kind: .orientation, ticks: ticks, content: content)
    }

    /// 29 °C, 131 steps of light, 2224 steps of battery: as in explorepy's test file.
    private static let environment: [Int32] = [29, 131, 2224]

    private func environmentPacket(_ position: Int64, _ session: SampleSession) -> ExplorePacket {
        let ticks = UInt64(session.firstIndexes[3] + position) * 100_000
        return ExplorePacket(kind: .environment, ticks: ticks, content: [29, 131, 0, 0xB0, 0x08])
    }

    /// Triggers are sent some time after they have come, with the time at which they came.
    private func triggers(upTo now: UInt64) -> [ExplorePacket] {
        var packets: [ExplorePacket] = []
        while nextTrigger <= now {
            var content: [UInt8] = []
            content.append(littleEndian: UInt32(truncatingIfNeeded: nextTrigger))
            let code = UInt16(truncatingIfNeeded: nextTrigger / Self.triggerPeriod)
            content += [UInt8(truncatingIfNeeded: code), UInt8(code >> 8), 0, 0]
            packets.append(ExplorePacket(kind: .triggerIn, ticks: now, content: content))
            nextTrigger += Self.triggerPeriod
        }
        return packets
    }

    // MARK: The signal

    private func eeg(_ session: Int, _ bank: Int, _ channel: Int, _ position: Int64) -> Int32 {
        SimulatedSignal.value(
            seed: headset.world.seed, boot: UInt32(session), stream: ExploreProfile.eeg + bank, channel: channel,
            index: UInt32(truncatingIfNeeded: position)) / 2
    }

    private func motion(_ session: Int, _ stream: Int, _ axis: Int, _ position: Int64) -> Int32 {
        let value = SimulatedSignal.value(
            seed: headset.world.seed, boot: UInt32(session), stream: stream, channel: axis,
            index: UInt32(truncatingIfNeeded: position))
        return max(-0x8000, min(0x7FFF, value >> 6))
    }

    func sent(session: Int, stream: Int, channel: Int, position: Int64) -> Int32? {
        switch stream {
        case ..<ExploreProfile.environment: motion(session, stream, channel, position)
        case ExploreProfile.environment: Self.environment[channel]
        default: eeg(session, stream - ExploreProfile.eeg, channel, position)
        }
    }
}

extension HeadsetSpecification {
    /// A Mentalab Explore: no memory over the air, no serial number.
    ///
    /// - Parameters:
    ///   - number: which headset of the model, from 1.
    ///   - specification: its channels, characteristics, clock and crystal.
    package static func explore(
        number: Int = 1, _ specification: ExploreSpecification = ExploreSpecification()
    ) -> HeadsetSpecification {
        var headset = HeadsetSpecification(
            localName: "Explore_\(String(0xA000 + number, radix: 16, uppercase: true))",
            identifier: address(number: 0x500 + number),
            serviceUUIDs: specification.service == .explorePro ? [specification.service.service] : [],
            database: GATTDatabase(characteristics: specification.service.characteristics),
            firmware: { ExploreHeadset(specification, headset: $0) })
        headset.connectionInterval = .milliseconds(20)
        headset.crystal = Crystal(errorPPM: specification.crystalErrorPPM)
        return headset
    }
}

extension SimulatedModel {
    static let explore = SimulatedModel(
        profile: ExploreProfile(), make: { .explore(number: $0) },
        varieties: [
            Variety(name: "explore") { .explore(ExploreSpecification(crystalErrorPPM: $0)) },
            Variety(name: "explore32", hasOtherStreams: true) {
                .explore(ExploreSpecification(channelCount: 32, crystalErrorPPM: $0))
            },
        ],
        share: .pooled, sendsBeforeItIsReady: true)
}
