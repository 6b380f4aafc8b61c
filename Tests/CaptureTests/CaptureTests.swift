import Bluetooth
import Capture
import Headsets
import Simulation
import Testing

/// Captures of every format, and bytes that only pretend to be one.
struct CaptureTests {
    private let uuid = BluetoothUUID(UInt16(0xFFF1))

    // MARK: Byte stream

    @Test("A byte stream is cut into pieces at its nominal rate, without losing a byte")
    func byteStream() {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        let capture = Capture(byteStream: bytes, bytesPerSecond: 100, pieceLength: 128)
        #expect(capture.pieces.flatMap(\.value) == bytes)
        #expect(capture.pieces.count == 8)
        #expect(capture.pieces[1].time == .milliseconds(1280))
        #expect(capture.duration == .milliseconds(8720))
        #expect(Capture(byteStream: []).pieces.isEmpty)
    }

    // MARK: Text

    private func text(_ lines: String) throws(CaptureError) -> Capture { try Capture(text: Array(lines.utf8)) }

    @Test("Lines give pieces with times since the first")
    func lines() throws {
        let capture = try text("# comment\n1.5\tfff1\t01 02\r\n\n2.25\t0000FFF1-0000-1000-8000-00805F9B34FB\tff\n3\tFFF1\t\n")
        #expect(
            capture.pieces == [
                .init(time: .zero, characteristic: uuid, value: [1, 2]),
                .init(time: .milliseconds(750), characteristic: uuid, value: [255]),
                .init(time: .milliseconds(1500), characteristic: uuid, value: []),
            ])
    }

    @Test("ISO 8601 times may have fractions and offsets, and cross midnight in a leap year")
    func absoluteTimes() throws {
        let lines = ["2024-02-28T23:59:59.5Z", "2024-02-29T01:00:00.25+01:00", "2024-03-01T00:00:00Z"]
        let capture = try text(lines.map { "\($0)\tfff1\t00" }.joined(separator: "\n"))
        #expect(capture.pieces.map(\.time) == [.zero, .milliseconds(750), .milliseconds(86_400_500)])
    }

    @Test(
        "A line that is wrong is named by its number",
        arguments: [
            ("1\tfff1\n", CaptureError.wrongFieldCount(line: 1)), ("1\tfff1\t00\nx\tfff1\t00", .invalidTime(line: 2)),
            ("nan\tfff1\t00", .invalidTime(line: 1)), ("1e300\tfff1\t00", .invalidTime(line: 1)),
            ("2024-13-01T00:00:00Z\tfff1\t00", .invalidTime(line: 1)), ("-1\tfff1\t00", .invalidTime(line: 1)),
            ("1\tfff1\t00\n2024-01-01T00:00:00Z\tfff1\t00", .mixedTimes(line: 2)),
            ("2\tfff1\t00\n1\tfff1\t00", .timeGoesBackwards(line: 2)), ("1\tfff\t00", .invalidCharacteristic(line: 1)),
            ("1\tfff1\t0", .invalidBytes(line: 1)), ("1\tfff1\t0g", .invalidBytes(line: 1)),
            ("1\tfff1\t0 1", .invalidBytes(line: 1)), ("", .empty), ("# nothing\n", .empty),
        ])
    func wrongLines(lines: String, error: CaptureError) {
        #expect(throws: error) { try text(lines) }
        #expect(!error.description.isEmpty)
    }

    // MARK: btsnoop

    @Test(
        "Notifications are taken from each kind of btsnoop file, with UUIDs from the discovery",
        arguments: [1001, 1002, 2001])
    func snoop(datalink: UInt32) throws {
        var file = SnoopFile(datalink: datalink)
        file.discovery(short: 0xFFF1, handle: 0x20)
        file.notification(handle: 0x20, [1, 2, 3], at: 1_000_000)
        file.notification(handle: 0x20, Array(repeating: 9, count: 60), at: 1_250_000, fragment: 27)
        file.notification(handle: 0x99, [4], at: 1_300_000)
        let capture = try Capture(btsnoop: file.bytes)
        #expect(
            capture.pieces == [
                .init(time: .zero, characteristic: uuid, value: [1, 2, 3]),
                .init(time: .milliseconds(250), characteristic: uuid, value: Array(repeating: 9, count: 60)),
            ])
        #expect(capture.unmappedCount == 1)
        #expect(capture.unmappedHandles == [0x99])
        let mapped = try Capture(btsnoop: file.bytes, characteristics: [0x99: .batteryLevel])
        #expect(mapped.pieces.last?.characteristic == .batteryLevel)
    }

    @Test("A discovery of long UUIDs, and several notifications in one packet")
    func longUUIDs() throws {
        var file = SnoopFile(datalink: 1002)
        file.discovery(long: BufferedEEGService.data, handle: 0x31)
        file.attribute([0x23, 0x31, 0, 2, 0, 7, 8, 0x31, 0, 1, 0, 9], isReceived: true, at: 5)
        let capture = try Capture(btsnoop: file.bytes)
        #expect(capture.pieces.map(\.value) == [[7, 8], [9]])
        #expect(capture.pieces.allSatisfy { $0.characteristic == BufferedEEGService.data })
    }

    @Test("What is no btsnoop file, or is cut off, is refused with the place")
    func refused() {
        var file = SnoopFile(datalink: 1002)
        file.notification(handle: 1, [1], at: 0)
        #expect(throws: CaptureError.notBTSnoop) { try Capture(btsnoop: Array("btsnoop".utf8)) }
        #expect(throws: CaptureError.malformedRecord(offset: 16)) { try Capture(btsnoop: Array(file.bytes.dropLast())) }
        #expect(throws: CaptureError.unsupportedDatalink(1003)) { try Capture(btsnoop: SnoopFile(datalink: 1003).bytes) }
        var other = file.bytes
        other[11] = 2
        #expect(throws: CaptureError.unsupportedVersion(2)) { try Capture(btsnoop: other) }
    }

    @Test("No bytes crash a parser: mutated, truncated and random files")
    func fuzz() throws {
        var file = SnoopFile(datalink: 2001)
        file.discovery(short: 0xFFF1, handle: 0x20)
        file.discovery(long: BufferedEEGService.data, handle: 0x31)
        for time: UInt64 in 0..<5 { file.notification(handle: 0x20, Array(repeating: 3, count: 50), at: time, fragment: 20) }
        let lines = Array("1.5\tfff1\t0102\n2024-02-28T23:59:59.5+01:00\tfff1\tff\n".utf8)
        var generator = SeededGenerator(seed: 42)
        var accepted = 0
        for _ in 0..<5_000 {
            for origin in [file.bytes, lines] {
                var bytes = origin
                for _ in 0...generator.below(4) {
                    bytes[Int(generator.below(UInt64(bytes.count)))] = UInt8(truncatingIfNeeded: generator.next())
                }
                if generator.below(4) == 0 { bytes.removeLast(Int(generator.below(UInt64(bytes.count)))) }
                if (try? Capture(btsnoop: bytes)) != nil { accepted += 1 }
                if (try? Capture(text: bytes)) != nil { accepted += 1 }
            }
        }
        #expect(accepted > 250)
    }
}
