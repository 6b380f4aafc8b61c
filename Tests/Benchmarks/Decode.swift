import Bluetooth
import Headsets

/// A decoder alone: the notifications of a second or so, again and again. Counts values.
struct Decode {
    /// Whose notifications are decoded.
    enum Workload: String, CaseIterable {
        case ganglion2, ganglion3, muse, museSAthena
    }

    let workload: Workload
    let repetitions: Int

    func run() -> Cost {
        var decoder = self.decoder
        let notifications = self.notifications
        var decoded = Decoded()
        var count = 0
        func pass() {
            for (characteristic, value) in notifications {
                decoded.removeAll()
                decoder.decode(value, from: characteristic, into: &decoded)
                count += decoded.values.count
            }
        }
        pass()
        count = 0
        var cost = Cost.measure {
            for _ in 0..<repetitions { pass() }
            return Int64(count)
        }
        cost.facts = [
            ("samplesPerSecond", Double(count) / cost.cpuSeconds), ("notifications", Double(notifications.count * repetitions)),
        ]
        return cost
    }

    private var decoder: any HeadsetDecoder {
        switch workload {
        case .ganglion2: GanglionDecoder(firmware: .version2)
        case .ganglion3: GanglionDecoder(firmware: .version3)
        case .muse: MuseDecoder()
        case .museSAthena: MuseAthenaDecoder()
        }
    }

    private var notifications: [(BluetoothUUID, [UInt8])] {
        switch workload {
        case .ganglion2, .ganglion3:
            let fields = GanglionField.packed((0..<8).map { $0 * 1234 }, width: 18)
            return (0...(workload == .ganglion2 ? 100 : 99)).map { (GanglionService.data, [UInt8($0)] + fields + [7]) }
        case .muse:
            return (0..<20).flatMap { number in
                MuseService.eeg.prefix(4).map { ($0, [0, UInt8(number)] + (0..<18).map { UInt8($0 * 13) }) }
            }
        case .museSAthena:
            return (0..<20).map { number in
                let blocks: [(tag: MuseAthenaPacket.Tag, number: UInt8, content: [UInt8])] = (0..<5).map {
                    (.eeg8, UInt8(number * 5 + $0), [UInt8](repeating: 0x5A, count: 28))
                }
                let packet = MuseAthenaPacket.encoded(index: UInt16(number), deviceMilliseconds: 0, blocks: blocks)
                return (MuseService.multiplexed, packet)
            }
        }
    }
}
