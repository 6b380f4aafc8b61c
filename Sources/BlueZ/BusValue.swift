/// A value of D-Bus's type system (D-Bus Specification, "Type System").
indirect enum BusValue: Hashable, Sendable {
    case byte(UInt8)
    case boolean(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(String)
    case signature(String)
    /// A file descriptor. In a reply that was received it is the receiver's own duplicate, who must close it; no other message
    /// that is received has any.
    case descriptor(Int32)
    /// An array of bytes (`ay`).
    case bytes([UInt8])
    /// Any other array, with the signature of its elements.
    case array([BusValue], of: String)
    /// An array of dictionary entries, with the signature of key and value.
    case dictionary([Entry], of: String)
    case structure([BusValue])
    case variant(BusValue)

    /// One entry of a dictionary.
    struct Entry: Hashable, Sendable {
        var key: BusValue
        var value: BusValue
    }

    /// The type's signature.
    var signature: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .descriptor: "h"
        case .bytes: "ay"
        case .array(_, let element): "a" + element
        case .dictionary(_, let entry): "a{\(entry)}"
        case .structure(let members): "(" + members.map(\.signature).joined() + ")"
        case .variant: "v"
        }
    }
}

extension BusValue {
    /// A dictionary from names to variants (`a{sv}`), as most of BlueZ's methods take their options.
    static func options(_ options: KeyValuePairs<String, BusValue> = [:]) -> BusValue {
        .dictionary(options.map { Entry(key: .string($0.key), value: .variant($0.value)) }, of: "sv")
    }

    /// The value itself, out of however many variants.
    var unwrapped: BusValue {
        if case .variant(let value) = self { return value.unwrapped }
        return self
    }

    /// The text of a string, an object path or a signature.
    var text: String? {
        switch unwrapped {
        case .string(let text), .objectPath(let text), .signature(let text): text
        default: nil
        }
    }

    /// The truth value of a boolean.
    var flag: Bool? {
        if case .boolean(let flag) = unwrapped { return flag }
        return nil
    }

    /// The number of any integer type.
    var number: Int64? {
        switch unwrapped {
        case .byte(let value): Int64(value)
        case .int16(let value): Int64(value)
        case .uint16(let value): Int64(value)
        case .int32(let value): Int64(value)
        case .uint32(let value): Int64(value)
        case .int64(let value): value
        case .uint64(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The bytes of a byte array.
    var octets: [UInt8]? {
        if case .bytes(let bytes) = unwrapped { return bytes }
        return nil
    }

    /// The texts of an array of strings or object paths.
    var texts: [String]? {
        if case .array(let elements, _) = unwrapped { return elements.compactMap(\.text) }
        return nil
    }

    /// The entries of a dictionary.
    var entries: [Entry]? {
        if case .dictionary(let entries, _) = unwrapped { return entries }
        return nil
    }
}
