public import Bluetooth

/// Any headset that offers the Buffered EEG service. It describes its streams itself.
public struct BufferedEEGProfile: HeadsetProfile {
    /// Creates the profile.
    public init() {}

    public var model: String { "buffered-eeg" }
    public var displayName: String { "Buffered EEG headset" }

    public var recognition: Recognition {
        Recognition(
            serviceUUIDs: [BufferedEEGService.service], pairingServiceUUIDs: [BufferedEEGService.pairingService],
            namePrefixes: [BufferedEEGService.namePrefix])
    }

    public var services: [BluetoothUUID] { [BufferedEEGService.service] }
    public var identityCharacteristic: BluetoothUUID? { .serialNumberString }
    public var controlCharacteristics: [BluetoothUUID] { [BufferedEEGService.control] }
    public var dataCharacteristics: [BluetoothUUID] { [BufferedEEGService.data] }
    public var streams: [StreamDescription] { [] }
    public var epochRule: EpochRule { .boot }
    public var memory: MemoryCapability { .bufferedEEGService }

    /// 8 instants at 250 Hz are a block each 32 ms. The service lets a headset wait 200 ms for a block to fill.
    /// Silence, a connect to an address that the headset has left (4 s), and a scan have to end within 10 s together.
    public var timing: ProfileTiming {
        ProfileTiming(packetPeriod: .milliseconds(40), silenceLimit: .milliseconds(4500))
    }

    /// One command for each purpose; none keeps a link alive, since the headset never ends one by itself.
    ///
    /// After WAKE the headset gets 250 ms, as the service's page allows it.
    ///
    /// START is sent whatever the status says: the status may be older than a STOP on the same link, and START is harmless
    /// where samples are sent already.
    public func commands(for purpose: CommandPurpose, status: HeadsetStatus?) -> [CommandStep] {
        switch purpose {
        case .queryStatus: [BufferedEEGCommand.status.step]
        case .wake: [BufferedEEGCommand.wake.step, .wait(.milliseconds(250))]
        case .initialise: [BufferedEEGCommand.configure.step]
        case .start: [BufferedEEGCommand.start.step]
        case .keepAlive: []
        case .stop: [BufferedEEGCommand.stop.step]
        }
    }

    public func makeDecoder() -> any HeadsetDecoder { BufferedEEGDecoder() }
}
