/// Puts together the JSON objects that a Muse answers with.
///
/// Each notification holds, behind a byte that counts them, up to 19 characters; what stands after them is left over from
/// older messages. One notification may hold the end of one object and the beginning of the next. Objects are flat and their
/// texts hold no braces: a second opening brace shows that the end of the object before was lost.
package struct MuseReplyAssembler: Sendable {
    /// Longer objects are dropped. The longest known has some 150 characters.
    package static let lengthMaximum = 512

    private var text: [UInt8] = []
    /// The latest notification, to know it again when it comes twice.
    private var latest: [UInt8] = []

    /// Creates an assembler for one link.
    package init() {}

    /// Takes one notification, and calls `object` with each object that has become complete.
    ///
    /// - Returns: how many characters were dropped, because they belong to no object or the object is too long.
    package mutating func append(_ bytes: [UInt8], object: (MuseReply) -> Void) -> Int {
        guard let count = bytes.first else { return 0 }
        // A system may deliver a notification twice. Two of an answer never are alike; those that are one each may be, as two
        // commands can have the same answer.
        if bytes == latest, !isWholeAnswer(bytes) { return min(Int(count), bytes.count - 1) }
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

    /// True of a notification that is an object of its own.
    private func isWholeAnswer(_ bytes: [UInt8]) -> Bool {
        let characters = bytes.dropFirst().prefix(Int(bytes.first ?? 0))
        return text.isEmpty && characters.first == UInt8(ascii: "{") && characters.last == UInt8(ascii: "}")
    }
}

/// One JSON object of a Muse: flat, with numbers and short texts.
package struct MuseReply: Hashable, Sendable {
    /// The object's characters, from brace to brace.
    package let text: [UInt8]

    /// Wraps an object.
    package init(text: [UInt8]) {
        self.text = text
    }

    /// True where the object is complete: pairs of a key and a value, separated by commas. Where a notification was lost or
    /// came out of order, an object rarely is.
    package var isWellFormed: Bool {
        var rest = text[...]
        rest.skipBlanks()
        guard rest.popFirst() == UInt8(ascii: "{") else { return false }
        repeat {
            rest.skipBlanks()
            guard rest.first == UInt8(ascii: "\""), rest.skipValue() else { return false }
            rest.skipBlanks()
            guard rest.popFirst() == UInt8(ascii: ":") else { return false }
            rest.skipBlanks()
            guard rest.skipValue() else { return false }
            rest.skipBlanks()
            guard let next = rest.popFirst() else { return false }
            if next == UInt8(ascii: "}") { return rest.isEmpty }
            guard next == UInt8(ascii: ",") else { return false }
        } while true
    }

    /// The serial number. What is left of a spoiled answer can look like one: it is believed only where the headset's address,
    /// which follows it, has its form too, and it is printable.
    package var serialNumber: String? {
        guard let serial = self["sn"], let address = self["ma"], !serial.isEmpty, serial.utf8.count <= 20 else { return nil }
        let digits = address.utf8.enumerated().allSatisfy { index, character in
            index % 3 == 2 ? character == UInt8(ascii: "-") : Character(UnicodeScalar(character)).isHexDigit
        }
        let isPrintable = serial.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return digits && isPrintable && address.utf8.count == 17 ? serial : nil
    }

    /// The charge in percent; nil where there is none, or none that can be.
    package var batteryPercent: Double? { number("bp").flatMap { (0...100).contains($0) ? $0 : nil } }

    /// The value of a key as it stands there, without quotes; nil where there is none.
    package subscript(_ key: String) -> String? {
        let characters = text[...]
        guard let value = Self.value(of: Array(("\"" + key + "\"").utf8), in: characters) else { return nil }
        return String(decoding: value, as: UTF8.self)
    }

    /// The value of a key as a number.
    package func number(_ key: String) -> Double? { self[key].flatMap { Double($0) } }

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

extension ArraySlice<UInt8> {
    fileprivate mutating func skipBlanks() { self = drop { $0 <= 0x20 } }

    /// Skips a text in quotes, or a number or word; false where there is neither.
    fileprivate mutating func skipValue() -> Bool {
        if first == UInt8(ascii: "\"") {
            self = dropFirst().drop { $0 != UInt8(ascii: "\"") && $0 > 0x1F }
            return popFirst() == UInt8(ascii: "\"")
        }
        let isWord: (UInt8) -> Bool = { byte in
            Character(UnicodeScalar(byte)).isLetter && byte < 0x80 || (0x30...0x39).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".")
        }
        guard let first, isWord(first) else { return false }
        self = drop(while: isWord)
        return true
    }
}
