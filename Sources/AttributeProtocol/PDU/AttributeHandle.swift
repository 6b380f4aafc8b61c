/// The number under which a server keeps an attribute, 0x0001 ... 0xFFFF (Core Specification, Vol 3, Part F, 3.2.2).
public struct AttributeHandle: RawRepresentable, Hashable, Comparable, Sendable {
    public let rawValue: UInt16

    /// Creates a handle. 0x0000 is reserved, but stands in packets, where it means that no attribute is concerned.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The reserved handle.
    public static let none = AttributeHandle(rawValue: 0x0000)
    /// The lowest handle of an attribute.
    public static let first = AttributeHandle(rawValue: 0x0001)
    /// The highest handle of an attribute.
    public static let last = AttributeHandle(rawValue: 0xFFFF)

    /// The handle that follows; nil after the last.
    public var next: AttributeHandle? { self == .last ? nil : AttributeHandle(rawValue: rawValue + 1) }

    /// The handle before; nil before 0x0000.
    public var previous: AttributeHandle? { self == .none ? nil : AttributeHandle(rawValue: rawValue - 1) }

    public static func < (left: AttributeHandle, right: AttributeHandle) -> Bool { left.rawValue < right.rawValue }
}

extension AttributeHandle: CustomStringConvertible {
    /// Four hexadecimal digits in lower case.
    public var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}

/// Two handles of a packet. Nothing keeps a peer from sending the higher one first; see ``isValid``.
public struct HandleRange: Hashable, Sendable {
    /// The first handle, or that of a found attribute.
    public var start: AttributeHandle
    /// The last handle, or the end of a group.
    public var end: AttributeHandle

    /// Creates a range.
    public init(_ start: AttributeHandle, _ end: AttributeHandle) {
        self.start = start
        self.end = end
    }

    /// All handles.
    public static let all = HandleRange(.first, .last)

    /// True for a range that a request may have: not from 0x0000, and not backwards (Part F, 3.4.3.1).
    public var isValid: Bool { start != .none && start <= end }

    /// True where the handle lies in the range.
    public func contains(_ handle: AttributeHandle) -> Bool { start <= handle && handle <= end }
}

extension HandleRange: CustomStringConvertible {
    /// Such as `0001-000b`.
    public var description: String { "\(start)-\(end)" }
}
