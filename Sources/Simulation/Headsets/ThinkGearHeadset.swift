import Bluetooth
import Headsets

/// The firmware of a NeuroSky headset at a serial port: 512 raw samples a second, one set of powers a second; no memory.
final class ThinkGearHeadset: PeripheralBehaviour, SessionHeadset {
    private(set) var sessions: [SampleSession] = []

    /// Samples per second (NeuroSky, ThinkGear Communications Protocol).
    static let samplingFrequency: Int64 = 512

    private unowned let headset: SimulatedHeadset
    private let characteristic: BluetoothUUID
    /// What must be written before it sends; nil where it sends at once.
    private let startCommand: [UInt8]?
    private var isStarted = false
    private let interval: Int64
    private let isHeartbeat: Bool
    private var next: Int64 = 0
    private var isSending = false

    init(headset: SimulatedHeadset, characteristic: BluetoothUUID = .serialPort, startCommand: [UInt8]? = nil) {
        self.headset = headset
        self.characteristic = characteristic
        self.startCommand = startCommand
        isHeartbeat = headset.world.options.heartbeat != nil
        interval = (headset.world.options.heartbeat ?? headset.specification.connectionInterval).nanoseconds
    }

    func shutDown(at time: Int64) {
        if !sessions.isEmpty { sessions[sessions.count - 1].ended = MonotonicTime(nanoseconds: time) }
    }

    func boot(at time: Int64) {
        sessions.append(.uncounted(at: time, samplingFrequency: Double(Self.samplingFrequency), headset))
        isSending = false
    }

    func linkChanged(at time: Int64) {
        if headset.link == nil { isStarted = false }
        let isWanted = headset.isNotifying(characteristic) && (isStarted || startCommand == nil)
        guard isWanted != isSending else { return }
        isSending = isWanted
        next = position(at: time)
        headset.scheduleTick(at: isWanted ? time + interval : nil)
    }

    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError? {
        guard let startCommand else { return .writeNotPermitted }
        if value == startCommand { isStarted = true }
        linkChanged(at: time)
        return nil
    }

    private func position(at time: Int64) -> Int64 {
        sessions.last?.position(at: MonotonicTime(nanoseconds: time), stream: ThinkGearProfile.eeg) ?? 0
    }

    func tick(at time: Int64) -> Int64? {
        let end = position(at: time)
        if isHeartbeat { next = max(next, end - 1) }
        // What a silent radio could not carry is gone.
        next = max(next, end - Self.samplingFrequency)
        var bytes: [UInt8] = []
        while next < end {
            bytes += ThinkGearFrame.raw(raw(next)).encoded()
            next += 1
            if next % Self.samplingFrequency == 0 { bytes += power(second: next / Self.samplingFrequency) }
        }
        // A notification of Low Energy has 20 bytes where nobody asked for more.
        let length = characteristic == .serialPort ? bytes.count : MindWaveService.packetLength
        for start in stride(from: 0, to: bytes.count, by: max(1, length)) {
            headset.notify(Array(bytes[start..<min(bytes.count, start + length)]), from: characteristic)
        }
        return time + interval
    }

    private func raw(_ position: Int64) -> Int16 {
        SimulatedSignal.moduleValue(seed: headset.world.seed, boot: UInt32(sessions.count), position: position)
    }

    func sent(session: Int, stream: Int, channel: Int, position: Int64) -> Int32? {
        guard stream == ThinkGearProfile.eeg else { return nil }
        return Int32(
            SimulatedSignal.moduleValue(seed: headset.world.seed, boot: UInt32(session + 1), position: position))
    }

    private func power(second: Int64) -> [UInt8] {
        var generator = SeededGenerator(seed: headset.world.seed, purpose: 0x746 ^ UInt64(second) << 16)
        let power = (0..<8).map { _ in UInt32(generator.below(500_000)) }
        return ThinkGearFrame.power(
            poorSignal: 0, power: power, attention: UInt8(generator.below(101)), meditation: UInt8(generator.below(101))
        ).encoded()
    }
}

extension SampleSession {
    /// The run of a module from power-on: raw samples, and powers and eSense values once a second.
    static func uncounted(at time: Int64, samplingFrequency: Double, _ headset: SimulatedHeadset) -> SampleSession {
        SampleSession(
            began: MonotonicTime(nanoseconds: time), firstIndexes: [0, 0, 0], samplingFrequencies: [samplingFrequency, 1, 1],
            crystal: headset.specification.crystal)
    }
}

extension SimulatedSignal {
    /// A raw sample within the notional 12 bits of a ThinkGear module.
    static func moduleValue(seed: UInt64, boot: UInt32, position: Int64) -> Int16 {
        let value = alternating(seed: seed, boot: boot, stream: 0, channel: 0, index: UInt32(truncatingIfNeeded: position))
        // A count is 0.22 µV, ten of the common signal.
        return Int16(max(-2048, min(2047, value / 10)))
    }
}

extension HeadsetSpecification {
    /// A NeuroSky headset: found by name, its serial port shown as service and characteristic 1101.
    ///
    /// - Parameter number: which headset of the model, from 1.
    package static func thinkGear(number: Int = 1) -> HeadsetSpecification {
        var headset = HeadsetSpecification(
            localName: "MindWave Mobile",
            identifier: PeripheralIdentifier(address: 0x2068_9D00_0000 + UInt64(number), type: .classic),
            serviceUUIDs: [.serialPort],
            database: GATTDatabase(characteristics: [
                Characteristic(service: .serialPort, uuid: .serialPort, properties: [.write, .writeWithoutResponse, .notify])
            ]),
            firmware: { ThinkGearHeadset(headset: $0, characteristic: .serialPort, startCommand: nil) })
        headset.connectionInterval = .milliseconds(25)
        return headset
    }
}

extension SimulatedModel {
    static let thinkGear = SimulatedModel(
        // Found by its name alone, which therefore stays.
        profile: ThinkGearProfile(), make: { .thinkGear(number: $0) },
        varieties: [Variety(name: "thinkgear") { _ in .thinkGear() }], share: .own(oneIn: 4) { _ in .thinkGear() })
}
