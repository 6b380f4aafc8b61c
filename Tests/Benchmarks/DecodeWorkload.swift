import Bluetooth
import Headsets

/// What one decoder is fed with, again and again: the notifications of a second or so of streaming. A decoder is measured by
/// adding it to ``all``.
struct DecodeWorkload {
    /// A value of a characteristic, or a piece of a byte stream.
    typealias Notification = (characteristic: BluetoothUUID, value: [UInt8])

    /// The headset's name in the table.
    var name: String
    var decoder: any HeadsetDecoder
    /// Counters continue from the last one to the first one, so that each pass is like any other.
    var notifications: [Notification]

    /// Every decoder of the program, in the order of the headsets' pages.
    static var all: [DecodeWorkload] {
        [
            DecodeWorkload(name: "Buffered EEG", decoder: BufferedEEGDecoder(), notifications: bufferedEEG),
            DecodeWorkload(
                name: "Ganglion, firmware 2", decoder: GanglionDecoder(firmware: .version2),
                notifications: ganglion(packets: 101)),
            DecodeWorkload(
                name: "Ganglion, firmware 3", decoder: GanglionDecoder(firmware: .version3),
                notifications: ganglion(packets: 100)),
            DecodeWorkload(name: "Hermes V1", decoder: HermesDecoder(), notifications: hermes),
            DecodeWorkload(name: "Muse 2", decoder: MuseDecoder(), notifications: muse),
            DecodeWorkload(
                name: "Muse S Athena", decoder: MuseAthenaDecoder(preset: .p1041), notifications: museSAthena),
            DecodeWorkload(name: "MindWave Mobile 2", decoder: MindWaveDecoder(), notifications: mindWave),
            DecodeWorkload(name: "NeuroSky ThinkGear", decoder: ThinkGearDecoder(), notifications: thinkGear),
        ] + frames + described
    }

    /// Not a headset's: it makes an array of each notification. What counts allocations must count these.
    static let allocating = DecodeWorkload(name: "allocating", decoder: AllocatingDecoder(), notifications: bufferedEEG)

    /// Bytes that look like a signal as little as possible: no decoder may live on zeros.
    static func bytes(_ count: Int, seed: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 &+ seed &* 31) &* 167 >> 3) }
    }

    /// 8 channels of 250 Hz, 9 instants to a notification.
    private static var bufferedEEG: [Notification] {
        (0..<28).map { number in
            let header = BufferedEEGBlock.Header(
                isFromMemory: false, bootIdentifier: 1, stream: 0, channelCount: 8, instantCount: 9,
                firstIndex: UInt32(number * 9))
            let values = (0..<72).map { Int32($0 * 54_321 + number) & 0xFF_FFFF - 0x80_0000 }
            return (BufferedEEGService.data, BufferedEEGBlock(header: header, values: values).encoded())
        }
    }

    /// A whole cycle of 18-bit packets.
    private static func ganglion(packets: Int) -> [Notification] {
        (0..<packets).map { (GanglionService.data, [UInt8($0)] + bytes(19, seed: $0)) }
    }

    /// A turn of the counter, with its motion.
    private static var hermes: [Notification] {
        (0..<128).flatMap { number -> [Notification] in
            let motion = (HermesService.motionData, bytes(HermesService.motionLength, seed: number))
            return [(HermesService.eegData, [UInt8(number)] + bytes(240, seed: number)), motion, motion]
        }
    }

    /// A second of a MindWave Mobile 2.
    private static var mindWave: [Notification] {
        let raw: [Notification] = (0..<51).map { (MindWaveService.raw, bytes(MindWaveService.packetLength, seed: $0)) }
        let powers: [UInt32] = [1, 20, 300, 4000]
        let packets: [MindWavePacket] = [
            .esense(poorSignal: 0, attention: 50, meditation: 60), .lowPowers(powers), .highPowers(powers),
        ]
        return raw + packets.map { (MindWaveService.esense, $0.encoded()) }
    }

    /// Everything that a Muse 2 sends in a second: five channels of EEG, motion, optics, battery.
    private static var muse: [Notification] {
        func packets(_ count: Int, _ characteristics: [BluetoothUUID]) -> [Notification] {
            (0..<count).flatMap { number in
                characteristics.map { ($0, [0, UInt8(number)] + bytes(18, seed: number)) }
            }
        }
        return packets(21, MuseService.eeg) + packets(17, [MuseService.accelerometer, MuseService.gyroscope])
            + packets(11, MuseService.ppg) + packets(1, [MuseService.telemetry])
    }

    /// Everything that an Athena with 8 channels and 16 of optics sends in 2 seconds.
    private static var museSAthena: [Notification] {
        (0..<64).map { number in
            var blocks: [(tag: MuseAthenaPacket.Tag, number: UInt8, content: [UInt8])] = (0..<4).map {
                (.eeg8, UInt8(number * 4 + $0), bytes(28, seed: $0))
            }
            blocks += (0..<2).map { (.optics16, UInt8(number * 2 + $0), bytes(40, seed: $0)) }
            if number % 32 == 0 {
                blocks.append((.battery, UInt8(number / 32), bytes(20, seed: 1)))
            } else if number % 2 == 0 {
                blocks.append((.motion, UInt8(number / 2), bytes(36, seed: 1)))
            }
            let packet = MuseAthenaPacket.encoded(
                index: UInt16(number), deviceMilliseconds: UInt64(number * 31), blocks: blocks)
            return (MuseService.multiplexed, packet)
        }
    }

    /// A second, in pieces of 10 frames and a byte: they are cut anywhere.
    private static var thinkGear: [Notification] {
        var stream: [UInt8] = []
        for number in 0..<512 { stream += ThinkGearFrame.raw(Int16(number * 127 - 32_768)).encoded() }
        stream +=
            ThinkGearFrame.power(
                poorSignal: 0, power: (1...8).map { $0 * 12_345 }, attention: 50, meditation: 60
            ).encoded()
        return stride(from: 0, to: stream.count, by: 81).map {
            (.serialPort, Array(stream[$0..<min(stream.count, $0 + 81)]))
        }
    }
}

/// See ``DecodeWorkload/allocating``.
private struct AllocatingDecoder: HeadsetDecoder {
    mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        let copy = bytes.map { Int32($0) }
        decoded.values.append(contentsOf: copy)
    }
}
