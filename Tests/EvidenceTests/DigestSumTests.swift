import Evidence
import Testing

@Suite("A sum of digests")
struct DigestSumTests {
    private let digests = (0..<20).map { Digest(of: "\($0)") }

    @Test("does not depend on the order, and what is taken away is gone")
    func order() {
        var (forth, back) = (DigestSum(), DigestSum())
        digests.forEach { forth.add($0) }
        digests.reversed().forEach { back.add($0) }
        #expect(forth == back && forth != DigestSum())
        digests.forEach { forth.subtract($0) }
        #expect(forth == DigestSum())
    }

    @Test("carries over all of its 32 bytes")
    func carries() throws {
        let one = try #require(Digest([1] + [UInt8](repeating: 0, count: 31)))
        var sum = try #require(DigestSum([UInt8](repeating: 255, count: 32)))
        sum.add(one)
        #expect(sum == DigestSum())
        sum.subtract(one)
        #expect(sum.bytes == [UInt8](repeating: 255, count: 32))
        var middle = try #require(DigestSum([UInt8](repeating: 255, count: 8) + [UInt8](repeating: 0, count: 24)))
        middle.add(one)
        #expect(middle.bytes == [UInt8](repeating: 0, count: 8) + [1] + [UInt8](repeating: 0, count: 23))
    }

    @Test("that was stored is 32 bytes")
    func stored() {
        var sum = DigestSum()
        digests.forEach { sum.add($0) }
        #expect(DigestSum(sum.bytes) == sum)
        #expect(DigestSum([1, 2]) == nil && Digest([1]) == nil)
    }
}

@Suite("The digest of a table's row")
struct RowDigestTests {
    /// Computed with Python's hashlib and struct, from the definition.
    @Test("is that of the definition")
    func known() {
        var row = RowDigest(table: "gap")
        row.append(integer: -5)
        row.append(real: 0.25)
        row.append(text: "é".utf8)
        row.append(blob: [1, 2])
        row.appendNull()
        #expect(row.value.hexadecimal == "ad5fa3bf7570d4ac1ff7c5b2b0ef1d06925a1db1e71d45471375246c4143445b")
    }

    @Test("distinguishes types, and where one text ends")
    func types() {
        func digest(_ body: (inout RowDigest) -> Void) -> Digest {
            var row = RowDigest(table: "t")
            body(&row)
            return row.value
        }
        let digests = [
            digest { $0.append(integer: 0) }, digest { $0.append(real: 0) }, digest { $0.append(text: "".utf8) },
            digest { $0.append(blob: []) }, digest { $0.appendNull() },
            digest {
                $0.append(text: "ab".utf8)
                $0.append(text: "c".utf8)
            },
            digest {
                $0.append(text: "a".utf8)
                $0.append(text: "bc".utf8)
            },
        ]
        #expect(Set(digests).count == digests.count)
    }
}
