import Crypto

/// A digest of SHA-256 (FIPS 180-4).
package struct Digest: Hashable, Sendable {
    /// 32 bytes.
    package let bytes: [UInt8]

    /// How long a digest is.
    package static let length = 32

    /// A digest that was stored; nil where these are not 32 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    /// A digest as ``hexadecimal`` writes it; nil for anything else.
    package init?(hexadecimal text: String) {
        let digits = text.utf8.map { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            default: nil
            }
        }
        guard digits.count == 2 * Self.length, !digits.contains(nil) else { return nil }
        let values = digits.compactMap(\.self)
        bytes = (0..<Self.length).map { values[2 * $0] << 4 | values[2 * $0 + 1] }
    }

    /// The digest of a text's UTF-8.
    package init(of text: String) {
        self.init(SHA256.hash(data: Array(text.utf8)))
    }

    init(_ digest: SHA256Digest) {
        bytes = Array(digest)
    }

    /// 64 lowercase hexadecimal digits.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// A UUID of version 8 (RFC 9562, 5.8) as text, made of the first 128 bits: the same digest gives the same one everywhere.
    package var uuid: String {
        var bytes = Array(self.bytes.prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.map { byte in
            let text = String(byte, radix: 16)
            return text.count == 2 ? text : "0" + text
        }
        let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }
        return groups.joined(separator: "-")
    }
}
