import Bluetooth
import Foundation

/// A batch that stands in a spool.
struct SpooledBatch {
    var batch: WriteBatch
    /// When it was put there.
    var at: MonotonicTime
}

/// A batch as the file has it: a header of 24 bytes, then JSON for everything but the values of rows, then those values.
///
/// The header is, little-endian: a mark (4 bytes), how many bytes follow it (4), the batch's number (8), and a checksum of
/// what follows (8): FNV-1a of 64 bits. It finds a record that was cut short by the death of the process or of the machine,
/// and what is left of earlier records behind the last one.
struct SpoolRecord {
    /// What a record begins with: "EEGS".
    private static let mark: UInt32 = 0x5347_4545
    static let headerSize = 24

    /// Everything but the values of rows.
    private struct Contents: Codable {
        var at: MonotonicTime
        var parts: [HeadsetPart]
        var changes: [Change]
        var rows: [Rows]

        struct Rows: Codable {
            var stream: StreamID
            var channelCount: Int
            var firstN: Int64
            var rowCount: Int
            var hasMissingChannels: Bool
        }
    }

    /// The bytes of a batch.
    ///
    /// - Throws: ``StorageError/spool(path:reason:)`` for one that is larger than a record can be.
    static func bytes(of spooled: SpooledBatch, path: String) throws(StorageError) -> Data {
        let batch = spooled.batch
        let contents = Contents(
            at: spooled.at, parts: batch.parts, changes: batch.changes,
            rows: batch.samples.map { rows in
                Contents.Rows(
                    stream: rows.stream, channelCount: rows.channelCount, firstN: rows.firstN, rowCount: rows.rowCount,
                    hasMissingChannels: !rows.missingChannels.isEmpty)
            })
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        guard let json = try? encoder.encode(contents), let jsonSize = UInt32(exactly: json.count) else {
            throw .spool(path: path, reason: "batch \(batch.number) cannot be encoded")
        }
        var body = Data(capacity: json.count + 4 + batch.rowCount * 36)
        body.append(littleEndian: jsonSize)
        body.append(json)
        for rows in batch.samples {
            rows.values.withUnsafeBytes { body.append(contentsOf: $0) }
            body.append(contentsOf: rows.missingChannels)
        }
        guard let bodySize = UInt32(exactly: body.count) else {
            throw .spool(path: path, reason: "batch \(batch.number) has \(body.count) bytes")
        }
        var record = Data(capacity: headerSize + body.count)
        record.append(littleEndian: mark)
        record.append(littleEndian: bodySize)
        record.append(littleEndian: batch.number)
        record.append(littleEndian: checksum(of: body))
        record.append(body)
        return record
    }

    /// The whole batches at the beginning of some bytes: each number is higher than the one before, and each checksum is right.
    static func batches(in bytes: Data) -> [SpooledBatch] {
        var batches: [SpooledBatch] = []
        var rest = bytes[...]
        while let (batch, size) = first(in: rest), batch.batch.number > batches.last?.batch.number ?? 0 {
            batches.append(batch)
            rest = rest.dropFirst(size)
        }
        return batches
    }

    private static func first(in bytes: Data.SubSequence) -> (batch: SpooledBatch, size: Int)? {
        guard bytes.count >= headerSize, bytes.integer(at: 0, as: UInt32.self) == mark else { return nil }
        let size = Int(bytes.integer(at: 4, as: UInt32.self))
        let number = bytes.integer(at: 8, as: UInt64.self)
        let body = bytes.dropFirst(headerSize).prefix(size)
        guard body.count == size, size >= 4, checksum(of: body) == bytes.integer(at: 16, as: UInt64.self) else { return nil }
        return batch(number, of: body).map { ($0, headerSize + size) }
    }

    private static func batch(_ number: UInt64, of body: Data.SubSequence) -> SpooledBatch? {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let jsonSize = Int(body.integer(at: 0, as: UInt32.self))
        var rest = body.dropFirst(4)
        guard rest.count >= jsonSize, let contents = try? decoder.decode(Contents.self, from: Data(rest.prefix(jsonSize)))
        else { return nil }
        rest = rest.dropFirst(jsonSize)
        var batch = WriteBatch(number: number)
        (batch.parts, batch.changes) = (contents.parts, contents.changes)
        for rows in contents.rows {
            let valueCount = rows.rowCount * rows.channelCount
            let missingCount = rows.hasMissingChannels ? rows.rowCount : 0
            guard rest.count >= valueCount * 4 + missingCount else { return nil }
            let values = (0..<valueCount).map { rest.integer(at: $0 * 4, as: Int32.self) }
            rest = rest.dropFirst(valueCount * 4)
            batch.samples.append(
                SampleRows(
                    stream: rows.stream, channelCount: rows.channelCount, firstN: rows.firstN, values: values,
                    missingChannels: Array(rest.prefix(missingCount))))
            rest = rest.dropFirst(missingCount)
        }
        return SpooledBatch(batch: batch, at: contents.at)
    }

    /// FNV-1a, 64 bits (Fowler, Noll and Vo).
    private static func checksum(of bytes: Data) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        }
    }
}

extension Data {
    fileprivate mutating func append(littleEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    /// The little-endian integer `offset` bytes from the beginning, which must be there.
    fileprivate func integer<Value: FixedWidthInteger>(at offset: Int, as type: Value.Type) -> Value {
        withUnsafeBytes { Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Value.self)) }
    }
}
