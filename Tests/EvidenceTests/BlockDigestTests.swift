import Evidence
import Testing

@Suite("The digest of a block")
struct BlockDigestTests {
    static let identity = StreamIdentity(uuid: "6ba7b810-9dad-81d1-80b4-00c04fd430c8")

    private func digest(_ rows: [(n: Int64, values: [Int32], missing: UInt8)], pieces: Int = 1) -> Digest {
        var block = BlockDigest(previous: Self.identity.genesis(of: .live), channel: 0)
        var bytes = RowBytes(channelCount: 2, capacity: pieces)
        for row in rows {
            if bytes.isFull {
                block.append(bytes)
                bytes.removeAll()
            }
            bytes.append(n: row.n, values: row.values, missing: row.missing)
        }
        block.append(bytes)
        return block.value
    }

    /// Computed with Python's hashlib and struct, from the definition.
    @Test("is that of the definition")
    func known() {
        #expect(
            Self.identity.genesis(of: .live).hexadecimal
                == "25427063b61cea5f73188b5fd0c378ca784ed433710bd7d55d09bf89c6e52316")
        #expect(
            digest([(7, [1, -2], 0), (9, [5, 0], 2)]).hexadecimal
                == "4e8fca4f5b3046817f1b94e71a0186d7e1058ad8d757eda600f5e2021a9d9ac0")
    }

    @Test("does not depend on how many rows are appended at a time", arguments: [1, 2, 5])
    func pieces(capacity: Int) {
        let rows = (0..<5).map { (n: Int64($0), values: [Int32($0), Int32(-$0)], missing: UInt8(0)) }
        #expect(digest(rows, pieces: capacity) == digest(rows, pieces: 3))
    }

    @Test("changes with n, a value, a missing channel, a row's place, and the block before")
    func changes() {
        let rows: [(n: Int64, values: [Int32], missing: UInt8)] = [(1, [1, 2], 0), (2, [0, 3], 0)]
        let others: [[(n: Int64, values: [Int32], missing: UInt8)]] = [
            [(1, [1, 2], 0), (3, [0, 3], 0)], [(1, [1, 2], 0), (2, [0, 4], 0)], [(1, [1, 2], 0), (2, [0, 3], 1)],
            [(2, [0, 3], 0), (1, [1, 2], 0)], [(1, [1, 2], 0)],
        ]
        #expect(Set(others.map { digest($0) } + [digest(rows)]).count == others.count + 1)
        #expect(Self.identity.genesis(of: .live) != Self.identity.genesis(of: .late))
    }

    @Test("of a row that lacks a channel does not depend on what stood in its memory")
    func missingValue() {
        #expect(digest([(1, [1, 99], 2)]) == digest([(1, [1, -5], 2)]))
    }
}

@Suite("A stream's identity")
struct StreamIdentityTests {
    @Test("is a UUID of version 8, and another one for each stream")
    func uuid() {
        let boot = "11111111-1111-4111-8111-111111111111"
        let uuids = [(5, 1, 1), (6, 1, 1), (5, 2, 1), (5, 1, 2)].map {
            StreamIdentity(hostBoot: boot, requested: $0.0, recording: $0.1, stream: $0.2).uuid
        }
        #expect(Set(uuids).count == 4)
        let ofRecordings = [("a", 1), ("b", 1), ("a", 2)].map { StreamIdentity(recording: $0.0, stream: $0.1).uuid }
        #expect(Set(ofRecordings).count == 3)
        for uuid in uuids + ofRecordings {
            #expect(uuid.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
            #expect(Array(uuid)[14] == "8" && "89ab".contains(Array(uuid)[19]))
        }
    }
}
