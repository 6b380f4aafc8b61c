import Bluetooth
import Headsets

/// The Buffered EEG profile with vital characteristics of a test's choice.
struct VitalProfile: HeadsetProfile {
    let vitalCharacteristics: [BluetoothUUID]

    private let base = BufferedEEGProfile()

    init(_ vitalCharacteristics: [BluetoothUUID]) { self.vitalCharacteristics = vitalCharacteristics }

    var dataCharacteristics: [BluetoothUUID] { base.dataCharacteristics }
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
