import Bluetooth
import Headsets

/// A headset whose sensors send on characteristics of their own; those of the EEG must not fall silent.
struct SeveralSensorsProfile: HeadsetProfile {
    static let eeg = [BluetoothUUID(UInt16(0xFE01)), BluetoothUUID(UInt16(0xFE02))]
    static let accelerometer = BluetoothUUID(UInt16(0xFE03))

    private let base = BufferedEEGProfile()

    var dataCharacteristics: [BluetoothUUID] { Self.eeg + [Self.accelerometer] }
    var vitalCharacteristics: [BluetoothUUID] { Self.eeg }

    var model: String { base.model }
    var displayName: String { base.displayName }
    var recognition: Recognition { base.recognition }
    var services: [BluetoothUUID] { base.services }
    var identityCharacteristic: BluetoothUUID? { base.identityCharacteristic }
    var controlCharacteristics: [BluetoothUUID] { base.controlCharacteristics }
    var streams: [StreamDescription] { base.streams }
    var epochRule: EpochRule { base.epochRule }
    var memory: MemoryCapability { base.memory }
    var timing: ProfileTiming { base.timing }

    func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        base.commands(for: purpose, status: status)
    }

    func makeDecoder() -> any HeadsetDecoder { base.makeDecoder() }
}
