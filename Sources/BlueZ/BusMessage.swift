import CSystemd
import Glibc

/// One message of a D-Bus connection, received or about to be sent. A thin owner of libsystemd's `sd_bus_message`.
final class BusMessage {
    let pointer: OpaquePointer

    /// Takes over a reference.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { sd_bus_message_unref(pointer) }

    // MARK: Header

    /// The bytes of a message that cannot be read as the specification says.
    struct Malformed: Error {}

    var type: UInt8 {
        var type: UInt8 = 0
        sd_bus_message_get_type(pointer, &type)
        return type
    }

    var path: String { Self.text(sd_bus_message_get_path(pointer)) }
    var interface: String { Self.text(sd_bus_message_get_interface(pointer)) }
    var member: String { Self.text(sd_bus_message_get_member(pointer)) }
    var sender: String { Self.text(sd_bus_message_get_sender(pointer)) }

    /// The cookie of the call that this message answers; nil where it answers none.
    var replyCookie: UInt64? {
        var cookie: UInt64 = 0
        return sd_bus_message_get_reply_cookie(pointer, &cookie) >= 0 ? cookie : nil
    }

    /// The error that the message carries; nil where it is none.
    var error: BusError? {
        guard let error = sd_bus_message_get_error(pointer)?.pointee else { return nil }
        return BusError(name: Self.text(error.name), message: Self.text(error.message))
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        pointer.map { String(cString: $0) } ?? ""
    }

    // MARK: Reading

    /// All values of the body.
    ///
    /// - Parameter keepsDescriptors: whether file descriptors are duplicated, for the receiver to close. Only outside of
    ///   containers, which is where bluetoothd has them; a body with any other cannot be read.
    func body(keepsDescriptors: Bool) throws(Malformed) -> [BusValue] {
        var values: [BusValue] = []
        do {
            while let value = try next(keepsDescriptors: keepsDescriptors) { values.append(value) }
        } catch {
            for case .descriptor(let own) in values { close(own) }
            throw error
        }
        return values
    }

    /// The next value of the container that is open; nil at its end.
    private func next(keepsDescriptors: Bool = false) throws(Malformed) -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        let found = sd_bus_message_peek_type(pointer, &type, &contents)
        guard found >= 0 else { throw Malformed() }
        guard found > 0 else { return nil }
        let signature = Self.text(contents)
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "a"):
            if signature == "y" { return .bytes(try byteArray()) }
            let elements = try container(type, signature)
            guard signature.hasPrefix("{") else { return .array(elements, of: signature) }
            let entries = elements.compactMap { element -> BusValue.Entry? in
                guard case .structure(let pair) = element, pair.count == 2 else { return nil }
                return BusValue.Entry(key: pair[0], value: pair[1])
            }
            return .dictionary(entries, of: String(signature.dropFirst().dropLast()))
        case UInt8(ascii: "v"):
            guard let value = try container(type, signature).first else { throw Malformed() }
            return .variant(value)
        case UInt8(ascii: "r"), UInt8(ascii: "e"): return .structure(try container(type, signature))
        case UInt8(ascii: "h") where keepsDescriptors: return try descriptor(type)
        default: return try basic(type)
        }
    }

    private func container(_ type: CChar, _ contents: String) throws(Malformed) -> [BusValue] {
        guard sd_bus_message_enter_container(pointer, type, contents) > 0 else { throw Malformed() }
        var values: [BusValue] = []
        while let value = try next() { values.append(value) }
        guard sd_bus_message_exit_container(pointer) >= 0 else { throw Malformed() }
        return values
    }

    private func byteArray() throws(Malformed) -> [UInt8] {
        var bytes: UnsafeRawPointer?
        var count = 0
        guard sd_bus_message_read_array(pointer, CChar(bitPattern: UInt8(ascii: "y")), &bytes, &count) >= 0 else {
            throw Malformed()
        }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
    }

    private func basic(_ type: CChar) throws(Malformed) -> BusValue {
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "y"): return .byte(try number(type))
        case UInt8(ascii: "b"): return .boolean(try number(type) as Int32 != 0)
        case UInt8(ascii: "n"): return .int16(try number(type))
        case UInt8(ascii: "q"): return .uint16(try number(type))
        case UInt8(ascii: "i"): return .int32(try number(type))
        case UInt8(ascii: "u"): return .uint32(try number(type))
        case UInt8(ascii: "x"): return .int64(try number(type))
        case UInt8(ascii: "t"): return .uint64(try number(type))
        case UInt8(ascii: "d"):
            var value = 0.0
            guard sd_bus_message_read_basic(pointer, type, &value) > 0 else { throw Malformed() }
            return .double(value)
        case UInt8(ascii: "s"): return .string(try string(type))
        case UInt8(ascii: "o"): return .objectPath(try string(type))
        case UInt8(ascii: "g"): return .signature(try string(type))
        default: throw Malformed()
        }
    }

    private func descriptor(_ type: CChar) throws(Malformed) -> BusValue {
        // The message keeps its own; ours must outlive it.
        let own = fcntl(try number(type) as Int32, F_DUPFD_CLOEXEC, 0)
        guard own >= 0 else { throw Malformed() }
        return .descriptor(own)
    }

    private func number<Number: FixedWidthInteger>(_ type: CChar) throws(Malformed) -> Number {
        var value: Number = 0
        guard sd_bus_message_read_basic(pointer, type, &value) > 0 else { throw Malformed() }
        return value
    }

    private func string(_ type: CChar) throws(Malformed) -> String {
        var text: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(pointer, type, &text) > 0 else { throw Malformed() }
        return Self.text(text)
    }
}

// MARK: - Writing

extension BusMessage {
    /// Appends values to the body. What libsystemd refuses shows when the message is sent.
    func append(_ values: [BusValue]) {
        for value in values { append(value) }
    }

    private func append(_ value: BusValue) {
        switch value {
        case .byte(let number): append(number, "y")
        case .boolean(let flag): append(Int32(flag ? 1 : 0), "b")
        case .int16(let number): append(number, "n")
        case .uint16(let number): append(number, "q")
        case .int32(let number): append(number, "i")
        case .uint32(let number): append(number, "u")
        case .int64(let number): append(number, "x")
        case .uint64(let number): append(number, "t")
        case .double(var number): sd_bus_message_append_basic(pointer, Self.code("d"), &number)
        case .string(let text): sd_bus_message_append_basic(pointer, Self.code("s"), text)
        case .objectPath(let text): sd_bus_message_append_basic(pointer, Self.code("o"), text)
        case .signature(let text): sd_bus_message_append_basic(pointer, Self.code("g"), text)
        case .descriptor(let number): append(number, "h")
        case .bytes(let bytes): sd_bus_message_append_array(pointer, Self.code("y"), bytes, bytes.count)
        case .array(let elements, let contents): append(elements, in: "a", contents)
        case .structure(let members): append(members, in: "r", members.map(\.signature).joined())
        case .variant(let inner): append([inner], in: "v", inner.signature)
        case .dictionary(let entries, let contents):
            sd_bus_message_open_container(pointer, Self.code("a"), "{\(contents)}")
            for entry in entries { append([entry.key, entry.value], in: "e", contents) }
            sd_bus_message_close_container(pointer)
        }
    }

    private func append(_ members: [BusValue], in type: Character, _ contents: String) {
        sd_bus_message_open_container(pointer, Self.code(type), contents)
        for member in members { append(member) }
        sd_bus_message_close_container(pointer)
    }

    private func append<Number: FixedWidthInteger>(_ number: Number, _ type: Character) {
        var number = number
        sd_bus_message_append_basic(pointer, Self.code(type), &number)
    }

    private static func code(_ type: Character) -> CChar {
        CChar(bitPattern: type.asciiValue ?? 0)
    }
}
