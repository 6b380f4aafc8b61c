/// What finds a known peripheral again: its Bluetooth device address and the address's type.
///
/// The counterpart of Core Bluetooth's `CBPeer.identifier`. A headset may be known under several (address rotation, new
/// firmware); which headset an identifier belongs to is proven, never guessed from the model.
public struct PeripheralIdentifier: Hashable, Comparable, Sendable, Codable {
    /// How an address was assigned (Core Specification, Vol 6, Part B, 1.3; classic: Vol 2, Part B, 1.2).
    public enum AddressType: String, Hashable, Sendable, Codable, CaseIterable {
        /// A BR/EDR address.
        case classic
        /// An LE public device address.
        case `public`
        /// An LE random address: static, resolvable private or non-resolvable private.
        case random
    }

    /// The 48-bit address; the most significant byte is the first of the written form.
    public let address: UInt64
    /// The address's type.
    public let addressType: AddressType

    /// Creates an identifier; bits above the lowest 48 of `address` are dropped.
    public init(address: UInt64, type: AddressType) {
        self.address = address & 0xFFFF_FFFF_FFFF
        self.addressType = type
    }

    /// Parses `00:55:DA:B0:13:24`, or with a type `C0:55:DA:B0:13:24/random`; nil for anything else.
    ///
    /// - Parameter defaultType: the type of an address that is written without one.
    public init?(_ text: String, defaultType: AddressType = .public) {
        let halves = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = halves.first else { return nil }
        var type = defaultType
        if halves.count == 2 {
            guard let named = AddressType(rawValue: halves[1].lowercased()) else { return nil }
            type = named
        }
        let bytes = first.split(separator: ":", omittingEmptySubsequences: false)
        guard bytes.count == 6 else { return nil }
        var address: UInt64 = 0
        for byte in bytes {
            guard byte.utf8.count == 2, byte.first != "+", byte.first != "-", let value = UInt8(byte, radix: 16) else {
                return nil
            }
            address = address << 8 | UInt64(value)
        }
        self.init(address: address, type: type)
    }

    /// What an address of Low Energy may mean as a person writes it: itself where it has a type, else one of either type, the
    /// likelier first. Of random addresses those that begin with the bits 11 are static, as a headset's are, and those that
    /// begin with 10 do not exist (Core Specification, Vol 6, Part B, 1.3.2). Empty for anything that is no address.
    public static func ofEitherType(_ text: String) -> [PeripheralIdentifier] {
        guard let first = PeripheralIdentifier(text) else { return [] }
        guard !text.contains("/") else { return [first] }
        let random = PeripheralIdentifier(address: first.address, type: .random)
        return switch first.address >> 46 {
        case 0b11: [random, first]
        case 0b10: [first]
        default: [first, random]
        }
    }

    /// True where both have the same 48 bits and differ in their type: no peripheral has both.
    public func differsInTypeAlone(from other: PeripheralIdentifier) -> Bool {
        address == other.address && addressType != other.addressType
    }

    /// True for a resolvable private address: it changes every few minutes and identifies nothing without a bond.
    public var isResolvablePrivate: Bool { addressType == .random && address >> 46 == 0b01 }

    public static func < (left: PeripheralIdentifier, right: PeripheralIdentifier) -> Bool {
        (left.address, left.addressType.rawValue) < (right.address, right.addressType.rawValue)
    }
}

extension PeripheralIdentifier: CustomStringConvertible {
    /// The written address with its type, such as `00:55:DA:B0:13:24/public`.
    public var description: String { "\(addressDescription)/\(addressType.rawValue)" }

    /// The written address alone, such as `00:55:DA:B0:13:24`.
    public var addressDescription: String {
        (0..<6).reversed().map { index in
            let digits = String(address >> (index * 8) & 0xFF, radix: 16, uppercase: true)
            return digits.count == 1 ? "0" + digits : digits
        }.joined(separator: ":")
    }
}
