package import Bluetooth

/// The GATT service of the OpenBCI Ganglion.
///
/// Source: OpenBCI's Ganglion firmware library 2.0.1 and 3.0.2; the characteristics are those of the Simblee radio.
package enum GanglionService {
    /// The service, advertised.
    package static let service = BluetoothUUID(UInt16(0xFE84))
    /// Samples, impedances and text: notify.
    package static let data = uuid(0xC082)
    /// Commands, one character a write: write.
    package static let command = uuid(0xC083)
    /// Any write makes the headset close the link.
    package static let disconnect = uuid(0xC084)

    /// Bytes of a notification that carries samples; none is longer.
    package static let packetLength = 20
    /// Sampling instants of one cycle of packet identifiers, in both firmwares.
    package static let cycleLength = 201

    /// The characteristics as a headset shows them in its GATT database, with the two of Device Information that matter.
    package static let characteristics: [Characteristic] = [
        Characteristic(service: .deviceInformation, uuid: .modelNumberString, properties: [.read]),
        Characteristic(service: .deviceInformation, uuid: .softwareRevisionString, properties: [.read]),
        Characteristic(service: service, uuid: data, properties: [.read, .notify]),
        Characteristic(service: service, uuid: command, properties: [.write, .writeWithoutResponse]),
        Characteristic(service: service, uuid: disconnect, properties: [.write, .writeWithoutResponse]),
    ]

    private static func uuid(_ number: UInt64) -> BluetoothUUID {
        BluetoothUUID(high: 0x2D30_0000_F39F_4CE6 | number << 32, low: 0x923F_3484_EA48_0596)
    }
}

/// A command of the Ganglion: one ASCII character. The firmware looks at the first byte of a write only.
package enum GanglionCommand: UInt8, Hashable, Sendable, CaseIterable {
    /// `b`: starts to send samples, if it does not yet; the packet identifiers begin anew, and an impedance measurement ends.
    case start = 0x62
    /// `s`: stops to send samples.
    case stop = 0x73
    /// `v`: soft reset; the answer is a text.
    case reset = 0x76
    /// `?`: lists the registers as text; only while stopped.
    case registers = 0x3F
    /// `n`: accelerometer on; samples have 18 bits.
    case accelerometerOn = 0x6E
    /// `N`: accelerometer off; samples have 19 bits.
    case accelerometerOff = 0x4E
    /// `z`: impedance measurement on, samples off.
    case impedanceOn = 0x7A
    /// `Z`: impedance measurement off; samples on, if the last `z` switched them off.
    case impedanceOff = 0x5A

    /// The write that sends the command.
    package var step: CommandStep { .write([rawValue], to: GanglionService.command, type: .withResponse) }
}

/// How a Ganglion's firmware packs samples.
package enum GanglionFirmware: UInt8, Hashable, Sendable, CaseIterable {
    /// One raw sample, then differences of 18 or 19 bits.
    case version2 = 2
    /// Truncated absolute samples of 18 or 19 bits.
    case version3 = 3

    /// From the Software Revision String, such as `3.0.2`; nil where it names no version that is known. The first digit
    /// counts; versions before 2 are taken for 2, as BrainFlow does.
    package init?(softwareRevision: some Sequence<UInt8>) {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        switch softwareRevision.first(where: digits.contains) {
        case UInt8(ascii: "0")?, UInt8(ascii: "1")?, UInt8(ascii: "2")?: self = .version2
        case UInt8(ascii: "3")?: self = .version3
        default: return nil
        }
    }
}
