/// The number under which a server keeps an attribute, 0x0001 ... 0xFFFF (Core Specification, Vol 3, Part F, 3.2.2).
package struct AttributeHandle: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt16

    /// Creates a handle. 0x0000 is reserved, but stands in packets, where it means that no attribute is concerned.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The reserved handle.
    package static let none = AttributeHandle(rawValue: 0x0000)
    /// The lowest handle of an attribute.
    package static let first = AttributeHandle(rawValue: 0x0001)
    /// The highest handle of an attribute.
    package static let last = AttributeHandle(rawValue: 0xFFFF)

    /// The handle that follows; nil after the last.
    package var next: AttributeHandle? { self == .last ? nil : AttributeHandle(rawValue: rawValue + 1) }

    /// The handle before; nil before 0x0000.
    package var previous: AttributeHandle? { self == .none ? nil : AttributeHandle(rawValue: rawValue - 1) }

    package static func < (left: AttributeHandle, right: AttributeHandle) -> Bool { left.rawValue < right.rawValue }
}

extension AttributeHandle: CustomStringConvertible {
    /// Four hexadecimal digits in lower case.
    package var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}

/// Two handles of a packet. Nothing keeps a peer from sending the higher one first; see ``isValid``.
package struct HandleRange: Hashable, Sendable {
    /// The first handle, or that of a found attribute.
    package var start: AttributeHandle
    /// The last handle, or the end of a group.
    package var end: AttributeHandle

    /// Creates a range.
    package init(_ start: AttributeHandle, _ end: AttributeHandle) {
        self.start = start
        self.end = end
    }

    /// All handles.
    package static let all = HandleRange(.first, .last)

    /// True for a range that a request may have: not from 0x0000, and not backwards (Part F, 3.4.3.1).
    package var isValid: Bool { start != .none && start <= end }

    /// True where the handle lies in the range.
    package func contains(_ handle: AttributeHandle) -> Bool { start <= handle && handle <= end }
}

extension HandleRange: CustomStringConvertible {
    /// Such as `0001-000b`.
    package var description: String { "\(start)-\(end)" }
}
