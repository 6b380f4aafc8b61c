import Bluetooth
import Headsets

/// What a simulated Cyton is like.
package struct CytonSpecification: Hashable, Sendable {
    /// True where a Daisy is plugged on.
    package var hasDaisy: Bool
    /// By how much its crystal is fast, in parts per million.
    package var crystalErrorPPM: Double

    /// Creates a specification.
    package init(hasDaisy: Bool = false, crystalErrorPPM: Double = 0) {
        self.hasDaisy = hasDaisy
        self.crystalErrorPPM = crystalErrorPPM
    }
}

/// The firmware of a Cyton behind a serial radio: frames from `b` to `s`. It does not know of the link, and streams on when
/// that ends.
final class CytonHeadset: PeripheralBehaviour, SessionHeadset {
    /// What a board at rest measures, in counts of 0.000125 g.
    private static let acceleration: [Int16] = [160, -240, 7900]
    /// The board's clock at power-on, in milliseconds.
    private static let bootMilliseconds: Int64 = 4000
    /// Frames that a serial radio holds back for a link that is silent: less than a kilobyte.
    private static let backlog: Int64 = 24

    private unowned let headset: SimulatedHeadset
    private let specification: CytonSpecification
    private let interval: Int64
    private var record: SessionRecord
    private var commands = CytonCommands()
    private var isDaisyAttached = false
    /// By session: whether it has 16 channels.
    private var daisySessions: [Bool] = []
    private var answers: [UInt8] = []
    private var booted: Int64 = 0

    init(_ specification: CytonSpecification, headset: SimulatedHeadset) {
        self.specification = specification
        self.headset = headset
        interval = headset.specification.connectionInterval.nanoseconds
        record = SessionRecord(refusingQueueAhead: headset.specification.refusingQueueAhead)
    }

    var isStreaming: Bool { record.isSampling }
    var sessions: [SampleSession] { record.sessions }

    func boot(at time: Int64) {
        record.stop(at: time)
        commands = CytonCommands()
        isDaisyAttached = specification.hasDaisy
        booted = time
    }

    func shutDown(at time: Int64) { record.stop(at: time) }

    func linkChanged(at time: Int64) {
        if headset.link == nil { answers.removeAll() }
        record.linkChanged(at: time)
        headset.scheduleTick(at: headset.link == nil ? nil : time + interval)
    }

    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError? {
        for character in value {
            guard let command = commands.next(character) else { continue }
            obey(command, at: time)
        }
        headset.scheduleTick(at: time + interval)
        return nil
    }

    private func obey(_ command: CytonCommands.Command, at time: Int64) {
        switch command {
        case .start:
            let frequency = CytonProfile.frameFrequency
            let eeg = isDaisyAttached ? [frequency / 2, frequency / 2] : [frequency]
            daisySessions.append(isDaisyAttached)
            record.start(
                at: time, firstIndexes: [0, 0, 0], samplingFrequencies: eeg + [frequency / 10],
                crystal: headset.specification.crystal,
                packetsPerInstant: isDaisyAttached ? 2 : 1)
        case .stop: record.stop(at: time)
        case .attachDaisy:
            if specification.hasDaisy, !isDaisyAttached { say("daisy attached") }
            if !specification.hasDaisy { say("no daisy to attach!") }
            isDaisyAttached = specification.hasDaisy
            say(isDaisyAttached ? "16" : "8")
        case .removeDaisy:
            if isDaisyAttached { say("daisy removed") }
            isDaisyAttached = false
        case .reset:
            record.stop(at: time)
            isDaisyAttached = specification.hasDaisy
            say("OpenBCI V3 8-16 channel\nOn Board ADS1299 Device ID: 0x3E\nLIS3DH Device ID: 0x33\nFirmware: v3.1.2\n")
        case .said(let text): if !record.isSampling { say(text) }
        }
    }

    private func say(_ text: String) { answers += Array((text + "$$$").utf8) }

    // MARK: Sending

    func tick(at time: Int64) -> Int64? {
        guard headset.link != nil else { return nil }
        var bytes: [UInt8] = []
        let isDaisy = daisySessions.last == true
        for position in record.takePackets(at: time, backlog: Self.backlog, isHeard: headset.isHeard) {
            bytes += frame(position, isDaisy: isDaisy).encoded()
        }
        if !bytes.isEmpty { headset.notify(bytes, from: .serialPort) }
        if !answers.isEmpty, headset.isNotifying(.serialPort) {
            headset.notify(answers, from: .serialPort)
            answers.removeAll()
        }
        return time + interval
    }

    private func frame(_ position: Int64, isDaisy: Bool) -> CytonFrame {
        let session = record.number
        let bank = isDaisy && position % 2 == 0 ? 1 : 0
        let instant = isDaisy ? (position + 1) / 2 : position
        let began = headset.headsetTime(at: record.sessions[session].began.nanoseconds) - headset.headsetTime(at: booted)
        let elapsed = began + Crystal.headsetTime(ofPeriods: position, frequency: CytonProfile.frameFrequency)
        let milliseconds = UInt32(truncatingIfNeeded: elapsed / 1_000_000 + Self.bootMilliseconds)
        let (kind, auxiliary) = auxiliary(position, session, milliseconds)
        return CytonFrame(
            number: UInt8(truncatingIfNeeded: position), eeg: (0..<8).map { sampled(session, bank, $0, instant) },
            auxiliary: auxiliary, kind: kind)
    }

    private func auxiliary(_ position: Int64, _ session: Int, _ milliseconds: UInt32) -> (CytonFrame.Kind, [UInt8]) {
        let turn = Int(UInt8(truncatingIfNeeded: position) % 10)
        var time: [UInt8] = []
        for shift in stride(from: 24, through: 0, by: -8) {
            time.append(UInt8(truncatingIfNeeded: milliseconds >> UInt32(shift)))
        }
        let isFirst = position == 0
        let readings = (0..<3).map { Int16(truncatingIfNeeded: reading(session, $0, position)) }
        switch (commands.auxiliary, commands.stampsTime) {
        case (.accelerometer, false):
            return (.acceleration, position % 10 == 7 ? CytonFrame.bytes(of: Self.acceleration) : [])
        case (.accelerometer, true):
            let axis = turn >= 7 ? [Self.acceleration[turn - 7]] : [0]
            return (isFirst ? .accelerationTimeSet : .accelerationTimeSynced, CytonFrame.bytes(of: axis) + time)
        case (_, false): return (.auxiliary, CytonFrame.bytes(of: readings))
        case (_, true):
            return (isFirst ? .auxiliaryTimeSet : .auxiliaryTimeSynced, CytonFrame.bytes(of: [readings[0]]) + time)
        }
    }

    // MARK: The signal

    private func sampled(_ session: Int, _ bank: Int, _ channel: Int, _ position: Int64) -> Int32 {
        SimulatedSignal.value(
            seed: headset.world.seed, boot: UInt32(session), stream: bank, channel: channel,
            index: UInt32(truncatingIfNeeded: position))
    }

    /// A pin's 10 bits.
    private func reading(_ session: Int, _ pin: Int, _ position: Int64) -> Int32 {
        sampled(session, 2, pin, position) >> 8 & 0x3FF
    }

    func sent(session: Int, stream: Int, channel: Int, position: Int64) -> Int32? {
        let isDaisy = daisySessions[session]
        switch stream {
        case 0: return sampled(session, 0, channel, position)
        case 1 where isDaisy: return sampled(session, 1, channel, position)
        default:
            return commands.auxiliary == .accelerometer
                ? Int32(Self.acceleration[channel]) : Int32(Int16(truncatingIfNeeded: reading(session, channel, position)))
        }
    }
}

extension HeadsetSpecification {
    /// An OpenBCI Cyton behind a serial radio: found by name, its port shown as service and characteristic 1101.
    ///
    /// - Parameters:
    ///   - number: which headset of the model, from 1.
    ///   - specification: its Daisy and crystal.
    package static func cyton(
        number: Int = 1, _ specification: CytonSpecification = CytonSpecification()
    ) -> HeadsetSpecification {
        var headset = HeadsetSpecification(
            localName: "OpenBCI-\(number)",
            identifier: PeripheralIdentifier(address: 0x2016_0C00_0000 + UInt64(number), type: .classic),
            serviceUUIDs: [.serialPort],
            database: GATTDatabase(characteristics: [
                Characteristic(service: .serialPort, uuid: .serialPort, properties: [.write, .writeWithoutResponse, .notify])
            ]),
            firmware: { CytonHeadset(specification, headset: $0) })
        headset.connectionInterval = .milliseconds(20)
        headset.crystal = Crystal(errorPPM: specification.crystalErrorPPM)
        return headset
    }
}

extension SimulatedModel {
    static let cyton = SimulatedModel(
        profile: CytonProfile(), make: { .cyton(number: $0) },
        varieties: [
            Variety(name: "cyton") { .cyton(CytonSpecification(crystalErrorPPM: $0)) },
            Variety(name: "daisy") { .cyton(CytonSpecification(hasDaisy: true, crystalErrorPPM: $0)) },
        ],
        share: .pooled)
}
