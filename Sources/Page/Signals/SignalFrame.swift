package import Foundation

/// Numbers to draw as they go to the browser: four bytes with the length of a JSON document, that document, padded with
/// spaces so that what follows lies at a multiple of eight bytes, and numbers of 32 bits. Everything is little-endian.
package enum SignalFrame {
    /// A frame of rows: for each the seconds since the document's `start_ms`, as Float32; then, row after row, the values of
    /// its channels, as Int32, ``SignalColumns/nothing`` where one is missing.
    package static func rows(_ about: Data, seconds: [Float], values: [Int32]) -> Data {
        frame(about, bytes: 4 * (seconds.count + values.count)) { data in
            append(seconds.map(\.bitPattern), to: &data)
            append(values.map(UInt32.init(bitPattern:)), to: &data)
        }
    }

    /// A frame of columns: channel after channel the least values, then the greatest, as Int32.
    package static func columns(_ about: Data, _ columns: SignalColumns) -> Data {
        frame(about, bytes: 8 * columns.minimum.count) { data in
            append(columns.minimum.map(UInt32.init(bitPattern:)), to: &data)
            append(columns.maximum.map(UInt32.init(bitPattern:)), to: &data)
        }
    }

    private static func frame(_ about: Data, bytes: Int, _ body: (inout Data) -> Void) -> Data {
        let padding = (8 - (4 + about.count) % 8) % 8
        var data = Data(capacity: 4 + about.count + padding + bytes)
        append([UInt32(about.count + padding)], to: &data)
        data.append(about)
        data.append(contentsOf: repeatElement(UInt8(ascii: " "), count: padding))
        body(&data)
        return data
    }

    private static func append(_ words: [UInt32], to data: inout Data) {
        words.map(\.littleEndian).withUnsafeBytes { data.append(contentsOf: $0) }
    }
}
