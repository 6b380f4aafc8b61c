import Evidence
import Foundation
import GRDB

/// How many rows, and the sum of their digests.
struct OwnedSum: Hashable, Sendable {
    var rowCount: Int64 = 0
    var sum = DigestSum()

    mutating func add(_ digest: Digest) {
        rowCount += 1
        sum.add(digest)
    }

    var data: Data { Data(sum.bytes) }
}

/// What the triggers of ``DigestedTable`` compute with.
enum RowDigestFunctions {
    static func add(to db: Database) throws {
        // row_digest(table, values...): the digest of one row, which is also the sum of it alone.
        db.add(
            function: DatabaseFunction("row_digest", pure: true) { values in
                guard let table = values.first.flatMap(String.fromDatabaseValue) else { return nil }
                return Data(digest(table: table, of: values.dropFirst()).bytes)
            })
        db.add(
            function: DatabaseFunction("digest_sum_with", argumentCount: 2, pure: true) { values in
                try changed(values) { $0.add($1) }
            })
        db.add(
            function: DatabaseFunction("digest_sum_without", argumentCount: 2, pure: true) { values in
                try changed(values) { $0.subtract($1) }
            })
    }

    static func digest(table: String, of values: some Sequence<DatabaseValue>) -> Digest {
        var row = RowDigest(table: table)
        for value in values {
            switch value.storage {
            case .null: row.appendNull()
            case .int64(let integer): row.append(integer: integer)
            case .double(let real): row.append(real: real)
            case .string(let text): row.append(text: text.utf8)
            case .blob(let bytes): row.append(blob: bytes)
            }
        }
        return row.value
    }

    private static func changed(
        _ values: [DatabaseValue], _ change: (inout DigestSum, Digest) -> Void
    ) throws -> Data {
        guard values.count == 2, let bytes = Data.fromDatabaseValue(values[0]), var sum = DigestSum(Array(bytes)),
            let digest = Data.fromDatabaseValue(values[1]).flatMap({ Digest(Array($0)) })
        else { throw StorageError.constraint(detail: "a sum of digests is not 32 bytes") }
        change(&sum, digest)
        return Data(sum.bytes)
    }
}
