package import Bluetooth

/// Notifies a counter at each connection interval, or at each heartbeat.
final class CountingBehaviour: PeripheralBehaviour {
    private unowned let headset: SimulatedHeadset
    private let period: Int64
    private var counter: UInt16 = 0
    private var written: [UInt8] = []

    init(headset: SimulatedHeadset, period: Int64) {
        self.headset = headset
        self.period = period
    }

    func boot(at time: Int64) { counter = 0 }

    func linkChanged(at time: Int64) {
        headset.scheduleTick(at: headset.isNotifying(HeadsetSpecification.countingCharacteristic) ? time + period : nil)
    }

    func write(_ value: [UInt8], to characteristic: BluetoothUUID, at time: Int64) -> ATTError? {
        written = value
        return value.count <= 20 ? nil : .invalidAttributeValueLength
    }

    func tick(at time: Int64) -> Int64? {
        counter &+= 1
        headset.notify([UInt8(counter & 0xFF), UInt8(counter >> 8)], from: HeadsetSpecification.countingCharacteristic)
        return time + period
    }
}

extension HeadsetSpecification {
    /// The characteristic of a headset that counts: notifies a little-endian 16-bit counter at each connection interval.
    package static let countingCharacteristic = BluetoothUUID(UInt16(0xFFF1))
    /// The service of a headset that counts.
    package static let countingService = BluetoothUUID(UInt16(0xFFF0))

    /// A headset that notifies a counter.
    package static func counting(number: Int = 1) -> HeadsetSpecification {
        HeadsetSpecification(
            localName: "Counter-\(number)", identifier: address(number: number), serialNumber: "CN-\(1000 + number)",
            serviceUUIDs: [countingService], pairingServiceUUIDs: [BluetoothUUID(UInt16(0xFFE0))],
            database: GATTDatabase(characteristics: [
                Characteristic(service: .deviceInformation, uuid: .serialNumberString, properties: [.read]),
                Characteristic(
                    service: countingService, uuid: countingCharacteristic, properties: [.write, .notify]),
            ]),
            firmware: { headset in
                let period = headset.world.options.heartbeat ?? headset.specification.connectionInterval
                return CountingBehaviour(headset: headset, period: period.nanoseconds)
            })
    }
}
