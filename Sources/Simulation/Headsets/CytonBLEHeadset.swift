import Bluetooth
import Headsets

/// The firmware of a Cyton whose radio speaks Bluetooth Low Energy: packets from `b` to `s`. It does not know of the link, and
/// streams on when that ends.
final class CytonBLEHeadset: PeripheralBehaviour, SessionHeadset {
    private unowned let headset: SimulatedHeadset
    private let interval: Int64
    private var record: SessionRecord
    private var commands = CytonCommands()

    init(headset: SimulatedHeadset) {
        self.headset = headset
        interval = headset.specification.connectionInterval.nanoseconds
        record = SessionRecord(refusingQueueAhead: headset.specification.refusingQueueAhead)
    }

    var isStreaming: Bool { record.isSampling }
    var sessions: [SampleSession] { record.sessions }

    func boot(at time: Int64) {
        record.stop(at: time)
        commands = CytonCommands()
    }

    func shutDown(at time: Int64) { record.stop(at: time) }

    func linkChanged(at time: Int64) {
        record.linkChanged(at: time)
        headset.scheduleTick(at: headset.link == nil ? nil : time + interval)
    }

    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError? {
        if characteristic == RFduinoService.disconnect {
            headset.world.closeLink(headset, error: .peripheralDisconnected)
            return nil
        }
        for character in value {
            switch commands.next(character) {
            case .start:
                record.start(
                    at: time, firstIndexes: [0], samplingFrequencies: [CytonProfile.frameFrequency / 2],
                    crystal: headset.specification.crystal)
            case .stop, .reset: record.stop(at: time)
            default: break
            }
        }
        headset.scheduleTick(at: time + interval)
        return nil
    }

    func tick(at time: Int64) -> Int64? {
        guard headset.link != nil else { return nil }
        let step = Int64(CytonBLEProfile.instantsPerPacket)
        for first in record.takePackets(at: time, backlog: 10 * step, step: step, isHeard: headset.isHeard) {
            var packet: [UInt8] = [0xC0, UInt8(truncatingIfNeeded: first)]
            for position in first..<first + step {
                for channel in 0..<CytonBLEProfile.channelCount {
                    let bits = sampled(record.number, channel, position)
                    packet += [bits >> 16, bits >> 8, bits].map { UInt8(truncatingIfNeeded: $0) }
                }
            }
            headset.notify(packet, from: RFduinoService.data)
        }
        return time + interval
    }

    private func sampled(_ session: Int, _ channel: Int, _ position: Int64) -> Int32 {
        SimulatedSignal.value(
            seed: headset.world.seed, boot: UInt32(session), stream: 0, channel: channel,
            index: UInt32(truncatingIfNeeded: position))
    }

    func sent(session: Int, stream: Int, channel: Int, position: Int64) -> Int32? { sampled(session, channel, position) }
}

extension HeadsetSpecification {
    /// An OpenBCI Cyton that speaks Bluetooth Low Energy: two channels, no memory, no serial number.
    ///
    /// - Parameters:
    ///   - number: which headset of the model, from 1.
    ///   - crystalErrorPPM: by how much its crystal is fast, in parts per million.
    package static func cytonBLE(number: Int = 1, crystalErrorPPM: Double = 0) -> HeadsetSpecification {
        var headset = HeadsetSpecification(
            localName: "RFduino", identifier: address(number: 0x600 + number), serviceUUIDs: [RFduinoService.service],
            database: GATTDatabase(characteristics: RFduinoService.characteristics),
            firmware: { CytonBLEHeadset(headset: $0) })
        headset.crystal = Crystal(errorPPM: crystalErrorPPM)
        headset.connectionInterval = .milliseconds(20)
        headset.sendsByteStream = true
        return headset
    }
}

extension SimulatedModel {
    static let cytonBLE = SimulatedModel(
        profile: CytonBLEProfile(), make: { .cytonBLE(number: $0) },
        varieties: [Variety(name: "cyton-ble") { .cytonBLE(crystalErrorPPM: $0) }], share: .pooled)
}
