import Testing

@testable import Centre

@Suite("Rows for COPY")
struct CopyStreamTests {
    /// Compared with what `COPY (SELECT 7, NULL::bigint, '{1,NULL,-2}'::int[], '00112233-4455-6677-8899-aabbccddeeff'::uuid) TO
    /// STDOUT (FORMAT binary)` writes (PostgreSQL 15.18).
    @Test("are those that PostgreSQL itself writes")
    func bytes() {
        var copy = CopyStream()
        copy.beginRow(fieldCount: 4)
        copy.append(integer: 7)
        copy.appendNull()
        copy.append(integers: [1, nil, -2])
        copy.append(uuid: "00112233-4455-6677-8899-aabbccddeeff")
        let hexadecimal = copy.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let expected = [
            "5047434f50590aff0d0a00000000000000000000040000000400000007ffffffff00000028000000",
            "01000000010000001700000003000000010000000400000001ffffffff00000004fffffffe000000",
            "1000112233445566778899aabbccddeeffffff",
        ].joined()
        #expect(hexadecimal == expected)
        #expect(copy.rowCount == 1)
    }

    @Test("are parameters of a statement, row by row")
    func rows() {
        var copy = CopyStream()
        #expect(copy.rows.isEmpty)
        for integer in [7, -2] as [Int32] {
            copy.beginRow(fieldCount: 3)
            copy.append(integer: integer)
            copy.appendNull()
            copy.append(bigint: 1)
        }
        let expected: [[[UInt8]?]] = [
            [[0, 0, 0, 7], nil, [0, 0, 0, 0, 0, 0, 0, 1]], [[0xFF, 0xFF, 0xFF, 0xFE], nil, [0, 0, 0, 0, 0, 0, 0, 1]],
        ]
        #expect(copy.rows == expected)
        #expect(copy.byteCount == copy.bytes.count - 2)
    }

    @Test("have the ends of integers, and NULL for what is no UUID")
    func ends() {
        var copy = CopyStream()
        copy.append(bigint: Int64.min)
        copy.append(integer: Int32.max)
        copy.append(uuid: "nothing")
        let tail = Array(copy.bytes.dropFirst(19).dropLast(2))
        #expect(tail == [0, 0, 0, 8, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
    }
}

@Suite("Arrays of integers that come back")
struct IntegerArrayTests {
    private func encoded(_ integers: [Int32?]) -> [UInt8] {
        var copy = CopyStream()
        copy.append(integers: integers)
        // Without the head of COPY, the length of the field, and the end.
        return Array(copy.bytes.dropFirst(19 + 4).dropLast(2))
    }

    @Test("are those that were sent", arguments: [[1, nil, -2], [], [nil], [Int32.max, Int32.min, 0]] as [[Int32?]])
    func roundTrip(integers: [Int32?]) {
        #expect(IntegerArray.decode(encoded(integers)) == integers)
    }

    @Test("An empty array has no dimension")
    func empty() { #expect(IntegerArray.decode([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 23]) == []) }

    @Test("are refused where they are cut, longer than they say, of another type, or of more than there can be")
    func damaged() {
        let sound = encoded([1, nil, -2])
        for count in 0..<sound.count { #expect(IntegerArray.decode(Array(sound.prefix(count))) == nil, "\(count) bytes") }
        #expect(IntegerArray.decode(sound + [0]) == nil)
        for (offset, byte) in [(3, UInt8(2)), (11, 20), (12, 0x7F), (12, 0x80), (23, 8)] {
            var bytes = sound
            bytes[offset] = byte
            #expect(IntegerArray.decode(bytes) == nil, "byte \(offset)")
        }
    }
}

@Suite("Names of recordings at a centre")
struct CentreRecordingTests {
    @Test(
        "A UUID is known from anything else before the centre is asked",
        arguments: [
            ("0b5fd3a2-7c1e-4b8e-9a43-5f2f6f0d9b11", true), ("0B5FD3A2-7C1E-4B8E-9A43-5F2F6F0D9B11", true),
            ("0b5fd3a27c1e4b8e9a435f2f6f0d9b11", false), ("0b5fd3a2-7c1e-4b8e-9a43-5f2f6f0d9b1g", false),
            ("'; DROP TABLE sample_block; --", false), ("", false), ("0b5fd3a2-7c1e-4b8e-9a43-5f2f6f0d9b11-", false),
        ])
    func uuid(text: String, isUUID: Bool) { #expect(CentreRecording.isUUID(text) == isUUID) }
}

@Suite("Errors of a centre")
struct CentreErrorTests {
    @Test(
        "say whether time may mend it",
        arguments: [
            ("40001", CentreError.Disposition.retry), ("57P01", .retry), ("53100", .retry), ("58030", .retry),
            ("42501", .person),
            ("23505", .person), ("08006", .retry), ("25006", .retry), ("25001", .person), ("55P03", .retry),
        ])
    func disposition(state: String, disposition: CentreError.Disposition) {
        #expect(CentreError.refused(state: state, detail: "").disposition == disposition)
    }

    @Test(
        "An address with a password, or that is none, is refused before anybody is asked",
        arguments: [
            "postgresql://pi:secret@localhost/study", "host=/tmp password=secret", "postgresql://[", "colour=blue",
            "postgresql://pi:secret@[", "postgresql://pi:secret@host:port/x", "password='secret", "secret",
        ])
    func address(text: String) {
        #expect {
            _ = try CentreConnection(text)
        } throws: { error in
            guard case CentreError.address(let reason) = error else { return false }
            return !reason.contains("secret")
        }
    }

    @Test("An address that can be used has no problem")
    func usable() {
        for address in ["postgresql://pi@study.example.org/study", "host=/run/postgresql dbname=study", "postgresql:///study"] {
            #expect(CentreConnection.problem(of: address) == nil)
        }
    }

    @Test("A server that is not there cannot be reached")
    func absent() {
        #expect {
            _ = try CentreConnection("host=/nonexistent dbname=study")
        } throws: { error in
            if case CentreError.unreachable = error { true } else { false }
        }
    }
}
