package import Bluetooth

/// The GATT service of InteraXon's Muse headsets. All characteristics are `273eNNNN-4c4d-454d-96be-f03bac821358`.
///
/// InteraXon has published nothing about it. Sources: muse-js, muse-lsl, BlueMuse, BrainFlow, which agree where nothing else
/// is said.
package enum MuseService {
    /// The service (FE8D), advertised.
    package static let service = BluetoothUUID(UInt16(0xFE8D))
    /// Commands and their answers (0001): write without response, notify.
    package static let control = uuid(0x0001)
    /// The EEG channels TP9, AF7, AF8, TP10 and right AUX (0003 ... 0007): notify.
    package static let eeg = [uuid(0x0003), uuid(0x0004), uuid(0x0005), uuid(0x0006), uuid(0x0007)]
    /// Gyroscope (0009): notify.
    package static let gyroscope = uuid(0x0009)
    /// Accelerometer (000A): notify.
    package static let accelerometer = uuid(0x000A)
    /// Battery and temperature (000B): notify.
    package static let telemetry = uuid(0x000B)
    /// The three optical channels (000F ... 0011): notify. Muse 2 and Muse S have them, Muse 2016 has not.
    package static let ppg = [uuid(0x000F), uuid(0x0010), uuid(0x0011)]
    /// Multiplexed packets of a Muse S Athena (0013): notify. The older headsets have no such characteristic.
    package static let multiplexed = uuid(0x0013)

    /// Bytes of a notification, except those of an Athena.
    package static let packetLength = 20

    static func uuid(_ number: UInt64) -> BluetoothUUID {
        BluetoothUUID(high: 0x273E_0000_4C4D_454D | number << 32, low: 0x96BE_F03B_AC82_1358)
    }
}

/// A command of a Muse: text behind its length and before a line feed.
package enum MuseCommand {
    /// `h`: halts the stream.
    package static let halt = bytes("h")
    /// `d`: starts the stream.
    package static let start = bytes("d")
    /// `s`: asks for the status.
    package static let status = bytes("s")
    /// `k`: keeps the headset awake.
    package static let keepAlive = bytes("k")
    /// `v1`: asks for the versions, and whether the bootloader runs.
    package static let version = bytes("v1")
    /// `*1`: restarts the headset, out of its bootloader too.
    package static let reset = bytes("*1")

    /// `p` and a number: which channels are sent, such as `p21`.
    package static func preset(_ number: String) -> [UInt8] { bytes("p" + number) }

    /// The text with its length, which counts the line feed.
    package static func bytes(_ text: String) -> [UInt8] {
        [UInt8(truncatingIfNeeded: text.utf8.count + 1)] + Array(text.utf8) + [UInt8(ascii: "\n")]
    }

    /// The text of a command; nil where length or line feed are wrong.
    package static func text(of bytes: [UInt8]) -> String? {
        guard bytes.count >= 2, Int(bytes[0]) == bytes.count - 1, bytes.last == UInt8(ascii: "\n") else { return nil }
        return String(decoding: bytes[1..<(bytes.count - 1)], as: UTF8.self)
    }

    /// The write that sends a command.
    package static func step(_ bytes: [UInt8]) -> CommandStep {
        .write(bytes, to: MuseService.control, type: .withoutResponse)
    }
}
