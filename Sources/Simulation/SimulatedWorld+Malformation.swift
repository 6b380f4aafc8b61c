import Bluetooth

/// Notifications that a headset never sends, as a hostile device or a damaged one would.
extension SimulatedWorld {
    /// A characteristic that no headset has.
    static let strangeCharacteristic = BluetoothUUID(UInt16(0xFFF9))
    /// The longest value of an attribute (Core Specification, Vol 3, Part F, 3.2.9).
    private static let longestValue = 512

    /// Something else than a value that was sent. What could be taken for it by nobody: a forged value is a value.
    ///
    /// - Parameter isByteStream: true where values follow each other without an end of their own. Only bytes that begin nothing
    ///   are malformed there; others are noise on the line, which damages what follows.
    func malformed(
        _ value: [UInt8], from characteristic: BluetoothUUID, isByteStream: Bool
    ) -> (value: [UInt8], characteristic: BluetoothUUID) {
        let kind = malformation.below(5)
        if isByteStream {
            return (Array(repeating: 0, count: Int(malformation.below(64))), characteristic)
        }
        switch kind {
        case 0: return ([], characteristic)
        case 1: return (Array(value.prefix(1 + Int(malformation.below(2)))), characteristic)
        case 2:
            let count = Self.longestValue - value.count
            return (value + (0..<max(1, count)).map { _ in UInt8(truncatingIfNeeded: malformation.next()) }, characteristic)
        case 3:
            let count = Self.longestValue
            return ((0..<count).map { _ in UInt8(truncatingIfNeeded: malformation.next()) }, characteristic)
        default: return (value, Self.strangeCharacteristic)
        }
    }
}
