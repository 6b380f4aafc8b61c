import Crypto

/// The digest of one row of a table, while its values are appended.
///
/// It is SHA-256 of the table's name as a text, and of the values in a stated order. A value is SQLite's code of its type (1
/// byte: 1 integer, 2 real, 3 text, 4 blob, 5 NULL) and its content: integers and reals (IEEE 754) 8 bytes, texts (UTF-8) and
/// blobs their length in 8 bytes, then their bytes; NULL has none. Integers are two's complement, all is little-endian.
package struct RowDigest {
    private var bytes: [UInt8] = []

    /// Begins a row of a table.
    package init(table: String) {
        self.init(table: Array(table.utf8))
    }

    /// Begins a row of a table.
    ///
    /// - Parameter table: the table's name in UTF-8.
    package init(table: some Collection<UInt8>) {
        bytes.reserveCapacity(192)
        append(text: table)
    }

    /// Appends an integer.
    package mutating func append(integer: Int64) {
        bytes.append(1)
        append(word: UInt64(bitPattern: integer))
    }

    /// Appends a real number.
    package mutating func append(real: Double) {
        bytes.append(2)
        append(word: real.bitPattern)
    }

    /// Appends a text, as UTF-8.
    package mutating func append(text: some Collection<UInt8>) {
        bytes.append(3)
        append(word: UInt64(text.count))
        bytes += text
    }

    /// Appends bytes.
    package mutating func append(blob: some Collection<UInt8>) {
        bytes.append(4)
        append(word: UInt64(blob.count))
        bytes += blob
    }

    /// Appends NULL.
    package mutating func appendNull() { bytes.append(5) }

    /// The digest of the row.
    package var value: Digest { Digest(SHA256.hash(data: bytes)) }

    private mutating func append(word: UInt64) {
        withUnsafeBytes(of: word.littleEndian) { bytes += $0 }
    }
}
