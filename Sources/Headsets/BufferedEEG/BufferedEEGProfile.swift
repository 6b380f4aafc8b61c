package import Bluetooth

/// Any headset that offers the Buffered EEG service. It describes its streams itself.
package struct BufferedEEGProfile: HeadsetProfile {
    /// Creates the profile.
    package init() {}

    package var model: String { "buffered-eeg" }
    package var displayName: String { "Buffered EEG headset" }

    package var recognition: Recognition {
        Recognition(
            serviceUUIDs: [BufferedEEGService.service], pairingServiceUUIDs: [BufferedEEGService.pairingService],
            namePrefixes: [BufferedEEGService.namePrefix])
    }

    package var services: [BluetoothUUID] { [BufferedEEGService.service] }
    package var identityCharacteristic: BluetoothUUID? { .serialNumberString }
    package var controlCharacteristics: [BluetoothUUID] { [BufferedEEGService.control] }
    package var dataCharacteristics: [BluetoothUUID] { [BufferedEEGService.data] }
    package var countedCharacteristics: [BluetoothUUID] { [BufferedEEGService.control, BufferedEEGService.data] }
    package var streams: [StreamDescription] { [] }
    package var epochRule: EpochRule { .boot }
    package var memory: MemoryCapability { .bufferedEEGService }

    /// 8 instants at 250 Hz are a block each 32 ms. The service lets a headset wait 200 ms for a block to fill.
    /// Silence, a connect to an address that the headset has left (4 s), and a scan have to end within 10 s together.
    package var timing: ProfileTiming {
        ProfileTiming(packetPeriod: .milliseconds(40), silenceLimit: .milliseconds(4500))
    }

    /// One command for each purpose; none keeps a link alive, since the headset never ends one by itself.
    ///
    /// After WAKE the headset gets 250 ms, as the service's page allows it.
    ///
    /// START is sent whatever the status says: the status may be older than a STOP on the same link, and START is harmless
    /// where samples are sent already.
    package func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        switch purpose {
        case .queryStatus: [BufferedEEGCommand.status.step]
        case .wake: [BufferedEEGCommand.wake.step, .wait(.milliseconds(250))]
        case .initialise: [BufferedEEGCommand.configure.step]
        case .start: [BufferedEEGCommand.start.step]
        case .keepAlive, .queryVersion: []
        case .stop: [BufferedEEGCommand.stop.step]
        }
    }

    package func makeDecoder() -> any HeadsetDecoder { BufferedEEGDecoder() }
}
