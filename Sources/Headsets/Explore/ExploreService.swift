package import Bluetooth

/// The characteristics through which an Explore sends its packets: one of two sets.
package enum ExploreService: String, Hashable, Sendable, CaseIterable {
    /// That of explorepy for the Explore Pro, advertised. It differs from the other in the first four digits only.
    case explorePro
    /// Nordic's UART service, as of boards that were built with its examples.
    case nordicUART

    /// The service.
    package var service: BluetoothUUID { uuid(0x0001) }
    /// Commands: write without response.
    package var command: BluetoothUUID { uuid(0x0002) }
    /// Packets: notify.
    package var data: BluetoothUUID { uuid(0x0003) }

    /// The characteristics as a headset shows them in its GATT database.
    package var characteristics: [Characteristic] {
        [
            Characteristic(service: service, uuid: command, properties: [.write, .writeWithoutResponse]),
            Characteristic(service: service, uuid: data, properties: [.notify]),
        ]
    }

    private func uuid(_ number: UInt64) -> BluetoothUUID {
        let first: UInt64 = self == .explorePro ? 0xFFFE_0000 : 0x6E40_0000
        return BluetoothUUID(high: (first | number) << 32 | 0xB5A3_F393, low: 0xE0A9_E50E_24DC_CA9E)
    }
}

/// A command of the Explore, with its answer: first that it was received, then whether it was carried out.
package enum ExploreCommand: Hashable, Sendable {
    /// Sets the sampling frequency to 250 Hz × 2^`doublings`, 0 ... 6.
    case samplingFrequency(doublings: UInt8)
    /// Ends the measurement of impedances.
    case impedanceOff
    /// Begins the measurement of impedances.
    case impedanceOn
    /// Restarts the headset.
    case reset

    /// The number by which an answer refers to the command.
    package var code: UInt8 {
        switch self {
        case .samplingFrequency: 0xA1
        case .impedanceOff: 0xA6
        case .impedanceOn: 0xA7
        case .reset: 0xA8
        }
    }

    private var argument: UInt8 {
        if case .samplingFrequency(let doublings) = self { min(doublings, 6) + 1 } else { 0 }
    }

    /// The bytes to write: the frame of a command of two bytes. The host's time in it is left 0: it is only sent back.
    package var bytes: [UInt8] { [0xA0, 0, 10, 0, 0, 0, 0, 0, code, argument, 0xAF, 0xBE, 0xAD, 0xDE] }
}
