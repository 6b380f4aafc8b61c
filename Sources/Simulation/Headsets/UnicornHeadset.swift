import Bluetooth
import Headsets

/// What a simulated Unicorn Hybrid Black is like.
package struct UnicornSpecification: Hashable, Sendable {
    /// The counter of the first frame after each start.
    package var firstCounter: UInt32
    /// By how much its crystal is fast, in parts per million.
    package var crystalErrorPPM: Double
    /// Battery charge in fifteenths.
    package var battery: UInt8

    /// Creates a specification.
    package init(firstCounter: UInt32 = 0, crystalErrorPPM: Double = 0, battery: UInt8 = 12) {
        self.firstCounter = firstCounter
        self.crystalErrorPPM = crystalErrorPPM
        self.battery = battery
    }
}

/// The firmware of a Unicorn Hybrid Black at a serial port: frames from start to stop or the end of the link; no memory.
final class UnicornHeadset: PeripheralBehaviour, SessionHeadset {
    private unowned let headset: SimulatedHeadset
    private let specification: UnicornSpecification
    private let interval: Int64
    private var record = SessionRecord()
    private var answers: [UInt8] = []

    init(_ specification: UnicornSpecification, headset: SimulatedHeadset) {
        self.specification = specification
        self.headset = headset
        interval = headset.specification.connectionInterval.nanoseconds
    }

    var isStreaming: Bool { record.isSampling }
    var sessions: [SampleSession] { record.sessions }

    func boot(at time: Int64) { record.stop(at: time) }

    func shutDown(at time: Int64) { record.stop(at: time) }

    func linkChanged(at time: Int64) {
        guard headset.link == nil else { return }
        record.stop(at: time)
        answers.removeAll()
        headset.scheduleTick(at: nil)
    }

    /// Only a whole command with the right checksum is obeyed and answered.
    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError? {
        guard let command = value.first.flatMap(UnicornCommand.init(rawValue:)), command.bytes == value else { return nil }
        switch command {
        case .start:
            let first = Int64(specification.firstCounter)
            record.start(
                at: time, firstIndexes: [first, first, first], samplingFrequencies: [250, 250, 250],
                crystal: headset.specification.crystal)
        case .stop: record.stop(at: time)
        }
        answers += UnicornCommand.acknowledgement
        headset.scheduleTick(at: time + interval)
        return nil
    }

    func tick(at time: Int64) -> Int64? {
        guard headset.link != nil else { return nil }
        var bytes = answers
        answers.removeAll()
        for position in record.takeDue(at: time, backlog: 64) { bytes += frame(position).encoded() }
        if !bytes.isEmpty { headset.notify(bytes, from: .serialPort) }
        return record.isSampling ? time + interval : nil
    }

    private func frame(_ position: Int64) -> UnicornFrame {
        let session = record.number
        return UnicornFrame(
            battery: specification.battery,
            eeg: (0..<UnicornFrame.channelCount).map { eeg(session, $0, position) },
            motion: (0..<6).map { Int16(motion(session, 1 + $0 / 3, $0 % 3, position)) },
            counter: specification.firstCounter &+ UInt32(truncatingIfNeeded: position))
    }

    // MARK: The signal

    private func eeg(_ session: Int, _ channel: Int, _ position: Int64) -> Int32 {
        SimulatedSignal.value(
            seed: headset.world.seed, boot: UInt32(session), stream: 0, channel: channel,
            index: UInt32(truncatingIfNeeded: position))
    }

    private func motion(_ session: Int, _ stream: Int, _ axis: Int, _ position: Int64) -> Int32 {
        let value = SimulatedSignal.value(
            seed: headset.world.seed, boot: UInt32(session), stream: stream, channel: axis,
            index: UInt32(truncatingIfNeeded: position))
        return max(-0x8000, min(0x7FFF, value >> 6))
    }

    func sent(session: Int, stream: Int, channel: Int, position: Int64) -> Int32? {
        stream == UnicornProfile.eeg ? eeg(session, channel, position) : motion(session, stream, channel, position)
    }
}

extension HeadsetSpecification {
    /// A g.tec Unicorn Hybrid Black: found by name, its serial port shown as service and characteristic 1101.
    ///
    /// - Parameters:
    ///   - number: which headset of the model, from 1.
    ///   - specification: its counter, crystal and battery.
    package static func unicorn(
        number: Int = 1, _ specification: UnicornSpecification = UnicornSpecification()
    ) -> HeadsetSpecification {
        var headset = HeadsetSpecification(
            localName: "UN-2026.01.\(number < 10 ? "0" : "")\(number)",
            identifier: PeripheralIdentifier(address: 0x842E_1400_0000 + UInt64(number), type: .classic),
            serviceUUIDs: [.serialPort],
            database: GATTDatabase(characteristics: [
                Characteristic(service: .serialPort, uuid: .serialPort, properties: [.write, .writeWithoutResponse, .notify])
            ]),
            firmware: { UnicornHeadset(specification, headset: $0) })
        headset.connectionInterval = .milliseconds(20)
        headset.crystal = Crystal(errorPPM: specification.crystalErrorPPM)
        return headset
    }
}

extension SimulatedModel {
    static let unicorn = SimulatedModel(
        profile: UnicornProfile(), make: { .unicorn(number: $0) },
        varieties: [
            // Its counter soon wraps.
            Variety(name: "unicorn") { .unicorn(UnicornSpecification(firstCounter: .max - 5000, crystalErrorPPM: $0)) }
        ],
        share: .pooled)
}
