package import Bluetooth

/// A headset that sends one stream of bytes over a serial port of Bluetooth Classic: what all such have in common.
///
/// The port stands for a characteristic, ``BluetoothUUID/serialPort``; its UUID is that of every serial device, so that only
/// the name shows the model.
package protocol SerialPortProfile: HeadsetProfile {
    /// The RFCOMM server channel of the model, 1 ... 30, for headsets that do not announce it by the Service Discovery
    /// Protocol; nil where nobody knows it.
    var serialPortChannel: UInt8? { get }
}

extension SerialPortProfile {
    /// How long the port may be silent before the link counts as lost: a classic link may stall for a second and go on.
    package static var silenceLimit: Duration { .milliseconds(2000) }

    /// How often a port that streams hands over what has arrived, a handful of frames at once.
    package static var packetPeriod: Duration { .milliseconds(20) }

    package var serialPortChannel: UInt8? { nil }
    package var services: [BluetoothUUID] { [.serialPort] }
    package var identityCharacteristic: BluetoothUUID? { nil }
    package var controlCharacteristics: [BluetoothUUID] { [] }
    package var dataCharacteristics: [BluetoothUUID] { [.serialPort] }

    /// Whether a counter outlives a connection is not known of any of them; each connection counts as a new run.
    package var epochRule: EpochRule { .connection }
    package var memory: MemoryCapability { .none }
    package var timing: ProfileTiming { ProfileTiming(packetPeriod: Self.packetPeriod, silenceLimit: Self.silenceLimit) }
}
