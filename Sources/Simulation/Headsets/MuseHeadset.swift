import Bluetooth
import Headsets

/// What a simulated Muse is like.
package struct MuseSpecification: Hashable, Sendable {
    /// Which Muse it is.
    package enum Model: String, Hashable, Sendable, CaseIterable {
        /// Without optical channels.
        case muse2016
        /// With optical channels; a Muse S is like it.
        case muse2
        /// Multiplexed packets, 8 channels of EEG and 16 of optics.
        case museSAthena
    }

    /// Which Muse it is.
    package var muse: Model
    /// By how much its crystal is fast, in parts per million.
    package var crystalErrorPPM: Double
    /// True where it is switched on in its bootloader, until it is reset.
    package var startsInBootloader = false
    /// True where it shows its control characteristic alone after it was switched on, until a command came and the link ended.
    package var startsWithControlOnly = false

    /// Creates a specification.
    package init(_ muse: Model = .muse2, crystalErrorPPM: Double = 0) {
        self.muse = muse
        self.crystalErrorPPM = crystalErrorPPM
    }
}

/// The firmware of a Muse: samples from `d` to `h` or the end of the link, each channel of the EEG in packets of its own.
final class MuseHeadset: PeripheralBehaviour, SessionHeadset {
    private(set) var sessions: [SampleSession] = []

    unowned let headset: SimulatedHeadset
    let specification: MuseSpecification
    private let interval: Int64
    private var replies: MuseReplyQueue
    private var isSampling = false
    private var isInBootloader = false
    private var showsControlOnly = false
    /// True once a command came while only the control characteristic was visible.
    private var hasHeardCommand = false
    private var preset: UInt8 = 0x21
    /// By stream: the number of the next packet of the session.
    var nextPackets: [Int64] = []
    /// True after the first of the two commands that start an Athena.
    private var isStartPending = false
    /// An Athena's number of the next packet.
    var nextIndex: UInt16 = 0
    private(set) var bootTime: Int64 = 0
    private var nextTelemetry: Int64 = 0
    private var telemetryCount: UInt16 = 0
    private var lastKeepAlive: Int64 = 0
    private var bootCount = 0

    /// The instants of a packet, or of an Athena's block, by stream.
    let instantsPerPacket: [Int64]
    /// The index of an Athena's stream of reference electrodes: behind two banks of optics.
    static let reference = MuseAthenaProfile.optics + 2
    /// Packets of a stream that the radio holds back; older ones are gone.
    private static let backlog: Int64 = 16
    /// In this order the packets of one instant come.
    private static let channelOrder = [4, 3, 2, 0, 1]
    /// Streams end by themselves some time after the last keep-alive.
    private static let patience: Int64 = 12 * 60 * 1_000_000_000

    init(_ specification: MuseSpecification, headset: SimulatedHeadset) {
        self.specification = specification
        self.headset = headset
        replies = MuseReplyQueue(
            name: headset.specification.localName, serialNumber: headset.specification.serialNumber ?? "")
        interval = headset.specification.connectionInterval.nanoseconds
        instantsPerPacket = headset.specification.indexesPerPacket
    }

    var isStreaming: Bool { isSampling }

    var database: GATTDatabase? {
        guard showsControlOnly else { return nil }
        let all = headset.specification.database.characteristics
        return GATTDatabase(characteristics: all.filter { $0.uuid == MuseService.control })
    }

    // MARK: Power and link

    func boot(at time: Int64) {
        stop(at: time)
        if bootCount == 0 {
            isInBootloader = specification.startsInBootloader
            showsControlOnly = specification.startsWithControlOnly
        }
        bootCount += 1
        bootTime = time
        preset = 0x21
        replies.clear()
    }

    func shutDown(at time: Int64) { stop(at: time) }

    func linkChanged(at time: Int64) {
        guard headset.link == nil else { return }
        stop(at: time)
        replies.clear()
        if showsControlOnly, hasHeardCommand {
            showsControlOnly = false
            headset.servicesAreUnknown = true
        }
        headset.scheduleTick(at: nil)
    }

    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError? {
        guard characteristic == MuseService.control, let text = MuseCommand.text(of: value) else { return nil }
        hasHeardCommand = true
        perform(text, at: time)
        headset.scheduleTick(at: time + interval)
        return nil
    }

    private func perform(_ text: String, at time: Int64) {
        switch text {
        case "v1", "v4", "v6": replies.addVersion(isInBootloader: isInBootloader)
        case "*1":
            isInBootloader = false
            headset.world.reboot(headset)
        case _ where isInBootloader: replies.add("{\"rc\":1}")
        case "s":
            if headset.world.strikes(.statusUnanswered, headset: headset.number) { return }
            replies.addStatus(preset: preset)
        case "h":
            stop(at: time)
            replies.add("{\"rc\":0}")
        case "dc001" where specification.muse == .museSAthena:
            if isStartPending { start(at: time) }
            isStartPending.toggle()
            replies.add("{\"rc\":0}")
        case "L0", "L1": replies.add("{\"rc\":0}")
        case "d" where specification.muse != .museSAthena:
            if !showsControlOnly { start(at: time) }
            replies.add("{\"rc\":0}")
        case "k":
            lastKeepAlive = time
            replies.add("{\"rc\":0}")
        case _ where text.hasPrefix("p"):
            if let number = UInt16(text.dropFirst(), radix: 16) {
                preset = UInt8(truncatingIfNeeded: number)
                replies.add("{\"rc\":0}")
            } else {
                replies.add("{\"rc\":1}")
            }
        default: replies.add("{\"rc\":1}")
        }
    }

    private func start(at time: Int64) {
        stop(at: time)
        isSampling = true
        nextPackets = instantsPerPacket.map { _ in 0 }
        nextTelemetry = time
        lastKeepAlive = time
        var generator = SeededGenerator(
            seed: headset.world.seed, purpose: 0x305E ^ UInt64(headset.number) << 16 ^ UInt64(sessions.count) << 32)
        // Some sessions begin shortly before the number of the packets wraps.
        let first = Int64(generator.next() % 2 == 0 ? generator.below(1000) : 65_535 - generator.below(1000))
        var session = SampleSession(
            began: MonotonicTime(nanoseconds: time), firstIndexes: instantsPerPacket.map { first * $0 },
            samplingFrequencies: [256, 52, 52, 64, 64, 29.7], crystal: headset.specification.crystal)
        if headset.world.tape != nil { session.wind(to: sessions.first, headset.specification) }
        sessions.append(session)
    }

    private func stop(at time: Int64) {
        if isSampling { sessions[sessions.count - 1].ended = MonotonicTime(nanoseconds: time) }
        isSampling = false
    }

    // MARK: Sending

    func tick(at time: Int64) -> Int64? {
        guard headset.link != nil else { return nil }
        while let fragment = replies.next() { headset.notify(fragment, from: MuseService.control) }
        guard isSampling, let session = sessions.last else { return nil }
        if time - lastKeepAlive > Self.patience {
            headset.world.closeLink(headset, error: .peripheralDisconnected)
            return nil
        }
        if specification.muse == .museSAthena {
            sendMultiplexed(session, at: time)
            return time + interval
        }
        for stream in instantsPerPacket.indices where stream != MuseProfile.ppg || specification.muse == .muse2 {
            for packet in due(stream, session, at: time) { send(stream, packet, session) }
        }
        if isTelemetryDue(every: 10_000_000_000, at: time) { sendTelemetry() }
        return time + interval
    }

    /// The packets of a stream that are complete and were not sent.
    func due(_ stream: Int, _ session: SampleSession, at time: Int64) -> Range<Int64> {
        let end = session.position(at: MonotonicTime(nanoseconds: time), stream: stream) / instantsPerPacket[stream]
        let first = min(end, max(nextPackets[stream], end - Self.backlog))
        nextPackets[stream] = end
        return first..<end
    }

    /// True each time that a headset sends its battery by itself.
    func isTelemetryDue(every period: Int64, at time: Int64) -> Bool {
        guard time >= nextTelemetry else { return false }
        nextTelemetry = time + period
        return true
    }

    private func send(_ stream: Int, _ packet: Int64, _ session: SampleSession) {
        let count = instantsPerPacket[stream]
        let number = UInt16(truncatingIfNeeded: session.firstIndexes[stream] / count + packet)
        let header = [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
        func value(_ channel: Int, _ instant: Int64) -> UInt32 {
            UInt32(
                bitPattern: sent(
                    session: sessions.count - 1, stream: stream, channel: channel, position: packet * count + instant) ?? 0)
        }
        func isThere(_ channel: Int) -> Bool {
            headset.world.tape == nil
                || sent(session: sessions.count - 1, stream: stream, channel: channel, position: packet * count) != nil
        }
        switch stream {
        case MuseProfile.eeg:
            // What nobody has subscribed is not worth the packing.
            for channel in Self.channelOrder where headset.isNotifying(MuseService.eeg[channel]) && isThere(channel) {
                var bytes = header
                for instant in stride(from: Int64(0), to: count, by: 2) {
                    let (first, second) = (value(channel, instant), value(channel, instant + 1))
                    bytes += [first >> 4, (first & 0x0F) << 4 | second >> 8, second & 0xFF].map {
                        UInt8(truncatingIfNeeded: $0)
                    }
                }
                headset.notify(bytes, from: MuseService.eeg[channel])
            }
        case MuseProfile.ppg:
            for channel in 0..<3 where isThere(channel) {
                var bytes = header
                for instant in 0..<count {
                    bytes += [16, 8, 0].map { UInt8(truncatingIfNeeded: value(channel, instant) >> $0) }
                }
                headset.notify(bytes, from: MuseService.ppg[channel])
            }
        default:
            guard isThere(0) else { return }
            var bytes = header
            for instant in 0..<count {
                for channel in 0..<3 {
                    bytes += [8, 0].map { UInt8(truncatingIfNeeded: value(channel, instant) >> $0) }
                }
            }
            headset.notify(bytes, from: stream == MuseProfile.gyroscope ? MuseService.gyroscope : MuseService.accelerometer)
        }
    }

    private func sendTelemetry() {
        telemetryCount &+= 1
        let numbers = [telemetryCount, UInt16(MuseReplyQueue.batteryPercent * 512), 1850, 3967, 27]
        let bytes = numbers.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        let padding = [UInt8](repeating: 0, count: MuseService.packetLength - bytes.count)
        headset.notify(bytes + padding, from: MuseService.telemetry)
    }

    // MARK: The signal

    func sent(session: Int, stream: Int, channel: Int, position: Int64) -> Int32? {
        if let tape = headset.world.tape {
            return played(tape, session: session, stream: stream, channel: channel, position: position)
        }
        let index = UInt32(truncatingIfNeeded: position)
        let value = SimulatedSignal.value(
            seed: headset.world.seed, boot: UInt32(session), stream: stream, channel: channel, index: index)
        // In counts of the headset: the amplifiers of electrodes let no constant voltage through.
        func alternating(microvoltsPerCount: Double) -> Int32 {
            let common = SimulatedSignal.alternating(
                seed: headset.world.seed, boot: UInt32(session), stream: stream, channel: channel, index: index)
            return common / Int32((microvoltsPerCount / SimulatedSignal.scaleMicrovolts).rounded())
        }
        return switch stream {
        case MuseProfile.eeg where specification.muse == .museSAthena,
            Self.reference where specification.muse == .museSAthena:
            8192 + alternating(microvoltsPerCount: MuseAthenaProfile.microvoltsPerCount)
        case MuseAthenaProfile.optics... where specification.muse == .museSAthena:
            max(0, min(0xF_FFFF, 0x8_0000 + value >> 4))
        case MuseProfile.eeg: 2048 + alternating(microvoltsPerCount: MuseProfile.microvoltsPerCount)
        case MuseProfile.ppg: max(0, min(0xFF_FFFF, 0x80_0000 + value))
        default: max(-0x8000, min(0x7FFF, value >> 5))
        }
    }

    /// A packet is of one channel of electrodes or light, or of all axes.
    private func played(
        _ tape: any SignalTape, session: Int, stream: Int, channel: Int, position: Int64
    ) -> Int32? {
        let begin = sessions[session].tapePositions[stream]
        let count = instantsPerPacket[stream]
        let first = begin + position / count * count
        let channels = [MuseProfile.eeg, MuseProfile.ppg].contains(stream) ? channel..<channel + 1 : 0..<3
        guard tape.isWhole(stream: stream, channels: channels, positions: first..<first + count) else { return nil }
        return tape.value(stream: stream, channel: channel, position: begin + position)
    }
}

extension HeadsetSpecification {
    /// A Muse: no memory; sends its serial number in its status.
    ///
    /// - Parameters:
    ///   - number: which headset of the model, from 1.
    ///   - specification: which Muse, and how it was switched on.
    package static func muse(
        number: Int = 1, _ specification: MuseSpecification = MuseSpecification()
    ) -> HeadsetSpecification {
        let digits = String(0x1300 + number, radix: 16, uppercase: true)
        let notifying = MuseService.eeg + [MuseService.gyroscope, MuseService.accelerometer, MuseService.telemetry]
        let control = Characteristic(
            service: MuseService.service, uuid: MuseService.control, properties: [.writeWithoutResponse, .notify])
        let data =
            switch specification.muse {
            case .muse2016: notifying
            case .muse2: notifying + MuseService.ppg
            case .museSAthena: [MuseService.multiplexed]
            }
        var headset = HeadsetSpecification(
            localName: specification.muse == .museSAthena ? "MuseS-\(digits)" : "Muse-\(digits)",
            identifier: address(number: 0x300 + number),
            serialNumber: "2031-TZRW-\(digits)", serviceUUIDs: [MuseService.service],
            database: GATTDatabase(
                characteristics: [control]
                    + data.map {
                        Characteristic(service: MuseService.service, uuid: $0, properties: [.notify])
                    }),
            firmware: { MuseHeadset(specification, headset: $0) })
        headset.connectionInterval = .milliseconds(15)
        headset.indexesPerPacket = specification.muse == .museSAthena ? [2, 3, 3, 1, 1, 6] : [12, 3, 3, 6]
        headset.playsTapes = specification.muse != .museSAthena
        // muselsl takes the packet of AF7 for the last one of an instant.
        headset.sendsInOrder = specification.muse != .museSAthena
        return headset
    }
}

extension SimulatedModel {
    static let muse = SimulatedModel(
        profile: MuseProfile(), make: { .muse(number: $0) },
        varieties: [
            Variety(name: "muse") { .muse(MuseSpecification(crystalErrorPPM: $0)) },
            Variety(name: "muse2016") { .muse(MuseSpecification(.muse2016, crystalErrorPPM: $0)) },
            Variety(name: "athena", hasOtherStreams: true) { .muse(MuseSpecification(.museSAthena, crystalErrorPPM: $0)) },
        ],
        share: .own(oneIn: 4) { generator in
            let kinds = MuseSpecification.Model.allCases
            let kind = kinds[Int(generator.below(UInt64(kinds.count)))]
            var muse = MuseSpecification(kind, crystalErrorPPM: crystalErrorPPM(&generator))
            // Switched on in all states in which it may be.
            muse.startsInBootloader = generator.next() % 4 == 0
            muse.startsWithControlOnly = generator.next() % 4 == 0
            return .muse(muse)
        })
}
