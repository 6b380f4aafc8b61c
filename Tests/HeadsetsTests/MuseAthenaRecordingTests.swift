import Bluetooth
import Foundation
import Headsets
import Testing

/// 7 s of a real headset with preset 1034 (Amused-EEG/amused-py, MIT).
@Suite("Muse S Athena recording")
struct MuseAthenaRecordingTests {
    /// The notifications; nil on a machine without them.
    private static let recording: [[UInt8]]? = {
        let root = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "../shared/data/muse-athena-amused.bin").standardizedFileURL
        guard let data = try? Data(contentsOf: file) else {
            print("note: \(file.path) is absent; the tests on it are skipped")
            return nil
        }
        let bytes = Array(data)
        var notifications: [[UInt8]] = []
        var start = 29
        while start + 9 <= bytes.count {
            let end = start + 9 + Int(bytes[start + 7]) + Int(bytes[start + 8]) << 8
            notifications.append(Array(bytes[(start + 9)..<min(end, bytes.count)]))
            start = end
        }
        return notifications
    }()

    private static let streams = MuseAthenaProfile(preset: .p1034).streams

    private static func decode(_ recording: [[UInt8]]) -> Decoded {
        var decoder = MuseAthenaDecoder(preset: .p1034)
        var decoded = Decoded()
        for notification in recording { decoder.decode(notification, from: MuseService.multiplexed, into: &decoded) }
        return decoded
    }

    private static func blocks(_ decoded: Decoded) -> [SampleBlock] {
        decoded.items.compactMap { if case .samples(let block) = $0 { block } else { nil } }
    }

    @Test("holds every block of each kind once, and nothing unknown")
    func blocks() throws {
        guard let recording = Self.recording else { return }
        let decoded = Self.decode(recording)
        #expect(!decoded.items.contains { if case .discarded = $0 { true } else { false } })
        let blocks = Self.blocks(decoded)
        for (stream, count) in [(0, 448), (1, 119), (2, 119), (3, 114), (4, 35)] {
            let own = blocks.filter { $0.stream == stream }
            #expect(own.count == count)
            #expect(own.map(\.counter) == (0..<count).map { UInt32($0 % 256) })
            // Nothing was lost, not even while the optics paused.
            #expect(own.map(\.followsDirectly) == [false] + Array(repeating: true, count: count - 1))
        }
        // Both reference electrodes lie near the middle of 14 bits, apart from each other, and hardly move.
        let reference = blocks.filter { $0.stream == 4 }.flatMap { decoded.values[$0.values] }
        #expect(stride(from: 0, to: reference.count, by: 2).allSatisfy { abs(reference[$0] - 8222) <= 8 })
        #expect(stride(from: 1, to: reference.count, by: 2).allSatisfy { abs(reference[$0] - 8239) <= 8 })
        let values = blocks.filter { $0.stream == 0 }.flatMap { decoded.values[$0.values] }
        #expect(values.allSatisfy { (0...16_383).contains($0) })
        #expect(blocks.allSatisfy { $0.values.upperBound <= decoded.values.count })
        let motion = blocks.filter { $0.stream == 1 }.flatMap { decoded.values[$0.values] }
        // One g, whichever way the headset lay.
        let first = motion.prefix(3).map { Double($0) / 16_384 }
        let length = first.reduce(0) { $0 + $1 * $1 }.squareRoot()
        #expect(abs(length - 1) < 0.2, "\(length) g")
    }

    /// A block's number, turns included, and the headset's clock with it.
    private struct Point {
        var number: Double
        var milliseconds: Double
    }

    /// The longest run of blocks without a pause of a second.
    private static func longestRun(_ blocks: [SampleBlock]) -> [Point] {
        var runs: [[Point]] = [[]]
        var (number, last) = (0.0, blocks.first)
        for block in blocks {
            guard let ticks = block.deviceTicks, let counter = block.counter, let before = last else { continue }
            number += Double((Int64(counter) - Int64(before.counter ?? 0)) & 0xFF)
            if Int64(ticks) - Int64(before.deviceTicks ?? 0) > 1000 { runs.append([]) }
            runs[runs.count - 1].append(Point(number: number, milliseconds: Double(ticks)))
            last = block
        }
        return runs.max { $0.count < $1.count } ?? []
    }

    /// The straight line through the points: milliseconds a block, and the standard deviation from it.
    private static func line(_ points: [Point]) -> (period: Double, deviation: Double) {
        let count = Double(points.count)
        let middle = points.reduce(0) { $0 + $1.number } / count
        let mean = points.reduce(0) { $0 + $1.milliseconds } / count
        let moment = points.reduce(0) { $0 + ($1.number - middle) * ($1.milliseconds - mean) }
        let square = points.reduce(0) { $0 + ($1.number - middle) * ($1.number - middle) }
        let period = moment / square
        let variance = points.reduce(0) { sum, point in
            let deviation = point.milliseconds - mean - period * (point.number - middle)
            return sum + deviation * deviation / count
        }
        return (period, variance.squareRoot())
    }

    @Test("was sent at the declared rates, by the headset's own clock, but for one pause of the optics")
    func rates() throws {
        guard let recording = Self.recording else { return }
        let blocks = Self.blocks(Self.decode(recording))
        for (index, stream) in Self.streams.enumerated() {
            let own = blocks.filter { $0.stream == index }
            let run = Self.longestRun(own)
            // The optics stop for 3.4 s and go on with the next number.
            #expect(run.count == (stream.name == "optics" ? 97 : own.count))
            let frequency = Double(stream.samplesPerCount) * 1000 / Self.line(run).period
            #expect(abs(frequency / stream.samplingFrequency - 1) < 0.02, "\(stream.name): \(frequency) Hz")
        }
    }

    @Test("tells by the clock of a packet when its first block was complete, in steps of 10 ms")
    func clock() throws {
        guard let recording = Self.recording else { return }
        let blocks = Self.blocks(Self.decode(recording.dropFirst(8).map { $0 }))
        // The first block of each packet, by its kind; a packet of motion fills two streams.
        var first: [Int: [SampleBlock]] = [:]
        var last: UInt64?
        for block in blocks {
            if block.deviceTicks != last { first[block.stream, default: []].append(block) }
            last = block.deviceTicks
        }
        for (stream, limit) in [
            (MuseAthenaProfile.accelerometer, 15.0), (MuseAthenaProfile.optics, 15), (MuseAthenaProfile.eeg, 40),
        ] {
            let line = Self.line(Self.longestRun(first[stream] ?? []))
            #expect(line.deviation < limit, "\(stream): \(line.deviation) ms")
        }
    }
}
