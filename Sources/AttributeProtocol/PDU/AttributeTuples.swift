/// An attribute's handle and type: an entry of Find Information Response (Core Specification, Vol 3, Part F, 3.4.3.2).
package struct AttributeInformation: Hashable, Sendable {
    package var handle: AttributeHandle
    package var type: AttributeType

    /// Creates an entry.
    package init(_ handle: AttributeHandle, _ type: AttributeType) {
        self.handle = handle
        self.type = type
    }
}

/// An attribute's handle and value: an entry of Read By Type Response (Part F, 3.4.4.2) or of Multiple Handle Value
/// Notification (3.4.7.4).
package struct AttributeValue: Hashable, Sendable {
    package var handle: AttributeHandle
    /// The value, or its beginning where it does not fit.
    package var value: [UInt8]

    /// Creates an entry.
    package init(_ handle: AttributeHandle, _ value: [UInt8]) {
        self.handle = handle
        self.value = value
    }
}

/// A group of attributes and the value of its first: an entry of Read By Group Type Response (Part F, 3.4.4.10).
package struct AttributeGroup: Hashable, Sendable {
    /// From the grouping attribute to the end of its group.
    package var range: HandleRange
    /// The value of the grouping attribute, or its beginning.
    package var value: [UInt8]

    /// Creates an entry.
    package init(_ range: HandleRange, _ value: [UInt8]) {
        self.range = range
        self.value = value
    }
}

/// A value with its length: an entry of Read Multiple Variable Response (Part F, 3.4.4.12).
package struct VariableLengthValue: Hashable, Sendable {
    /// How long the value is on the server, in bytes.
    package var length: UInt16
    /// The value; shorter than `length` where it is the last of a response and did not fit.
    package var value: [UInt8]

    /// Creates an entry.
    package init(length: UInt16, value: [UInt8]) {
        self.length = length
        self.value = value
    }
}
