import Bluetooth
package import Headsets

/// The firmware of a MindWave Mobile 2: 512 raw samples a second in packets of ten, signal quality and powers once a second;
/// sends what was started, to whoever has subscribed, until the link ends.
final class MindWaveHeadset: PeripheralBehaviour, SessionHeadset {
    private(set) var sessions: [SampleSession] = []

    /// Samples per second (NeuroSky).
    private static let samplingFrequency: Int64 = 512

    private unowned let headset: SimulatedHeadset
    private let interval: Int64
    private var (sendsRaw, sendsESense) = (false, false)
    /// The first raw sample, and the first second, that were not sent.
    private var (next, nextSecond): (Int64, Int64) = (0, 0)

    init(headset: SimulatedHeadset) {
        self.headset = headset
        interval = headset.specification.connectionInterval.nanoseconds
    }

    var isStreaming: Bool { sendsRaw }

    func shutDown(at time: Int64) {
        if !sessions.isEmpty { sessions[sessions.count - 1].ended = MonotonicTime(nanoseconds: time) }
    }

    func boot(at time: Int64) {
        sessions.append(.uncounted(at: time, samplingFrequency: Double(Self.samplingFrequency), headset))
        (sendsRaw, sendsESense) = (false, false)
    }

    func linkChanged(at time: Int64) {
        guard headset.link == nil else { return }
        (sendsRaw, sendsESense) = (false, false)
        headset.scheduleTick(at: nil)
    }

    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError? {
        guard characteristic == MindWaveService.handshake else { return .writeNotPermitted }
        guard let command = MindWaveCommand(decoding: value) else { return nil }
        switch command {
        case .startRaw:
            if !sendsRaw { next = position(at: time) }
            sendsRaw = true
        case .stopRaw: sendsRaw = false
        case .startESense:
            if !sendsESense { nextSecond = position(at: time) / Self.samplingFrequency }
            sendsESense = true
        case .stopESense: sendsESense = false
        case .notch50Hz, .notch60Hz: break
        }
        headset.scheduleTick(at: time + interval)
        return nil
    }

    func read(_ characteristic: BluetoothUUID, at time: Int64) -> [UInt8]? {
        characteristic == .modelNumberString ? Array("MindWave Mobile 2".utf8) : nil
    }

    private func position(at time: Int64) -> Int64 {
        sessions.last?.position(at: MonotonicTime(nanoseconds: time), stream: ThinkGearProfile.eeg) ?? 0
    }

    func tick(at time: Int64) -> Int64? {
        guard headset.link != nil, sendsRaw || sendsESense else { return nil }
        let end = position(at: time)
        if sendsRaw {
            // What a silent radio could not carry is gone.
            next = max(next, end - Self.samplingFrequency)
            while next + Int64(MindWaveService.samplesPerPacket) <= end {
                // The module computes powers of each 512 raw samples: they stand where the next sample belongs to the next.
                sendESense(upTo: next)
                let samples = (0..<MindWaveService.samplesPerPacket).map { raw(next + Int64($0)) }
                headset.notify(MindWavePacket.raw(samples), from: MindWaveService.raw)
                next += Int64(MindWaveService.samplesPerPacket)
            }
        }
        sendESense(upTo: sendsRaw ? next : end)
        return time + interval
    }

    /// Sends the powers of the second that ended last, if they were not sent.
    private func sendESense(upTo position: Int64) {
        guard sendsESense, position / Self.samplingFrequency > nextSecond else { return }
        nextSecond = position / Self.samplingFrequency
        sendESense(second: nextSecond)
    }

    private func sendESense(second: Int64) {
        var generator = SeededGenerator(seed: headset.world.seed, purpose: 0xEA ^ UInt64(second) << 16)
        let power = (0..<8).map { _ in UInt32(generator.below(500_000)) }
        let packets: [MindWavePacket] = [
            .esense(poorSignal: 0, attention: UInt8(generator.below(101)), meditation: UInt8(generator.below(101))),
            .lowPowers(Array(power[..<4])), .highPowers(Array(power[4...])),
        ]
        for packet in packets {
            headset.notify(packet.encoded(stale: UInt8(truncatingIfNeeded: second)), from: MindWaveService.esense)
        }
    }

    private func raw(_ position: Int64) -> Int16 {
        SimulatedSignal.moduleValue(seed: headset.world.seed, boot: UInt32(sessions.count), position: position)
    }

    func sent(session: Int, stream: Int, channel: Int, position: Int64) -> Int32? {
        guard stream == ThinkGearProfile.eeg else { return nil }
        return Int32(
            SimulatedSignal.moduleValue(seed: headset.world.seed, boot: UInt32(session + 1), position: position))
    }
}

extension HeadsetSpecification {
    /// A NeuroSky headset with Low Energy.
    ///
    /// - Parameters:
    ///   - number: which headset of the model, from 1.
    ///   - format: packets for a MindWave Mobile 2, a stream for the headset of 2013.
    package static func mindWave(
        number: Int = 1, format: MindWaveProfile.Format = .packets
    ) -> HeadsetSpecification {
        let characteristics = format == .packets ? MindWaveService.characteristics : MindWaveService.characteristics2013
        return HeadsetSpecification(
            localName: "MindWave Mobile",
            identifier: PeripheralIdentifier(address: 0x2068_9E00_0000 + UInt64(number), type: .public),
            serviceUUIDs: [MindWaveService.service], database: GATTDatabase(characteristics: characteristics),
            firmware: { headset in
                guard format == .stream else { return MindWaveHeadset(headset: headset) }
                return ThinkGearHeadset(
                    headset: headset, characteristic: MindWaveService.raw, startCommand: MindWaveCommand.start2013)
            })
    }

    /// A board with a ThinkGear module behind a radio that passes its serial port through.
    ///
    /// - Parameters:
    ///   - number: which board, from 1.
    ///   - radio: the radio.
    package static func tgam(number: Int = 1, radio: TGAMProfile.Radio = .hm10) -> HeadsetSpecification {
        var headset = HeadsetSpecification(
            localName: "BT05", identifier: PeripheralIdentifier(address: 0x2068_9F00_0000 + UInt64(number), type: .public),
            serviceUUIDs: [radio.service],
            database: GATTDatabase(characteristics: [
                Characteristic(service: radio.service, uuid: radio.data, properties: [.writeWithoutResponse, .notify])
            ]),
            firmware: { ThinkGearHeadset(headset: $0, characteristic: radio.data, startCommand: nil) })
        headset.sendsByteStream = true
        return headset
    }
}

extension SimulatedModel {
    static let mindWave = SimulatedModel(
        profile: MindWaveProfile(), make: { .mindWave(number: $0) },
        varieties: [
            Variety(name: "mindwave") { _ in .mindWave() }, Variety(name: "mindwave2013") { _ in .mindWave(format: .stream) },
        ],
        share: .own(oneIn: 4) { .mindWave(format: MindWaveProfile.Format.allCases[Int($0.below(2))]) })

    static let tgam = SimulatedModel(
        profile: TGAMProfile(), make: { .tgam(number: $0) },
        varieties: [
            Variety(name: "tgam") { _ in .tgam() }, Variety(name: "tgam-issc") { _ in .tgam(radio: .issc) },
        ],
        share: .otherwise(oneIn: 8) { .tgam(radio: TGAMProfile.Radio.allCases[Int($0.below(2))]) },
        sendsBeforeItIsReady: true)
}
