/// How strong a link is.
public struct LinkQuality: Hashable, Sendable, Codable {
    /// Received signal strength of what the peripheral sends, in dBm. Of Bluetooth Classic: dB above (positive) or below the
    /// range that the controller holds for best (Core Specification, Read RSSI).
    public var rssi: Int8
    /// Transmit power of this machine, in dBm; nil where it is not known.
    public var transmitPower: Int8?

    /// Creates a reading.
    public init(rssi: Int8, transmitPower: Int8? = nil) {
        self.rssi = rssi
        self.transmitPower = transmitPower
    }
}
