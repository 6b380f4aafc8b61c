/// Puts together the JSON objects that a Muse answers with.
///
/// Each notification holds, behind a byte that counts them, up to 19 characters; what stands after them is left over from
/// older messages. One notification may hold the end of one object and the beginning of the next. Objects are flat and their
/// texts hold no braces: a second opening brace tells that the end of the object before was lost.
public struct MuseReplyAssembler: Sendable {
    /// Longer objects are dropped. The longest known has some 150 characters.
    public static let lengthMaximum = 512

    private var text: [UInt8] = []
    /// The latest notification, to know it again when it comes twice.
    private var latest: [UInt8] = []

    /// Creates an assembler for one link.
    public init() {}

    /// Takes one notification, and calls `object` with each object that has become complete.
    ///
    /// - Returns: how many characters were dropped, because they belong to no object or the object is too long.
    public mutating func append(_ bytes: [UInt8], object: (MuseReply) -> Void) -> Int {
        guard let count = bytes.first else { return 0 }
        // A system may deliver a notification twice. Two of an answer never are alike, but for short ones that say nothing.
        if bytes == latest { return Int(count) }
        latest = bytes
        var dropped = 0
        for character in bytes.dropFirst().prefix(Int(count)) {
            switch character {
            case UInt8(ascii: "{"):
                dropped += text.count
                text.removeAll(keepingCapacity: true)
                text.append(character)
            // Line ends between two objects are no loss.
            case _ where text.isEmpty: if character > 0x20 { dropped += 1 }
            case UInt8(ascii: "}"):
                text.append(character)
                object(MuseReply(text: text))
                text.removeAll(keepingCapacity: true)
            case _ where text.count >= Self.lengthMaximum:
                dropped += text.count + 1
                text.removeAll(keepingCapacity: true)
            default: text.append(character)
            }
        }
        return dropped
    }
}

/// One JSON object of a Muse: flat, with numbers and short texts.
public struct MuseReply: Hashable, Sendable {
    /// The object's characters, from brace to brace.
    public let text: [UInt8]

    /// Wraps an object.
    public init(text: [UInt8]) {
        self.text = text
    }

    /// The value of a key as it stands there, without quotes; nil where there is none.
    public subscript(_ key: String) -> String? {
        let characters = text[...]
        guard let value = Self.value(of: Array(("\"" + key + "\"").utf8), in: characters) else { return nil }
        return String(decoding: value, as: UTF8.self)
    }

    /// The value of a key as a number.
    public func number(_ key: String) -> Double? { self[key].flatMap { Double($0) } }

    private static func value(of key: [UInt8], in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let blank: (UInt8) -> Bool = { $0 <= 0x20 }
        var start = text.startIndex
        while text.endIndex - start > key.count {
            let rest = text[start...]
            start += 1
            guard rest.starts(with: key) else { continue }
            var value = rest.dropFirst(key.count).drop(while: blank)
            // The same word as a value is followed by a comma or a brace.
            guard value.popFirst() == UInt8(ascii: ":") else { continue }
            value = value.drop(while: blank)
            if value.first == UInt8(ascii: "\"") {
                return value.dropFirst().prefix { $0 != UInt8(ascii: "\"") }
            }
            return value.prefix { $0 > 0x20 && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "}") }
        }
        return nil
    }
}
