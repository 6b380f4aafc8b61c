/// A Bluetooth UUID of 16, 32 or 128 bits, always compared whole as 128 bits.
///
/// Short forms stand for `xxxxxxxx-0000-1000-8000-00805F9B34FB` (Core Specification, Vol 3, Part B, 2.5.1). Vendors re-use
/// each other's UUID tails, so nothing in this program matches on part of one.
public struct BluetoothUUID: Hashable, Comparable, Sendable {
    /// The upper 64 bits of the 128-bit form.
    public let high: UInt64
    /// The lower 64 bits of the 128-bit form.
    public let low: UInt64

    private static let baseHigh: UInt64 = 0x0000_0000_0000_1000
    private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

    /// Creates a UUID from its two halves, most significant first.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates the UUID that a 16-bit short form stands for.
    public init(_ short: UInt16) {
        self.init(UInt32(short))
    }

    /// Creates the UUID that a 32-bit short form stands for.
    public init(_ short: UInt32) {
        self.init(high: UInt64(short) << 32 | Self.baseHigh, low: Self.baseLow)
    }

    /// Parses `FE8D`, `0000FE8D` or `0000FE8D-0000-1000-8000-00805F9B34FB`, in either letter case; nil for anything else.
    public init?(_ text: String) {
        let characters = Array(text.utf8)
        switch characters.count {
        case 4, 8:
            guard let value = Self.hexadecimal(characters[...]) else { return nil }
            self.init(UInt32(value))
        case 36:
            let hyphen = UInt8(ascii: "-")
            var digits: [UInt8] = []
            for (position, character) in characters.enumerated() {
                let wantsHyphen = position == 8 || position == 13 || position == 18 || position == 23
                guard wantsHyphen == (character == hyphen) else { return nil }
                if !wantsHyphen { digits.append(character) }
            }
            guard let high = Self.hexadecimal(digits[..<16]), let low = Self.hexadecimal(digits[16...]) else { return nil }
            self.init(high: high, low: low)
        default:
            return nil
        }
    }

    /// Creates a UUID from 2, 4 or 16 bytes as they stand in packets (least significant byte first); nil for other lengths.
    public init?(littleEndianBytes bytes: some Collection<UInt8>) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        for byte in bytes.reversed() {
            high = high << 8 | low >> 56
            low = low << 8 | UInt64(byte)
        }
        switch bytes.count {
        case 2, 4: self.init(UInt32(low))
        case 16: self.init(high: high, low: low)
        default: return nil
        }
    }

    /// The 16-bit short form, where there is one.
    public var short16: UInt16? {
        guard low == Self.baseLow, high & 0xFFFF_0000_FFFF_FFFF == Self.baseHigh else { return nil }
        return UInt16(truncatingIfNeeded: high >> 32)
    }

    /// The 16 bytes as they stand in packets, least significant first.
    public var littleEndianBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: low >> ($0 * 8)) } + (0..<8).map { UInt8(truncatingIfNeeded: high >> ($0 * 8)) }
    }

    public static func < (left: BluetoothUUID, right: BluetoothUUID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt64(digit - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return value
    }
}

extension BluetoothUUID: CustomStringConvertible {
    /// `FE8D` for a 16-bit UUID, else the 36-character form in lower case.
    public var description: String {
        if let short16 {
            let digits = String(short16, radix: 16, uppercase: true)
            return String(repeating: "0", count: 4 - digits.count) + digits
        }
        return fullDescription
    }

    /// The 36-character form in lower case.
    public var fullDescription: String {
        func padded(_ value: UInt64, _ width: Int) -> String {
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: width - digits.count) + digits
        }
        return [
            padded(high >> 32, 8), padded(high >> 16 & 0xFFFF, 4), padded(high & 0xFFFF, 4),
            padded(low >> 48, 4), padded(low & 0xFFFF_FFFF_FFFF, 12),
        ].joined(separator: "-")
    }
}

extension BluetoothUUID {
    /// GATT Service (Assigned Numbers, 3.4).
    public static let genericAttribute = BluetoothUUID(UInt16(0x1801))
    /// Service Changed characteristic.
    public static let serviceChanged = BluetoothUUID(UInt16(0x2A05))
    /// Device Information Service.
    public static let deviceInformation = BluetoothUUID(UInt16(0x180A))
    /// Serial Number String characteristic of the Device Information Service.
    public static let serialNumberString = BluetoothUUID(UInt16(0x2A25))
    /// Firmware Revision String characteristic of the Device Information Service.
    public static let firmwareRevisionString = BluetoothUUID(UInt16(0x2A26))
    /// Hardware Revision String characteristic of the Device Information Service.
    public static let hardwareRevisionString = BluetoothUUID(UInt16(0x2A27))
    /// Model Number String characteristic of the Device Information Service.
    public static let modelNumberString = BluetoothUUID(UInt16(0x2A24))
    /// Software Revision String characteristic of the Device Information Service.
    public static let softwareRevisionString = BluetoothUUID(UInt16(0x2A28))
    /// Battery Level characteristic: u8, percent.
    public static let batteryLevel = BluetoothUUID(UInt16(0x2A19))
    /// Client Characteristic Configuration descriptor (Vol 3, Part G, 3.3.3.3).
    public static let clientCharacteristicConfiguration = BluetoothUUID(UInt16(0x2902))
    /// Serial Port Profile service class (classic Bluetooth).
    public static let serialPort = BluetoothUUID(UInt16(0x1101))
}
