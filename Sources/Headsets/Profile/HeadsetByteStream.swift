public import Bluetooth

/// The one stream of bytes that carries a headset's samples, which bytes that were recorded without times can be played as.
public struct HeadsetByteStream: Hashable, Sendable {
    /// Where the bytes count as coming from.
    public var characteristic: BluetoothUUID
    /// How many the headset sends by its nominal frequency; nil where neither the model nor the bytes show it.
    public var bytesPerSecond: Double?

    /// Creates a description.
    public init(characteristic: BluetoothUUID, bytesPerSecond: Double?) {
        self.characteristic = characteristic
        self.bytesPerSecond = bytesPerSecond
    }

    /// 512 raw samples in packets of 8 bytes, and one packet of 36 bytes with the powers of the bands.
    static let thinkGearBytesPerSecond = 512.0 * 8 + 36
}
