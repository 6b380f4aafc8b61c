import Bluetooth
import Capture
import Testing

/// Lines of text as scientists have them, of which some are wrong.
struct CaptureTextTests {
    private let uuid = BluetoothUUID(UInt16(0xFFF1))

    private func read(_ lines: String) throws -> (pieces: [Capture.Piece], contents: CaptureContents, CaptureText.Summary) {
        let text = CaptureText(CaptureBytes(Array(lines.utf8)))
        let (contents, summary) = try text.contents()
        let pieces = Array(text)
        #expect(pieces.last?.time == contents.duration)
        return (pieces, contents, summary)
    }

    @Test("Seconds since 1970 are UTC, with or without a byte-order mark", arguments: ["", "\u{FEFF}"])
    func unixSeconds(mark: String) throws {
        let (pieces, contents, summary) = try read(
            mark + "# Prüfung\n1700000000.123\tfff1\t01\r\n1700000000.125\tfff1\t02\n1700000002\tfff1\t03")
        #expect(pieces.map(\.time) == [.zero, .milliseconds(2), .milliseconds(1877)])
        #expect(pieces.map(\.value) == [[1], [2], [3]])
        #expect(contents.startUnixNanoseconds == 1_700_000_000_123_000_000)
        #expect(contents.characteristics == [uuid])
        #expect(summary == CaptureText.Summary())
    }

    @Test("Small times as programs write them, and a blank in place of the T")
    func kinds() throws {
        let small = try read("0.0\tfff1\t01\n5e-05\tfff1\t02\n1.5\tfff1\t03\n").pieces
        #expect(small.map(\.time.microseconds) == [0, 50, 1_500_000])
        let (_, contents, _) = try read("2024-02-29 12:00:00.5\tfff1\t01\n")
        #expect(contents.startUnixNanoseconds == 1_709_208_000_500_000_000)
    }

    @Test(
        "A line that is wrong is left out and counted, wherever it stands",
        arguments: [
            "x", "1\tfff1", "1\tfff1\t0", "1\tfff1\t0g", "1\tf\t00", "-1\tfff1\t00", "1e9\tfff1\t00", "time\tuuid\thex",
        ])
    func wrongLine(line: String) throws {
        let right = (0..<5).map { "\($0).5\tfff1\t0\($0)" }
        for index in 0...right.count {
            let lines = right[..<index] + [line] + right[index...]
            let (pieces, _, summary) = try read(lines.joined(separator: "\n"))
            #expect(pieces.map(\.value) == (0..<5).map { [UInt8($0)] })
            #expect(summary.wrongLineCount == 1)
            #expect(summary.firstError != nil)
        }
        #expect(throws: CaptureError.self) { try read(line) }
    }

    @Test("One time that is wrong costs its line; notifications out of order by less than a second cost nothing")
    func order() throws {
        func pieces(_ times: [Double]) throws -> (times: [Double], wrong: Int) {
            let (pieces, _, summary) = try read(times.map { "\($0)\tfff1\t00" }.joined(separator: "\n"))
            return (pieces.map { Double($0.time.microseconds) / 1e6 }, summary.wrongLineCount)
        }
        #expect(try pieces([0, 1, 900, 2, 3]) == ([0, 1, 2, 3], 1))
        #expect(try pieces([900, 0, 1, 2, 3]) == ([0, 1, 2, 3], 1))
        #expect(try pieces([10, 11, 0, 12, 13]) == ([0, 1, 2, 3], 1))
        #expect(try pieces([0, 1, 1.25, 1.125, 2]) == ([0, 1, 1.25, 1.25, 2], 0))
        #expect(throws: CaptureError.timeGoesBackwards(line: 6)) { try pieces([10, 11, 12, 0, 1, 2, 3, 4]) }
    }

    @Test("A file is read in parts, in which lines and pieces of any length are whole")
    func parts() throws {
        let lines = (0..<40_000).map { "\($0)\tfff1\t" + String(repeating: "ab", count: $0 % 50) }
        let bytes = Array(lines.joined(separator: "\n").utf8)
        var largest = 0
        let source = CaptureBytes(count: bytes.count) { offset, count in
            Array(bytes[offset..<min(bytes.count, offset + min(count, 1000))])
        }
        for (number, piece) in CaptureText(source).enumerated() {
            #expect(piece.time == .seconds(number) && piece.value.count == number % 50)
            largest = number
        }
        #expect(largest == 39_999)
        let stream = CaptureByteStream(source, characteristic: uuid, bytesPerSecond: 100, pieceLength: 777)
        #expect(stream.flatMap(\.value) == bytes)
        #expect(stream.contents.duration == Array(stream).last?.time)
    }

    @Test("A btsnoop file that was cut off holds what comes before the cut")
    func cutOff() throws {
        var file = SnoopFile(datalink: 1002)
        file.discovery(short: 0xFFF1, handle: 0x20)
        for number: UInt8 in 0..<10 { file.notification(handle: 0x20, [number], at: UInt64(number) * 1000) }
        let snoop = try CaptureSnoop(CaptureBytes(Array(file.bytes.dropLast(3))))
        #expect(snoop.damagedOffset != nil)
        let pieces = snoop.contents(of: try snoop.choose()).pieces
        #expect(pieces.underestimatedCount == 0)
        var iterator = pieces.makeIterator()
        var values: [[UInt8]] = []
        while let piece = iterator.next() { values.append(piece.value) }
        #expect(values == (0..<9).map { [$0] })
        #expect(try CaptureSnoop(CaptureBytes(file.bytes)).damagedOffset == nil)
    }
}

extension Duration {
    fileprivate var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
