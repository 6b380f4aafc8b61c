import CPostgreSQL

/// A row of a result in the server's binary form, which is that of COPY (PostgreSQL 15, COPY, Binary Format). What a server
/// sends is not believed: each length is looked at.
package struct BinaryRow {
    private let libpq: UnsafePointer<LibPQ>
    private let result: OpaquePointer
    private let row: Int32

    init(_ libpq: UnsafePointer<LibPQ>, _ result: OpaquePointer, _ row: Int32) {
        (self.libpq, self.result, self.row) = (libpq, result, row)
    }

    private func bytes(_ column: Int32) -> UnsafeRawBufferPointer? {
        guard column < libpq.pointee.PQnfields(result), libpq.pointee.PQgetisnull(result, row, column) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: libpq.pointee.PQgetvalue(result, row, column), count: Int(libpq.pointee.PQgetlength(result, row, column)))
    }

    /// A bigint.
    func bigint(_ column: Int32) throws(CentreError) -> Int64 {
        guard let bytes = bytes(column), bytes.count == 8 else {
            throw .contradiction(detail: "column \(column) of a result is no bigint")
        }
        return bytes.reduce(0) { $0 << 8 | Int64($1) }
    }

    /// An array of integers, of which some may be NULL; nil where it is NULL itself.
    func integers(_ column: Int32) throws(CentreError) -> [Int32?]? {
        guard let bytes = bytes(column) else { return nil }
        guard let integers = IntegerArray.decode(Array(bytes)) else {
            throw .contradiction(detail: "column \(column) of a result is no array of integers")
        }
        return integers
    }
}

/// Arrays of integers as PostgreSQL sends them: what ``CopyStream/append(integers:)`` writes.
enum IntegerArray {
    /// The key of the type integer in pg_type.
    private static let integerType: Int32 = 23
    /// Dimensions, whether an element is NULL, the type, the count of elements, the lower bound.
    private static let headerSize = 20

    /// The elements of an array of one dimension, or of none; nil for other bytes.
    static func decode(_ bytes: [UInt8]) -> [Int32?]? {
        func word(_ offset: Int) -> Int32? {
            guard offset + 4 <= bytes.count else { return nil }
            return Int32(
                bitPattern: UInt32(bytes[offset]) << 24 | UInt32(bytes[offset + 1]) << 16 | UInt32(bytes[offset + 2]) << 8
                    | UInt32(bytes[offset + 3]))
        }
        guard let dimensions = word(0), word(8) == integerType else { return nil }
        if dimensions == 0 { return bytes.count == 12 ? [] : nil }
        guard dimensions == 1, let count = word(12), count >= 0, Int(count) <= bytes.count / 4 else { return nil }
        var elements: [Int32?] = []
        elements.reserveCapacity(Int(count))
        var offset = headerSize
        for _ in 0..<count {
            guard let size = word(offset) else { return nil }
            offset += 4
            if size == -1 {
                elements.append(nil)
            } else {
                guard size == 4, let value = word(offset) else { return nil }
                elements.append(value)
                offset += 4
            }
        }
        return offset == bytes.count ? elements : nil
    }
}
