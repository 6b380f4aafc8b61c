import Bluetooth
import Headsets

/// What a simulated Nucleus-Kit headset (Hermes V1) is like.
package struct HermesSpecification: Hashable, Sendable {
    /// By how much its crystal is fast, in parts per million.
    package var crystalErrorPPM: Double

    /// Creates a specification.
    package init(crystalErrorPPM: Double = 0) {
        self.crystalErrorPPM = crystalErrorPPM
    }
}

/// The firmware of a Nucleus-Kit headset: it samples while the notifications of EEG are switched on.
///
/// The packet counter, a packet that is half full and packets that wait for the radio outlive the link, as in the published
/// firmware; what was held back is sent first on the next link.
final class HermesHeadset: PeripheralBehaviour, SessionHeadset {
    private(set) var sessions: [SampleSession] = []

    private unowned let headset: SimulatedHeadset
    private let specification: HermesSpecification
    private let interval: Int64
    /// The boot of each session.
    private var boots: [UInt32] = []
    private var bootCount: UInt32 = 0
    /// The last command; empty after power-on.
    private var held: [UInt8] = []
    /// The gain of each channel, and those of each session.
    private var gains = HermesHeadset.usualGains
    private var sessionGains: [[Double]] = []
    /// False while the converter's output is stopped.
    private var isConverting = true
    private var isSampling = false
    /// Samples that were taken since power-on, up to the present session.
    private var taken: Int64 = 0
    /// The first packet that was not sent, and the number of packets that are full, since power-on.
    private var (nextPacket, fullPackets): (Int64, Int64) = (0, 0)
    /// The first sample of motion that was not sent.
    private var nextMotion: Int64 = 0
    private var nextPress: Int64 = 0

    /// A person presses a button so often.
    private static let pressPeriod: Int64 = 17_000_000_000
    private static let usualGains = [Double](repeating: 12, count: HermesProfile.channelCount)
    private static let instants = Int64(HermesService.samplesPerPacket)

    init(_ specification: HermesSpecification, headset: SimulatedHeadset) {
        self.specification = specification
        self.headset = headset
        interval = headset.specification.connectionInterval.nanoseconds
    }

    var isStreaming: Bool { isSampling }

    // MARK: Power and link

    func boot(at time: Int64) {
        stop(at: time)
        bootCount += 1
        held = []
        gains = Self.usualGains
        isConverting = true
        taken = 0
        (nextPacket, fullPackets) = (0, 0)
    }

    func shutDown(at time: Int64) { stop(at: time) }

    func linkChanged(at time: Int64) {
        let isWanted = isConverting && headset.isNotifying(HermesService.eegData)
        if isWanted, !isSampling { start(at: time) }
        if !isWanted, isSampling { stop(at: time) }
        headset.scheduleTick(at: headset.link == nil ? nil : time + interval)
    }

    func read(_ characteristic: BluetoothUUID, at time: Int64) -> [UInt8]? {
        characteristic == HermesService.configuration ? held : nil
    }

    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError? {
        guard characteristic == HermesService.configuration else { return .writeNotPermitted }
        guard value.count <= 4 else { return .invalidAttributeValueLength }
        held = value
        switch (value.first, value.count > 1 ? value[1] : nil) {
        // A register is written with the output stopped, and nothing starts it again.
        case (1, 0), (2, 1): isConverting = false
        case (1, 1), (3, _): isConverting = true
        default: break
        }
        if value.first == 3 { gains = Self.usualGains }
        if value.count == 4, value[0] == 2, (HermesRegister.channel1..<HermesRegister.channel1 + 8).contains(value[2]) {
            gains[Int(value[2] - HermesRegister.channel1)] = HermesRegister.gain(channelSetting: value[3]) ?? 12
        }
        linkChanged(at: time)
        return nil
    }

    private func start(at time: Int64) {
        isSampling = true
        nextMotion = 0
        nextPress = time + Self.pressPeriod
        let motion = HermesProfile.motionFrequency
        boots.append(bootCount)
        sessionGains.append(gains)
        var session = SampleSession(
            began: MonotonicTime(nanoseconds: time), firstIndexes: [taken, 0, 0, 0],
            samplingFrequencies: [250, motion, motion, motion], crystal: headset.specification.crystal)
        if headset.world.tape != nil { session.wind(to: sessions.first, headset.specification) }
        sessions.append(session)
    }

    private func stop(at time: Int64) {
        guard isSampling, let session = sessions.last else { return }
        isSampling = false
        taken = session.firstIndexes[0] + session.position(at: MonotonicTime(nanoseconds: time), stream: 0)
        sessions[sessions.count - 1].ended = MonotonicTime(nanoseconds: time)
    }

    // MARK: Sending

    func tick(at time: Int64) -> Int64? {
        guard headset.link != nil else { return nil }
        if isSampling, let session = sessions.last {
            let now = MonotonicTime(nanoseconds: time)
            sendPackets(upTo: session.firstIndexes[0] + session.position(at: now, stream: 0))
            sendMotion(upTo: session.position(at: now, stream: HermesProfile.accelerometer))
            if time >= nextPress {
                nextPress += Self.pressPeriod
                let counter = fullPackets % Int64(HermesService.counterModulus)
                headset.notify([1, UInt8(1 + nextPress / Self.pressPeriod % 2), UInt8(counter)], from: HermesService.eventData)
            }
        }
        return time + interval
    }

    /// Each packet that becomes full lets one be sent: what has waited once goes on waiting. A ring that has filled up looks
    /// empty.
    private func sendPackets(upTo end: Int64) {
        while (fullPackets + 1) * Self.instants <= end {
            fullPackets += 1
            if fullPackets - nextPacket == Int64(HermesService.heldPackets) { nextPacket = fullPackets }
            guard headset.isHeard, nextPacket < fullPackets else { continue }
            if let packet = packet(nextPacket) { headset.notify(packet, from: HermesService.eegData) }
            nextPacket += 1
        }
    }

    /// The packet of a number; nil where a tape does not hold all of it.
    private func packet(_ number: Int64) -> [UInt8]? {
        var bytes = [UInt8(number % Int64(HermesService.counterModulus))]
        for index in (number * Self.instants)..<((number + 1) * Self.instants) {
            for channel in 0..<HermesProfile.channelCount {
                guard let value = value(ofIndex: index, channel) else { return nil }
                for shift in [16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: value >> Int32(shift))) }
            }
        }
        return bytes
    }

    /// The sensors are read by a timer; what the radio does not carry is gone.
    private func sendMotion(upTo end: Int64) {
        nextMotion = max(nextMotion, end - 4)
        while nextMotion < end {
            let values = (HermesProfile.accelerometer...HermesProfile.magnetometer).flatMap { stream in
                (0..<3).compactMap { sent(session: sessions.count - 1, stream: stream, channel: $0, position: nextMotion) }
            }
            nextMotion += 1
            guard values.count == 9 else { continue }
            let bytes = values.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
            headset.notify(bytes, from: HermesService.motionData)
        }
    }

    // MARK: The signal

    private func value(boot: UInt32, gains: [Double], stream: Int, _ channel: Int, _ index: Int64) -> Int32 {
        let value = SimulatedSignal.value(
            seed: headset.world.seed, boot: boot, stream: stream, channel: channel,
            index: UInt32(truncatingIfNeeded: index))
        // Motion has 16 bits; a count of the common signal is one at gain 24.
        guard stream == HermesProfile.eeg else { return max(-0x8000, min(0x7FFF, value >> 5)) }
        return max(-0x80_0000, min(0x7F_FFFF, Int32((Double(value) * gains[channel] / 24).rounded(.towardZero))))
    }

    func sent(session: Int, stream: Int, channel: Int, position: Int64) -> Int32? {
        if let tape = headset.world.tape {
            return played(tape, sessions[session], stream: stream, channel: channel, position: position)
        }
        return value(
            boot: boots[session], gains: sessionGains[session], stream: stream, channel,
            sessions[session].firstIndexes[stream] + position)
    }

    /// An index since power-on belongs to the session in which it was taken: a packet may have begun in an earlier one.
    private func value(ofIndex index: Int64, _ channel: Int) -> Int32? {
        guard headset.world.tape != nil else {
            return value(boot: bootCount, gains: gains, stream: HermesProfile.eeg, channel, index)
        }
        let found = sessions.indices.last { boots[$0] == bootCount && sessions[$0].firstIndexes[HermesProfile.eeg] <= index }
        return found.flatMap { session in
            sent(
                session: session, stream: HermesProfile.eeg, channel: channel,
                position: index - sessions[session].firstIndexes[HermesProfile.eeg])
        }
    }

    /// Of a packet that has begun in an earlier session, this looks at what is of this one.
    private func played(
        _ tape: any SignalTape, _ session: SampleSession, stream: Int, channel: Int, position: Int64
    ) -> Int32? {
        func at(_ stream: Int, _ position: Int64) -> Int64 { session.tapePositions[stream] + position }
        if stream == HermesProfile.eeg {
            let first = position - (session.firstIndexes[stream] + position) % Self.instants
            let positions = at(stream, max(0, first))..<at(stream, first + Self.instants)
            guard tape.isWhole(stream: stream, channels: 0..<HermesProfile.channelCount, positions: positions) else {
                return nil
            }
        } else {
            let isWhole = (HermesProfile.accelerometer...HermesProfile.magnetometer).allSatisfy { stream in
                tape.isWhole(stream: stream, channels: 0..<3, positions: at(stream, position)..<at(stream, position) + 1)
            }
            if !isWhole { return nil }
        }
        return tape.value(stream: stream, channel: channel, position: at(stream, position))
    }
}

extension HeadsetSpecification {
    /// A Nucleus-Kit headset: found by its name alone, no memory, no serial number; its packets are numbered modulo 128.
    ///
    /// - Parameters:
    ///   - number: which headset of the model, from 1.
    ///   - specification: its crystal.
    package static func hermes(
        number: Int = 1, _ specification: HermesSpecification = HermesSpecification()
    ) -> HeadsetSpecification {
        var headset = HeadsetSpecification(
            localName: "Hermes V1",
            identifier: PeripheralIdentifier(address: 0x0080_E126_0000 + UInt64(number), type: .public), serviceUUIDs: [],
            database: GATTDatabase(characteristics: HermesService.characteristics),
            firmware: { HermesHeadset(specification, headset: $0) })
        headset.connectionInterval = .milliseconds(30)
        headset.indexesPerPacket = [Int64(HermesService.samplesPerPacket), 1, 1, 1]
        headset.playsTapes = true
        // Up to a whole ring of packets, 40 ms each: nothing in them shows it, and the page Hermes says so.
        headset.heldBackMaximum = .milliseconds(40) * HermesService.heldPackets
        headset.crystal = Crystal(errorPPM: specification.crystalErrorPPM)
        return headset
    }
}

extension SimulatedModel {
    static let hermes = SimulatedModel(
        profile: HermesProfile(), make: { .hermes(number: $0) },
        varieties: [Variety(name: "hermes") { .hermes(HermesSpecification(crystalErrorPPM: $0)) }],
        share: .own(oneIn: 4) { .hermes(HermesSpecification(crystalErrorPPM: crystalErrorPPM(&$0))) })
}
