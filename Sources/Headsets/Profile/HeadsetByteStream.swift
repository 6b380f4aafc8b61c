package import Bluetooth

/// The one stream of bytes that carries a headset's samples, which bytes that were recorded without times can be played as.
package struct HeadsetByteStream: Hashable, Sendable {
    /// Where the bytes count as coming from.
    package var characteristic: BluetoothUUID
    /// How many the headset sends by its nominal frequency; nil where neither the model nor the bytes show it.
    package var bytesPerSecond: Double?

    /// Creates a description.
    package init(characteristic: BluetoothUUID, bytesPerSecond: Double?) {
        self.characteristic = characteristic
        self.bytesPerSecond = bytesPerSecond
    }

    /// 512 raw samples in packets of 8 bytes, and one packet of 36 bytes with the powers of the bands.
    static let thinkGearBytesPerSecond = 512.0 * 8 + 36
}
